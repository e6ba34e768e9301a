// Package savemodel is the protocol of saving as a model small enough to be checked
// exhaustively: two servers that edit one file, a program that knows nothing of fsmcp, and
// crashes. Read Steps from top to bottom: each step names the function that makes it.
//
// What it shows: in every order of these steps, with a crash at any of them, no acknowledged
// edit is lost, no byte is replaced that the server had not compared, and the next start
// finds every file that is left over. What it does not show: that the functions do what the
// steps say (a test replays system calls of the program against the order of steps, and
// others attack the program), file systems without leases or exchange, and a loss of power.
//
// Two things are left out that the program does not rule out; docs/rough-edges.md names them.
// Another program may find the file by its name and open it only after the change
// (Rules.LateOpen). Another server may change a file that a crash left half written, before
// the next start has finished it (Rules.BeforeStart). With either the check finds what is lost.
package savemodel

// Bits of a file's content: whose text is in it. The text of an edit is in two halves, so
// that a write in place can be torn.
const (
	foreignText  uint8 = 1 << 4 // appended by the other program
	foreignFile  uint8 = 1 << 5 // in a file that the other program renamed into place
	halfWritten  uint8 = 1 << 6
	calls              = 2
	none         int8  = -1
	files              = 6
	foreignOwner int8  = calls
)

// edit is the text of a call.
func edit(call int) uint8 { return 1 << call }

// File is one file on the disk.
type File struct {
	Used    bool
	Content uint8
}

// Call is one Edit by a server of its own.
type Call struct {
	At       int8  // the next step; Done or Crashed
	Old, New int8  // the file that was opened, and the one that was made
	Temp     int8  // the file that has the temporary name
	Compared uint8 // the content that the change was worked out from, in the history
	Journal  bool  // with Compared and the new content
	Broken   bool  // another program opens Old for writing: the kernel told of it
	Leased   bool
	Acked    bool
	Swept    bool
}

// States of a call beside the numbers of steps.
const (
	Done    int8 = 100
	Crashed int8 = 101
)

// State is all that matters of the machine.
type State struct {
	Files   [files]File
	Name    int8 // the file that has the name
	Lock    int8 // the call that has the lock file
	Calls   [calls]Call
	Opened  int8 // the file that the other program has open for writing
	Waits   int8 // the file that it waits to open, since a lease keeps it out
	Found   int8 // the file that it has found by name and not yet opened (Rules.LateOpen)
	Wrote   bool
	Renamed bool
	Orphan  int8  // the file that the other program has replaced
	Excused uint8 // text that the other program itself has replaced
	Kept    uint8 // the files that were kept beside it, one bit for each
	Saved   uint8 // text that was kept in the history
	Lost    uint8 // text that fsmcp removed and had not compared
	Crashes int8
}

// Rules are the parts of the protocol. The zero value has none of them.
type Rules struct {
	Lock, Lease, SecondLook, Journal bool
	InPlace                          bool // the second call writes in place
	LateOpen                         bool
	BeforeStart                      bool
}

// Fsmcp are the rules that fsmcp keeps.
var Fsmcp = Rules{Lock: true, Lease: true, SecondLook: true, Journal: true}

// Step is one step of a call. Do returns the state after it, and false if it has to wait.
type Step struct {
	Name  string
	Where string // the file and the function that make it
	Calls string // the system call by which a trace shows it; "" for none
	Do    func(m *Machine, s *State, c int) bool
}

// Machine checks one set of rules.
type Machine struct {
	Rules
	seen  map[State]bool
	Found []Violation
	path  []string
}

// Violation is a promise that does not hold, with the steps that lead there.
type Violation struct {
	What string
	Path []string
}

// Numbers of steps that others go to.
const (
	atLock = iota
	atBegin
	atLease
	atPlan
	atStage
	atLink
	atCheckName
	atExchange
	atCheckDisplaced
	atSync
	atRemove
	atSwapBack
	atDiscard
	atJournal
	atLeaseAlone
	atFirstHalf
	atSecondHalf
	atDropJournal
)

