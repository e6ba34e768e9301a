package media

// Breakdown says why something got no answer though nothing was found wrong
// with it.
type Breakdown uint8

// The ways in which a decoder gets lost.
const (
	Died    Breakdown = iota // it crashed, or was killed from outside
	Late                     // it took longer than it may
	Greedy                   // it took more memory than it may
	Stopped                  // it was stopped by a signal
	Absent                   // it cannot be started
	Unready                  // it is being made ready still
	Unread                   // what it is to decode did not come from the disk
)

// BreakdownError is a decoder's breakdown; the file may be sound.
type BreakdownError struct {
	Why Breakdown
	Err error
}

func (e *BreakdownError) Error() string { return e.Err.Error() }
func (e *BreakdownError) Unwrap() error { return e.Err }
