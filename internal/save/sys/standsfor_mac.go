//go:build fsys_mac

package sys

// standsFor is the system whose calls New makes on Linux with the tag fsys_portable.
const standsFor = "darwin"
