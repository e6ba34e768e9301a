package history

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/save"
)

// Entry is one change of the journal.
type Entry struct {
	ID   string
	Time time.Time
	// Session, Tool and Call say what made the change: a conversation, a tool (or
	// ToolRestore, ToolHook or ToolOutside), and the client's id of the call.
	Session, Tool, Call string
	// Group is the same for all changes of one call; "" if the call could make one alone.
	Group     string
	Operation Operation
	Path      string // resolved and absolute; of a move or a copy the old name
	To        string // the new name of a move or a copy; "" else
	// Before and After are the hashes of the file's bytes. Before is nil if there was no
	// file, After if the file was removed. Both are nil for a file above WholeLimit.
	Before, After *Sum
	// Meta is that of what Delete removed, and lets it be made again; nil of other changes.
	Meta *save.Meta
	// NewDirs is the number of folders that were made for the file, the innermost last.
	NewDirs int
	// Thinned says that bytes of the entry were removed, since its file took up too much of
	// the history.
	Thinned bool

	from *segment
	line line
}

// Partial reports whether only the changed places of the file are stored.
func (e Entry) Partial() bool { return e.line.Places != nil }

// Values of Entry.Tool for changes that no tool made.
const (
	// ToolRestore is the restore of a change.
	ToolRestore = "restore"
	// ToolHook is a change that hooks made after a change.
	ToolHook = "hook"
	// ToolOutside are bytes of another program that were displaced while both
	// wrote. They were in no file any more; there is only a Before.
	ToolOutside = "outside"
)

// journalVersion is the Version of each line, and madeVersion that of a line with Made. Lines of
// another version are ignored: builds that know nothing of Made ignore these.
const (
	journalVersion = 2
	madeVersion    = 3
)

// line is the JSON of an entry. A line of the journal is its check, a blank and the JSON.
type line struct {
	Version   int        `json:"v"`
	Number    int        `json:"n,omitempty"`
	Time      int64      `json:"t,omitempty"` // Unix nanoseconds
	Session   string     `json:"session,omitempty"`
	Tool      string     `json:"tool,omitempty"`
	Call      string     `json:"call,omitempty"`
	Group     string     `json:"group,omitempty"`
	Path      string     `json:"path,omitempty"`
	Raw       []byte     `json:"raw,omitempty"` // the path, if it is not UTF-8
	To        string     `json:"to,omitempty"`
	RawTo     []byte     `json:"rawTo,omitempty"`
	Old       *object    `json:"old,omitempty"`
	New       *object    `json:"new,omitempty"`
	Places    *object    `json:"places,omitempty"`
	NewDirs   int        `json:"dirs,omitempty"`
	Operation Operation  `json:"op,omitempty"`
	Meta      *save.Meta `json:"meta,omitempty"`
	Deposit   *deposited `json:"deposit,omitempty"`
	Copied    *deposited `json:"copied,omitempty"` // the size and time of a copy
	Ino       uint64     `json:"ino,omitempty"`    // of what is moved
	// Pending says that a line with Made, or one with Void, follows once the change was made or
	// was not.
	Pending bool `json:"pending,omitempty"`
	// Void is the number of an earlier entry whose change was not made.
	Void int `json:"void,omitempty"`
	// Made are the numbers of earlier entries whose changes were made.
	Made []int `json:"made,omitempty"`
}

// objects returns what is stored for the change.
func (l line) objects() (all []*object) {
	for _, o := range []*object{l.Old, l.New, l.Places} {
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

const checkLen = 8 // hexadecimal digits

// appendTo appends the line with its check and its end.
func (l line) appendTo(b []byte) ([]byte, error) {
	l.Version = journalVersion
	if l.Made != nil {
		l.Version = madeVersion
	}
	if !utf8.ValidString(l.Path) {
		l.Raw, l.Path = []byte(l.Path), ""
	}
	if !utf8.ValidString(l.To) {
		l.RawTo, l.To = []byte(l.To), ""
	}
	at := len(b)
	b, err := l.appendJSON(append(b, "00000000 "...))
	if err != nil {
		return nil, err
	}
	var check [checkLen / 2]byte
	binary.BigEndian.PutUint32(check[:], checkOf(b[at+checkLen+1:]))
	hex.Encode(b[at:], check[:])
	return append(b, '\n'), nil
}

var errVersion = errors.New("another version of fsmcp wrote this line")

// decodeLine reads a line back, without its end. The error is damage or errVersion.
func decodeLine(b []byte) (l line, err error) {
	if len(b) < checkLen+1 || b[checkLen] != ' ' {
		return l, damaged("a line of the journal is none")
	}
	want, err := strconv.ParseUint(string(b[:checkLen]), 16, 32)
	text := b[checkLen+1:]
	if err != nil || checkOf(text) != uint32(want) || json.Unmarshal(text, &l) != nil {
		return l, damaged("a line of the journal does not fit its check")
	}
	if l.Version != journalVersion && (l.Version != madeVersion || l.Made == nil) {
		return l, errVersion
	}
	if l.Raw != nil {
		l.Path = string(l.Raw)
	}
	if l.RawTo != nil {
		l.To = string(l.RawTo)
	}
	return l, nil
}

func (l line) entry(from *segment) Entry {
	return Entry{
		ID: from.id + "-" + strconv.Itoa(l.Number), Time: time.Unix(0, l.Time),
		Session: l.Session, Tool: l.Tool, Call: l.Call, Group: l.Group, Operation: l.Operation, Path: l.Path, To: l.To, Meta: l.Meta,
		Before: l.Old.sum(), After: l.New.sum(), Thinned: slices.ContainsFunc(l.objects(), func(o *object) bool { return o.Thinned }), NewDirs: l.NewDirs,
		from: from, line: l,
	}
}

// readJournal reads all lines of a journal, and returns the numbers of those that are
// damaged. A last line without an end is ignored: its process died before the change.
func readJournal(b []byte, from *segment) (entries []Entry, bad []int) {
	void, made := make(map[int]bool), make(map[int]bool)
	for n := 1; ; n++ {
		text, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			break
		}
		b = rest
		l, err := decodeLine(text)
		switch {
		case errors.Is(err, errVersion):
		case err != nil:
			bad = append(bad, n)
		case l.Void != 0:
			void[l.Void] = true
		case l.Made != nil:
			for _, number := range l.Made {
				made[number] = true
			}
		default:
			entries = append(entries, l.entry(from))
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		if !void[e.line.Number] {
			e.line.Pending = e.line.Pending && !made[e.line.Number]
			kept = append(kept, e)
		}
	}
	return kept, bad
}
