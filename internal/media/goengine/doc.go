// Package goengine is the engine without C: it decodes PNG, JPEG, GIF (first
// frame), WebP (first frame), BMP, ICO (largest icon) and TIFF (first page), and
// writes PNG and JPEG, and WebP where it is given a writer. It works out at most
// what the view needs, resizes with Lanczos of three lobes, lays pictures
// upright by EXIF and converts matrix ICC profiles to sRGB.
//
// It does not convert by ICC profiles made of tables (those of printers, and
// all of CMYK, which is converted without a profile), nor by gAMA and cHRM of
// PNG. It holds no bounds: who opens a picture has looked at its header.
package goengine
