// Package raster decodes pictures, scales them and encodes them anew, without C.
//
// It reads PNG, JPEG, GIF and WebP (the first frame), BMP, ICO (the largest icon)
// and TIFF (the first page), and writes PNG and JPEG. The standard library and
// golang.org/x/image decode; github.com/kovidgoyal/imaging turns by EXIF orientation,
// converts ICC profiles to sRGB, and scales what is not opaque. Its fallback to an
// external program is never called: only its functions on decoded pixels are used.
//
// Own code does the rest. scaledjpeg halves the time of a photograph (its
// package comment has the figures). scale.go scales what is opaque, also with Lanczos,
// in a third of imaging's time: a 12-megapixel PNG of a screen takes 0.42 s in all in
// place of 0.75 s, and imaging needed as many lines around it for gray and YCbCr. No library reads ICO with its masks, so ico.go
// finds the icon and has golang.org/x/image/bmp read its pixels. Profiles are found
// here because imaging finds none in TIFF and unpacks those of PNG without a bound:
// 4 MB become 4 GB. BMPs of 16 bits, in runs, or with OS/2 headers are refused.
//
// It does not convert by gAMA, cHRM or cICP of PNG, and writes no WebP. It holds
// no bounds: its caller has looked at the header.
package raster
