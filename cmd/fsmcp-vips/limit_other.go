//go:build vips && cgo && !linux

package main

// limitAddresses does nothing where memory is bounded in other ways.
func limitAddresses() {}
