package refusal

// Busy is a reason why the server accepts no call now.
type Busy string

// The reasons.
const (
	TooManyCalls  Busy = "Too many calls are waiting already"
	TooManyStuck  Busy = "Too many calls hang in the file system"
	TooMuchOutput Busy = "Too much output waits for the rest of an array of messages"
	Stopping      Busy = "The server is stopping"
)

// NotAccepted refuses a call that the server does not accept now.
func NotAccepted(why Busy) *Refusal {
	return refuse(SlugBusy, "%s. Nothing was done; try again later.", why)
}

// NotBegun refuses a call that was accepted and will not start any more.
var NotBegun = refuse(SlugBusy, "%s. Nothing was done.", Stopping)

// Cancelled refuses a call that its client cancelled before it began.
var Cancelled = refuse(SlugBusy, "The call was cancelled before it began. Nothing was done.")

// Late refuses a call that was given up at its deadline: one that had not begun, or one
// of a tool that changes files or does not.
func Late(begun, changes bool) *Refusal {
	switch {
	case !begun:
		return refuse(SlugBusy, "The call waited too long behind others and was given up. Nothing was done; try again later.")
	case !changes:
		return refuse(SlugBusy, "The file system did not answer in time, and the call was given up. Nothing was changed; try again later.")
	}
	return refuse(SlugBusy, "The file system did not answer in time. The change may still complete: read the file again before repeating it.")
}

// Bug refuses a call that failed inside fsmcp. Its code is that of an I/O error without
// a number of its own.
func Bug(tool string, changes bool) *Refusal {
	const code = 21
	if !changes {
		return refuseAs(code, SlugIO, "%s failed inside fsmcp; this is a bug of fsmcp. Nothing was changed.", tool)
	}
	return refuseAs(code, SlugIO, "%s failed inside fsmcp; this is a bug of fsmcp. Read the file again to see whether it was changed.", tool)
}

// LongAnswer refuses a call whose answer is larger than one may be. Its code is Read's:
// no other tool has long answers.
func LongAnswer(size, most int) *Refusal {
	const code = 6
	return refuseAs(code, SlugTooLarge, "The answer would have %d bytes, more than the %d that one answer may have. Ask for a smaller part.", size, most)
}

// NoRoomInArray refuses a call whose answer has no room in its array of messages.
func NoRoomInArray(changes bool) *Refusal {
	const full = "The answers of the array exceed the 64 MB that may be unsent."
	if !changes {
		return refuse(SlugBusy, "%s Nothing was returned of this call; make it again outside the array.", full)
	}
	return refuse(SlugBusy, "%s This call was run, but its answer is left out: read the file again before repeating it.", full)
}
