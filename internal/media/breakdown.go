package media

// Breakdown says why a decoder gave no answer.
type Breakdown uint8

// The reasons.
const (
	Died      Breakdown = iota // it crashed, or was killed from outside
	Late                       // it took longer than it may
	Greedy                     // it took more memory than it may
	Stopped                    // it was stopped by a signal
	Absent                     // it cannot be started
	Unready                    // it is not ready yet
	Unread                     // the disk did not deliver the file in time
	Forbidden                  // it made a system call that no decoder needs
)

// BreakdownError is a decoder's breakdown; the file may be sound.
type BreakdownError struct {
	Why Breakdown
	Err error
}

func (e *BreakdownError) Error() string { return e.Err.Error() }
func (e *BreakdownError) Unwrap() error { return e.Err }
