// Package goengine is the engine without C: it decodes PNG, JPEG, GIF (first
// frame), WebP (first frame), BMP, ICO (largest icon) and TIFF (first page), and
// writes PNG and JPEG, and WebP where it is given a writer. It works out at most
// what the view needs, resizes with Lanczos of three lobes, lays pictures
// upright by EXIF and converts by ICC profiles to sRGB, those of matrices and those
// of tables, such as printers have and all of CMYK. CMYK without a profile is
// taken for even inks.
//
// It does not convert by gAMA and cHRM of PNG. It holds no bounds: who opens a
// picture has looked at its header.
package goengine
