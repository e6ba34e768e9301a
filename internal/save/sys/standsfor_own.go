//go:build !fsys_mac && (!linux || fsys_portable)

package sys

const standsFor = ""
