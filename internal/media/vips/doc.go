// Package vips is the engine on libvips, by way of bimg: it decodes and resizes
// WebP, and leaves all else (other kinds, regions, what shines through, orientation,
// colours, writing) to the engine without C. It is built with the tag "vips" and
// cgo alone, and linked into fsmcp-vips alone, never into the server.
package vips
