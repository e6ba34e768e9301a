package history

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
	"unicode/utf8"
)

// Entry is one change of the journal.
type Entry struct {
	ID   string
	Time time.Time
	// Session, Tool and Call say what made the change: a conversation, a tool (or
	// ToolRestore, ToolHook or ToolOutside), and the client's id of the call.
	Session, Tool, Call string
	Path                string // resolved and absolute
	// Before and After are the hashes of the file's bytes. Before is nil if there was no
	// file, After if the file was removed. Both are nil for a file above WholeLimit.
	Before, After *Sum
	// Made is the number of folders that were made for the file, the innermost last.
	Made int

	from          *segment
	before, after int64 // offsets in the pack; 0: nothing stored
	places        int64
	number        int
}

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

// line is the JSON of an entry. A line of the journal is its check, a blank and the JSON.
type line struct {
	Number  int    `json:"n,omitempty"`
	Time    int64  `json:"t,omitempty"` // Unix nanoseconds
	Session string `json:"session,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Call    string `json:"call,omitempty"`
	Path    string `json:"path,omitempty"`
	Raw     []byte `json:"raw,omitempty"` // the path, if it is not UTF-8
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	// Offsets in the pack.
	BeforeAt int64 `json:"b,omitempty"`
	AfterAt  int64 `json:"a,omitempty"`
	PlacesAt int64 `json:"p,omitempty"`
	Made     int   `json:"dirs,omitempty"` // folders made for the file
	// Void is the number of an earlier entry whose change was not made.
	Void int `json:"void,omitempty"`
}

const checkLen = 8 // hexadecimal digits

// encode returns the line with its check and its end.
func (l line) encode() ([]byte, error) {
	if !utf8.ValidString(l.Path) {
		l.Raw, l.Path = []byte(l.Path), ""
	}
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, checkLen+2+len(text))
	out = fmt.Appendf(out, "%08x ", crc32.Checksum(text, castagnoli()))
	return append(append(out, text...), '\n'), nil
}

// decodeLine reads a line back, without its end.
func decodeLine(b []byte) (l line, err error) {
	if len(b) < checkLen+1 || b[checkLen] != ' ' {
		return l, damaged("a line of the journal is none")
	}
	want, err := strconv.ParseUint(string(b[:checkLen]), 16, 32)
	text := b[checkLen+1:]
	if err != nil || crc32.Checksum(text, castagnoli()) != uint32(want) || json.Unmarshal(text, &l) != nil {
		return l, damaged("a line of the journal does not fit its check")
	}
	if l.Raw != nil {
		l.Path = string(l.Raw)
	}
	return l, nil
}

func (l line) entry(from *segment) Entry {
	return Entry{
		ID: from.id + "-" + strconv.Itoa(l.Number), Time: time.Unix(0, l.Time),
		Session: l.Session, Tool: l.Tool, Call: l.Call, Path: l.Path,
		Before: sumOf(l.Before), After: sumOf(l.After), Made: l.Made,
		from: from, before: l.BeforeAt, after: l.AfterAt, places: l.PlacesAt, number: l.Number,
	}
}

func sumOf(text string) *Sum {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(Sum{}) {
		return nil
	}
	return (*Sum)(b)
}

// readJournal reads all lines of a journal, and returns the numbers of those that are
// damaged. A last line without an end is ignored: its process died before the change.
func readJournal(b []byte, from *segment) (entries []Entry, bad []int) {
	void := make(map[int]bool)
	for n := 1; ; n++ {
		text, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole {
			break
		}
		b = rest
		l, err := decodeLine(text)
		switch {
		case err != nil:
			bad = append(bad, n)
		case l.Void != 0:
			void[l.Void] = true
		default:
			entries = append(entries, l.entry(from))
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		if !void[e.number] {
			kept = append(kept, e)
		}
	}
	return kept, bad
}
