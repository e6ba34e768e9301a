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
	// due are those that may have changed. blind are those that cannot be watched: they
	// are looked at before each answer. underWay are those that are being looked at, or
	// that an answer reports which was not sent yet.
	due, blind, underWay map[string]bool
	// recent are the files whose text is kept as it was reported.
	recent []string
}

// follower is one of the files.
type follower struct {
	// picture is the stamp of a file that was shown as pictures, so that its bytes are
	// not known; nil otherwise.
	picture *fsys.Stamp
	// reported is the last state that was reported; nil where none was.
	reported *State
	// proof is a settled stamp under which the file was found to be as was reported, or
	// as the record has it.
	proof fsys.Stamp
	// hashed is a settled stamp under which a file too large to be kept had this sum:
	// an answer that could not wait for it need not begin again.
	hashed fsys.Stamp
	sum    state.Sum
}

// State is a state of a file as an answer reports it.
type State struct {
	base state.Sum // of the record at that time: a record that moved has reported more
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

// Shown is a file that a call was about, as the call found it.
type Shown struct {
	Path   string // resolved
	Stamp  fsys.Stamp
	Extent Extent
}

// Shown follows the file of a call from now on if it has been shown in full.
func (c *Conversation) Shown(s Shown) {
	if c.service.Watcher == nil || !c.follow(s) {
		return
	}
	fresh, err := c.service.Watcher.Follow(s.Path)
	c.watched(s.Path, fresh, err)
}

// follow notes whether a file has been shown in full, and reports it.
func (c *Conversation) follow(s Shown) bool {
	rec, known := c.records.Get(s.Path)
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &c.followed
	path := s.Path
	old := f.files[path]
	full := s.Extent == InFull || s.Extent == AsPictures || known && rec.InFull()
	if s.Extent == UnknownExtent && old != nil && (isNotebook(path) && known || old.picture != nil && !known) {
		full = true // a call that shows a part of it, or nothing, takes nothing away
	}
	if !full {
		delete(f.files, path)
		delete(f.due, path)
		delete(f.blind, path)
		return false
	}
	if f.files == nil {
		f.files, f.due, f.blind, f.underWay = map[string]*follower{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	if old == nil {
		old = &follower{}
		f.files[path] = old
		f.due[path] = true // between the look at it and now it may have been touched
	}
	switch {
	case s.Extent == AsPictures:
		stamp := s.Stamp
		old.picture = &stamp
	case known && s.Extent != UnknownExtent || known && rec.InFull():
		old.picture = nil
	}
	return true
}

// watched notes the result of Watcher.Follow.
func (c *Conversation) watched(path string, fresh bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &c.followed
	if f.files[path] == nil {
		return
	}
	if err != nil {
		f.blind[path] = true
	} else {
		delete(f.blind, path)
	}
	if fresh {
		f.due[path] = true
	}
}

// Changed returns the state of a file that is not as in its record any more, for an
// answer that says so without its lines; nil where no reminder would say it. sum returns
// the sum of the file.
func (c *Conversation) Changed(path string, rec state.Record, sum func() state.Sum) *State {
	if _, follows := c.follower(path); !follows {
		return nil
	}
	return &State{base: rec.Sum(), sum: sum()}
}

// Gone returns the state of a file that is no file any more; nil where no reminder would
// say it.
func (c *Conversation) Gone(path string) *State {
	if _, follows := c.follower(path); !follows {
		return nil
	}
	rec, _ := c.records.Get(path)
	return &State{base: rec.Sum(), gone: true}
}

// Reported notes that the answer that reports a state of a file is about to be sent.
func (c *Conversation) Reported(path string, now State) {
	if _, follows := c.follower(path); follows {
		c.reported([]reminder{{path: path, now: now}})
	}
}

// HasReported reports whether a reminder has shown all lines that changed between the
// record of a file and the file as it is now, which has this sum.
func (c *Conversation) HasReported(path string, rec state.Record, sum func() state.Sum) bool {
	f, follows := c.follower(path)
	return follows && f.reported != nil && f.reported.whole && f.reported.base == rec.Sum() && f.reported.sum == sum()
}

// lookedAt ends a look that reported nothing.
func (c *Conversation) lookedAt(path string, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.followed.underWay, path)
	if again && c.followed.files[path] != nil {
		c.followed.due[path] = true
	}
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
		delete(c.followed.underWay, m.path)
		if f := c.followed.files[m.path]; f != nil {
			f.note(m)
			c.followed.boundTexts(m.path)
		}
	}
}

func (f *follower) note(m reminder) {
	f.reported, f.proof = &m.now, m.proof
	if f.picture != nil {
		f.picture = &m.stamp
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

// proven notes a stamp that proves that a file is as it was reported.
func (c *Conversation) proven(path string, stamp fsys.Stamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.followed.files[path]; f != nil {
		f.proof = stamp
	}
}

// hashed keeps the sum of a large file.
func (c *Conversation) hashed(path string, stamp fsys.Stamp, sum state.Sum) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.followed.files[path]; f != nil {
		f.hashed, f.sum = stamp, sum
	}
}

// isNotebook reports a notebook by its name: it is shown as its cells and not its lines.
func isNotebook(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".ipynb") }