// Steps are those of an Edit of a file that exists: by exchange, or from atJournal on in
// place.
var Steps = []Step{
	atLock: {"lock the name among processes", "internal/save/stripes.go lock", "flock", func(m *Machine, s *State, c int) bool {
		if m.Lock && s.Lock != none {
			return false
		}
		s.Lock = int8(c)
		return s.to(c, atBegin)
	}},
	atBegin: {"open the file that has the name", "internal/save/txn.go Begin", "", func(m *Machine, s *State, c int) bool {
		if s.torn() && !m.BeforeStart {
			return false
		}
		s.Calls[c].Old = s.Name
		return s.to(c, atLease)
	}},
	atLease: {"take the lease; a program that has the file open for writing makes the call busy", "internal/save/old.go lease", "F_SETLEASE", func(m *Machine, s *State, c int) bool {
		if m.Lease {
			if s.Opened == s.Calls[c].Old || s.Waits == s.Calls[c].Old {
				return s.end(c)
			}
			s.Calls[c].Leased = true
		}
		return s.to(c, atPlan)
	}},
	atPlan: {"plan from the bytes that are there, which the history keeps", "internal/commit/commit.go locked", "", func(m *Machine, s *State, c int) bool {
		s.Calls[c].Compared = s.Files[s.Calls[c].Old].Content
		if m.InPlace && c == 1 {
			return s.to(c, atJournal)
		}
		return s.to(c, atStage)
	}},
	atStage: {"write the new file, which has no name", "internal/save/exchange.go stage", "O_TMPFILE", func(m *Machine, s *State, c int) bool {
		s.Calls[c].New = s.file(s.Calls[c].Compared | edit(c))
		return s.to(c, atLink)
	}},
	atLink: {"give it a temporary name", "internal/save/newfile.go linkTemporary", "linkat", func(m *Machine, s *State, c int) bool {
		s.Calls[c].Temp = s.Calls[c].New
		return s.to(c, atCheckName)
	}},
	atCheckName: {"look whether the name still leads to the file that was compared", "internal/save/old.go checkName", "F_GETLEASE", func(m *Machine, s *State, c int) bool {
		if s.Name != s.Calls[c].Old || !m.unchanged(s, c) {
			return s.to(c, atDiscard)
		}
		return s.to(c, atExchange)
	}},
	atExchange: {"exchange the two names in one step", "internal/save/exchange.go swap", "RENAME_EXCHANGE", func(m *Machine, s *State, c int) bool {
		s.Name, s.Calls[c].Temp = s.Calls[c].Temp, s.Name
		return s.to(c, atCheckDisplaced)
	}},
	atCheckDisplaced: {"look at what came out", "internal/save/old.go checkDisplaced", "F_GETLEASE", func(m *Machine, s *State, c int) bool {
		if m.SecondLook && (s.Calls[c].Temp != s.Calls[c].Old || !m.unchanged(s, c)) {
			return s.to(c, atSwapBack)
		}
		return s.to(c, atSync)
	}},
	atSync: {"sync the folder, and ask about the lease once more", "internal/save/exchange.go verify", "F_GETLEASE", func(m *Machine, s *State, c int) bool {
		if m.SecondLook && !m.unchanged(s, c) {
			return s.to(c, atSwapBack)
		}
		return s.to(c, atRemove)
	}},
	atRemove: {"remove the displaced file, and answer", "internal/save/place.go removeDisplaced", "unlinkat", func(m *Machine, s *State, c int) bool {
		s.remove(s.Calls[c].Temp, s.Calls[c].Compared)
		s.Calls[c].Temp, s.Calls[c].Acked = none, true
		return s.end(c)
	}},
	atSwapBack: {"withdraw: exchange back, until what comes out is our own file", "internal/save/exchange.go swapBack", "RENAME_EXCHANGE", func(m *Machine, s *State, c int) bool {
		s.Name, s.Calls[c].Temp = s.Calls[c].Temp, s.Name
		if s.Calls[c].Temp != s.Calls[c].New {
			return true // a still newer file must not be covered: once more
		}
		return s.to(c, atDiscard)
	}},
	atDiscard: {"remove our own file, or keep it if another program has written to it or may", "internal/save/newfile.go discard", "unlinkat", func(m *Machine, s *State, c int) bool {
		s.keepOrRemove(c)
		return s.end(c)
	}},
	atJournal: {"write the old and the new bytes to a journal", "internal/save/journal.go startJournal", "", func(m *Machine, s *State, c int) bool {
		s.Calls[c].Journal = m.Journal
		return s.to(c, atLeaseAlone)
	}},
	atLeaseAlone: {"look whether the file is still the one that was compared; from here on a write lease keeps every other program out", "internal/save/inplace.go leaseAlone", "F_SETLEASE", func(m *Machine, s *State, c int) bool {
		if s.Name != s.Calls[c].Old || !m.unchanged(s, c) || m.Lease && s.Waits == s.Calls[c].Old {
			s.Calls[c].Journal = false
			return s.end(c)
		}
		return s.to(c, atFirstHalf)
	}},
	atFirstHalf: {"write the first half", "internal/save/journal.go writeNew", "", func(m *Machine, s *State, c int) bool {
		s.Files[s.Calls[c].Old].Content |= halfWritten
		return s.to(c, atSecondHalf)
	}},
	atSecondHalf: {"write the second half", "internal/save/journal.go writeNew", "", func(m *Machine, s *State, c int) bool {
		f := &s.Files[s.Calls[c].Old]
		f.Content = f.Content&^halfWritten | edit(c)
		return s.to(c, atDropJournal)
	}},
	atDropJournal: {"remove the journal, and answer", "internal/save/journal.go remove", "", func(m *Machine, s *State, c int) bool {
		s.Calls[c].Journal, s.Calls[c].Acked = false, true
		return s.end(c)
	}},
}

