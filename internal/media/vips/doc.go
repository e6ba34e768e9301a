// Package vips is the engine on libvips, by way of bimg: it decodes and resizes
// WebP and PNGs that are hard to unpack, and leaves all else (other kinds, JPEG
// among them, regions, what shines through, orientation, colours, writing) to the
// engine without C. It is built with the tag "vips" and cgo alone, and linked into
// fsmcp-vips alone, never into the server.
//
// libvips goes on where a file is damaged and tells of it on standard error;
// what it says there of a PNG makes an error here.
package vips
