package crashstates

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
)

// ID is an inode: its number on one of the file systems that are watched.
type ID struct{ FS, Ino uint64 }

// Name is an entry of a folder.
type Name struct {
	Folder ID
	Name   string
}

// Kind says what a call did.
type Kind string

// The kinds.
const (
	Create   Kind = "create" // a file, folder or link; without a name: O_TMPFILE
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Reserve  Kind = "reserve" // blocks behind the end, which read as zeros
	Link     Kind = "link"
	Remove   Kind = "remove"
	Rename   Kind = "rename"
	Exchange Kind = "exchange"
	Attr     Kind = "attr"
	Sync     Kind = "sync" // of a file or a folder
	Answer   Kind = "answer"
)

// Op is one call that succeeded.
type Op struct {
	Kind Kind
	Call string // for people
	Ino  ID     // of what is created, linked, written or synced
	At   Name   // of Create, Link, Remove; the old name of Rename, Exchange
	To   Name   // the new name of Rename, Exchange
	Off  int64
	Data []byte // of Write; the text of an Answer
	Size int64  // of Truncate; the end of Reserve

	// Of Create and Attr, and the time after Write and Truncate.
	Mode   fs.FileMode
	Time   int64
	Target string // of a link
	Xattr  string // the name of an extended attribute, whose value is Data

	// Before is the number of calls that had ended when a Sync began: it covers these.
	Before int
}

// Log has the calls of a program.
type Log []Op

// Read reads the lines that a recorder has written.
func Read(r io.Reader) (l Log, err error) {
	d := json.NewDecoder(bufio.NewReader(r))
	for {
		var op Op
		if err := d.Decode(&op); err == io.EOF {
			return l, nil
		} else if err != nil {
			return l, fmt.Errorf("line %d: %w", len(l)+1, err)
		}
		l = append(l, op)
	}
}
