// Package vips is the engine with libvips. JPEG in gray or RGB, PNG and WebP are decoded by
// libvips, and every picture is encoded by it, and if it is opaque scaled down; raster does the rest, from the
// order of the steps to orientation and colour profiles. GIF, TIFF, BMP and ICO are decoded by
// raster: libvips reads the latter two by untrusted loaders alone, and shows GIF and TIFF
// that are cut short. What raster refuses as rare, libvips converts to a PNG by way of
// bimg: HEIC, AVIF, TIFF in CMYK or packed as JPEG (or JPEG 2000, if the installed libvips
// has it), and JPEG with arithmetic coding.
//
// pixels.c calls libvips itself. bimg v1.1.9 shows half a JPEG or PNG without an error, as it
// does not set libvips' fail_on; it decodes the file anew for each size and quality, and ends
// no encoding that has become too long. A 24-megapixel JPEG takes it 109 ms each time. Here
// decoding and scaling go on at once, in 65 ms on two processors, and further sizes and
// qualities take 7 to 40 ms.
//
// bimg has no loader for JPEG 2000 as a file of its own, and libvips none for JPEG of
// 12 bits. The package is built with the tag "vips" and cgo alone, and linked into
// fsmcp-vips alone, never into the server. Regions are enlarged, and pictures brought down to
// a palette, by raster: libvips enlarges without Lanczos, and has palettes of 16 or 256
// colours.
package vips
