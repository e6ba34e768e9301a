package reminders

import (
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/state"
)

// mostTexts bounds the files whose text is kept as it was last reported: for the next diff.
const mostTexts = 100

// followed holds the files that a conversation was shown in full.
type followed struct {
	files map[string]*follower
	// toLook holds all that are due or blind, so that no answer goes through all files (with
	// 500 of them that took 11 microseconds, and takes 1).
	toLook map[string]*follower
	// recent are the files whose text is kept as it was reported.
	recent []string
}

// follower is one of the files.
type follower struct {
	due      bool // it may have changed
	blind    bool // it cannot be watched, and is looked at before each answer
	underWay bool // it is being looked at, or an answer reports it that was not sent yet

	// picture is the stamp of a file that was shown as pictures, so that its bytes are
	// not known; nil otherwise.
	picture *fsys.Stamp
	// reported is the last state that was reported; nil if none was.
	reported *reportedState
	// proof is a settled stamp under which the file was found to be as was reported, or
	// as the record has it.
	proof fsys.Stamp
	// hashed is a settled stamp under which a file too large to be kept had this sum:
	// an answer that could not wait for it need not begin again.
	hashed fsys.Stamp
	sum    state.Sum
	// same says that it was as the record with this ID has it.
	same       bool
	comparedTo state.Sum
}

// reportedState is a state of a file as an answer reports it.
type reportedState struct {
	base state.Sum // the ID of the record at that time: a record that moved has reported more
	sum  state.Sum
	gone bool
	text []byte // nil where its lines were not reported
	// whole says that all lines that changed since base were reported.
	whole bool
}

// Extent says how much a call has shown of a file whose bytes do not tell.
type Extent int

// The extents.
const (
	UnknownExtent Extent = iota
	InPart               // of a notebook: some of its cells
	InFull               // all cells of a notebook
	AsPictures           // all of a picture, or all pages
)

// FoundFile is a file that a call was about, as the call found it.
type FoundFile struct {
	Path   string // resolved
	Stamp  fsys.Stamp
	Extent Extent
}

// Follow follows the file of a call from now on if it has been shown in full.
func (c *Conversation) Follow(f FoundFile) {
	if c.service.Watcher == nil || !c.noteExtent(f) {
		return
	}
	fresh, err := c.service.Watcher.Follow(f.Path)
	c.watched(f.Path, fresh, err)
}

// noteExtent notes whether a file has been shown in full, and reports it.
func (c *Conversation) noteExtent(f FoundFile) bool {
	rec, known := c.records.Get(f.Path)
	c.mu.Lock()
	defer c.mu.Unlock()
	path, files := f.Path, c.followed.files
	old := files[path]
	full := f.Extent == InFull || f.Extent == AsPictures || known && rec.InFull()
	if f.Extent == UnknownExtent && old != nil && (isNotebook(path) && known || old.picture != nil && !known) {
		full = true // a call that shows a part of it, or nothing, takes nothing away
	}
	if !full {
		delete(files, path)
		return false
	}
	if old == nil {
		old = &follower{due: true} // between the look at it and now it may have been touched
		files[path], c.followed.toLook[path] = old, old
	}
	if known && rec.InFull() && rec.Stamp.Same(f.Stamp) { // a reminder was about an earlier state
		old.reported, old.proof = nil, fsys.Stamp{}
	}
	switch {
	case f.Extent == AsPictures:
		stamp := f.Stamp
		old.picture = &stamp
	case known && f.Extent != UnknownExtent || known && rec.InFull():
		old.picture = nil
	}
	return true
}

// watched notes the result of TouchWatcher.Follow.
func (c *Conversation) watched(path string, fresh bool, err error) {
	c.update(path, func(f *follower) { f.blind, f.due = err != nil, f.due || fresh })
}

// ReportedChange notes that an answer which is about to be sent says that a file is not as in
// its record any more, without its lines. sum returns the sum of the file.
func (c *Conversation) ReportedChange(path string, rec state.Record, sum func() state.Sum) {
	if _, follows := c.follower(path); follows {
		c.reported([]reminder{{path: path, now: reportedState{base: rec.ID(), sum: sum()}}})
	}
}

// ReportedGone notes that an answer which is about to be sent says that no file is at path
// any more.
func (c *Conversation) ReportedGone(path string) {
	rec, _ := c.records.Get(path)
	c.reported([]reminder{{path: path, now: reportedState{base: rec.ID(), gone: true}}})
}

// HasReported reports whether a reminder has shown all lines that changed between the
// record of a file and the file as it is now, which has this sum.
func (c *Conversation) HasReported(path string, rec state.Record, sum func() state.Sum) bool {
	f, follows := c.follower(path)
	return follows && f.reported != nil && f.reported.whole && f.reported.base == rec.ID() && f.reported.sum == sum()
}

// HasReportedAny reports whether an answer has said that a file is not as in its record any more,
// be it without the lines that changed.
func (c *Conversation) HasReportedAny(path string, rec state.Record) bool {
	f, follows := c.follower(path)
	return follows && f.reported != nil && f.reported.base == rec.ID()
}

// lookedAt ends a look that reported nothing.
func (c *Conversation) lookedAt(path string, again bool) {
	c.update(path, func(f *follower) { f.underWay, f.due = false, f.due || again })
}

// notReported has a later answer report what this one did not.
func (c *Conversation) notReported(all []reminder) {
	for _, m := range all {
		c.lookedAt(m.path, true)
	}
}

// reported notes what was reported.
func (c *Conversation) reported(all []reminder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range all {
		if f := c.followed.files[m.path]; f != nil {
			f.underWay, f.reported, f.proof = false, &m.now, m.proof
			if f.picture != nil {
				f.picture = &m.stamp
			}
			c.followed.boundTexts(m.path)
		}
	}
}

// boundTexts bounds the texts that are kept, when a file was reported.
func (f *followed) boundTexts(path string) {
	f.recent = slices.DeleteFunc(f.recent, func(p string) bool { return p == path })
	if f.files[path].reported.text == nil {
		return
	}
	f.recent = append(f.recent, path)
	for len(f.recent) > mostTexts {
		if old := f.files[f.recent[0]]; old != nil && old.reported != nil {
			cut := *old.reported
			cut.text = nil // that it was reported stays known
			old.reported = &cut
		}
		f.recent = f.recent[1:]
	}
}

// follower returns a copy of what is known of a file.
func (c *Conversation) follower(path string) (f follower, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.followed.files[path]; p != nil {
		return *p, true
	}
	return f, false
}

// update changes what is known of a file, if it is followed.
func (c *Conversation) update(path string, change func(f *follower)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.followed.files[path]; f != nil {
		if change(f); f.due || f.blind {
			c.followed.toLook[path] = f
		}
	}
}

// isNotebook reports a notebook by its name: it is shown as its cells and not its lines.
func isNotebook(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".ipynb") }