// unchanged asks about the lease, and compares the old file with what was compared. Without a
// lease only the bytes tell.
func (m *Machine) unchanged(s *State, c int) bool {
	call := &s.Calls[c]
	return !call.Broken && s.Files[call.Old].Content == call.Compared
}

// torn reports whether the file that has the name is half written, and its writer is dead.
func (s *State) torn() bool {
	return s.Files[s.Name].Content&halfWritten != 0 && s.Crashes > 0
}

func (s *State) to(c, step int) bool { s.Calls[c].At = int8(step); return true }

// end gives back lease and lock.
func (s *State) end(c int) bool {
	s.Calls[c].At = Done
	s.release(c)
	return true
}

func (s *State) release(c int) {
	s.Calls[c].Leased = false
	if s.Lock == int8(c) {
		s.Lock = none
	}
}

// file makes a file and returns its number.
func (s *State) file(content uint8) int8 {
	for i := range s.Files {
		if !s.Files[i].Used {
			s.Files[i] = File{true, content}
			return int8(i)
		}
	}
	panic("savemodel: too few files")
}

// remove takes a file away whose content the history has. Other text in it is lost.
func (s *State) remove(file int8, known uint8) { s.Lost |= s.Files[file].Content &^ known }

// keepOrRemove removes the file with the temporary name if it is as the call knows it. It
// keeps it beside the file otherwise, and if another program has it open for writing and is
// about to write (internal/save/newfile.go untouched, internal/save/sweep.go worthless).
func (s *State) keepOrRemove(c int) {
	call := &s.Calls[c]
	content := s.Files[call.Temp].Content
	ours := call.Temp == call.New && content == call.Compared|edit(c)
	known := ours || call.Temp == call.Old && content == call.Compared
	if !known || s.Opened == call.Temp || s.Waits == call.Temp {
		s.Kept |= 1 << call.Temp
	}
	call.Temp = none
}

// sweep is the next start after a crash (internal/save/sweep.go temp, internal/save/replay.go
// finishJournal).
func (s *State) sweep(c int) {
	call := &s.Calls[c]
	call.Swept = true
	if call.Temp != none {
		s.keepOrRemove(c)
	}
	if !call.Journal {
		return
	}
	call.Journal = false
	if f := &s.Files[call.Old]; s.Name == call.Old && f.Content&halfWritten != 0 {
		if (f.Content^call.Compared)&^(halfWritten|foreignText) == 0 { // a mix of old and new, and what was appended
			f.Content = f.Content&^halfWritten | edit(c)
		} else {
			s.Saved |= f.Content | call.Compared
		}
	}
}
