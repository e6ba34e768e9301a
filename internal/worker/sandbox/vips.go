//go:build linux && vips && cgo

package sandbox

// #cgo LDFLAGS: -ldl
import "C"
