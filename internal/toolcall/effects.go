package toolcall

import (
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Effects follow from an answer once it is handed to the writer: Session.Apply applies them
// then. An answer that is never sent has none.
type Effects struct {
	// Shown lists what the answer shows and says of files.
	Shown []Shown
	// File is the file of the call as it was found. Its path is "" if the rules did not let
	// it through, and of a search.
	File reminders.FoundFile
	// Moved are files under the names that the call has given them.
	Moved []reminders.FoundFile
	// Names are the names that the call has changed, one line each in the log; nil for other
	// calls.
	Names []NameChange
	// Said are remarks that are made once, see Session.WasSaid.
	Said []Remark
	// Parse is a notebook to be parsed before the next call.
	Parse Parsed
	// Report holds the outside changes that the answer reports; nil: none.
	Report *reminders.Report
	// Question is for the user: a yes would let the call through; nil: none.
	Question *Question
	// Log is the call if it is logged when its answer is sent; nil if it was logged already.
	Log *LogEntry
	// Search counts what a search has found, for the log; nil for other calls.
	Search *Search
}

// Search counts what a search has found.
type Search struct {
	Path    string `json:"-"`       // the resolved name of the folder or file that was searched
	Pattern int    `json:"pattern"` // its length in bytes
	Files   int    `json:"files"`
	Matches int    `json:"matches"`
}

// NameChange is one name that a call has moved, copied or deleted, for the log.
type NameChange struct {
	Operation string // move, copy or delete
	Path, To  string // resolved; To is "" for a delete
	Size      int64
	Err       error // why it was not done; nil if it was
}

// Shown describes the part of an answer that is about one file.
type Shown struct {
	Path string // resolved
	How  How
	// Record tells what was shown.
	Record state.Record
	// View is the part of the file that a Read asked for; zero for other answers. Sum is
	// of the bytes shown; zero if the record's text proves them.
	View state.PageRequest
	Sum  state.Sum
	// Now returns the hash of a file that Differs.
	Now func() state.Sum
}

// How says how what an answer shows enters the record of the file.
type How uint8

// The ways.
const (
	// InAll: Record is the record from now on; it holds what earlier answers have shown, too.
	InAll How = iota
	// Added: Record holds only the parts that this answer shows, beside the bytes that the
	// call has written. They are added to the record that is there, if they fit it.
	Added
	// Found: Record is of a search, and holds only what this answer shows. It is added to a
	// record that it fits, and a newer one stays as it is.
	Found
	// Again: the answer is that nothing changed since View was served before.
	Again
	// Differs: the answer says that the file is not as in Record, and shows none of its lines.
	Differs
	// Gone: the answer says that no file is there. The record stays: a change says it, too.
	Gone
	// Recalled: the answer shows a file that the conversation has deleted unseen.
	Recalled
	// Forgotten: the answer to a change says that the file is gone. It says so once: a
	// repeated call may create the file.
	Forgotten
)

// Changed notes that a call has changed a file on the disk: rec is its record from now on,
// nil if nothing is known of it any more. Package commit calls it, in the turn of the file,
// whatever becomes of the answer.
func (s *Session) Changed(path string, rec *state.Record) {
	if rec == nil {
		s.Files.Forget(path)
		return
	}
	s.Files.Put(path, *rec)
}

// Apply applies the effects of an answer that is handed to the writer. passes says that the
// client passes all of its text on to its model: only then does what it shows count as shown.
// Nothing but Changed and Apply writes the memory of what a conversation was shown.
func (s *Session) Apply(e Effects, passes bool) {
	for _, shown := range e.Shown {
		s.show(shown, passes)
	}
	if len(e.Said) > 0 {
		s.noteSaid(e.Said)
	}
	if e.Parse.Content != nil {
		s.parseAhead(e.Parse)
	}
	if e.File.Path != "" {
		s.Reminders.Follow(e.File)
	}
	for _, f := range e.Moved {
		s.Reminders.Follow(f)
	}
	if e.Report != nil {
		s.Reminders.Sent(e.Report)
	}
}

// show records what an answer shows or says of one file.
func (s *Session) show(n Shown, passes bool) {
	switch {
	case n.How == Differs:
		s.Reminders.ReportedChange(n.Path, n.Record, n.Now)
	case n.How == Gone:
		s.Reminders.ReportedGone(n.Path)
	case n.How == Forgotten:
		s.Files.Forget(n.Path)
	case n.How == Recalled:
		if passes {
			s.forgetDeleted(n.Path)
		}
	case n.How == Again:
		s.Files.Stubbed(n.Path, n.View)
	case !passes:
	case n.How == Added:
		s.addWritten(n.Path, n.Record)
	case n.How == Found:
		s.addFound(n.Path, n.Record)
	default:
		s.Files.Put(n.Path, n.Record)
		if n.View != (state.PageRequest{}) {
			s.Files.Served(n.Path, n.View, n.Sum)
		}
	}
}

// addWritten records what the answer to a change shows beside the bytes that it has written.
func (s *Session) addWritten(path string, now state.Record) {
	if rec, known := s.Files.Get(path); known && rec.Fits(now.Parts) {
		s.Files.Put(path, rec.With(now.Parts))
	}
}

// addFound records what the answer to a search shows of a file. If the file may have changed since
// it was recorded, each part proves its own bytes from then on: a text of before would say
// that all of it has changed. A notebook stays as it was recorded as a whole.
func (s *Session) addFound(path string, now state.Record) {
	rec, known := s.Files.Get(path)
	fits, same, newer := rec.Fits(now.Parts), rec.Stamp.Same(now.Stamp), rec.Stamp.Ctime > now.Stamp.Ctime
	switch {
	case !known:
		rec = now
	case !fits && newer:
		return // the file was changed, and shown, after the search looked at it
	case !fits, rec.Enc != now.Enc && !same && !newer:
		rec = now
	case rec.Text != nil && (same || newer || rec.All != state.Sum{}):
		rec = rec.With(now.Parts)
	default:
		rec = rec.At(now.Stamp, now.Settled).With(now.Parts)
	}
	s.Files.Put(path, rec)
}
