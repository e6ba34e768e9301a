package toolcall

import (
	"errors"

	"github.com/fsmcp/fsmcp/internal/state"
)

// Shown lists the bytes of one file that one answer shows. They count as shown from the
// moment when the answer is sent.
type Shown struct {
	Path string // resolved
	// Record tells what was shown: by this answer, and by earlier ones.
	Record state.Record
	// Added says that Record holds only the parts that this answer shows: they are added to
	// the record that is there, if they fit it.
	Added bool
	// Found says that Record is of a search, and holds only what this answer shows: it is
	// added to a record that it fits, and a newer one stays as it is.
	Found bool
	// View is the part of the file that a Read asked for; zero for other answers. Sum is
	// of the bytes shown; zero if the record's text proves them.
	View state.View
	Sum  state.Sum
	// State is set if the answer says that the file has changed or is gone, and shows none
	// of its lines. Record is not used then.
	State *fileState
}

// fileState says that a file is not as in the conversation's record any more.
type fileState struct {
	record state.Record
	sum    func() state.Sum // of the file as it is
	gone   bool             // the others are not used then
}

// showingError is a refusal with what its answer shows.
type showingError struct {
	error
	shown Shown
}

func (e *showingError) Unwrap() error { return e.error }

// Showing adds to a refusal what its answer shows of a file.
func Showing(err error, path string, rec state.Record) error {
	return &showingError{err, Shown{Path: path, Record: rec}}
}

// ShowingChange adds to a refusal that its answer says that the file has changed, without
// lines. rec is its record, and sum the hash of the file as it is.
func ShowingChange(err error, path string, rec state.Record, sum func() state.Sum) error {
	return &showingError{err, Shown{Path: path, State: &fileState{record: rec, sum: sum}}}
}

// ShowingGone adds to a refusal that its answer says that no file is at path.
func ShowingGone(err error, path string) error {
	return &showingError{err, Shown{Path: path, State: &fileState{gone: true}}}
}

// ShownIn returns what the answer to a failed call shows, and the error without that.
func ShownIn(err error) ([]Shown, error) {
	if e := (*showingError)(nil); errors.As(err, &e) {
		return []Shown{e.shown}, e.error
	}
	return nil, err
}
