// Package vips is the engine with libvips, by way of bimg. It leaves to raster what
// raster reads. What raster refuses as rare, libvips converts to a PNG, which raster
// reads: HEIC, AVIF, TIFF in CMYK or packed as JPEG (or JPEG 2000, where the installed
// libvips has it), and JPEG with arithmetic coding.
//
// bimg has no loader for JPEG 2000 as a file of its own, and libvips none for JPEG of
// 12 bits. The package is built with the tag "vips" and cgo alone, and linked into
// fsmcp-vips alone, never into the server.
package vips
