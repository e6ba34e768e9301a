//go:build !windows && (!linux || fsys_portable)

package sys

// New returns the system calls of a Saver: those of a test, or if o is nil a Portable.
func New(o Sys) Sys {
	if o == nil {
		return &Portable{OpenParent: openParent, Mac: Mac{As: standsFor}}
	}
	return o
}
