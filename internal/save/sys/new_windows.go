package sys

// New returns the system calls of a Saver: those of a test, or if o is nil Windows.
func New(o Sys) Sys {
	if o == nil {
		return &Windows{}
	}
	return o
}
