package histories

import (
	"slices"
	"strings"
)

// Kind says what a step does.
type Kind uint8

// The kinds. Those from Open on are of programs that know nothing of fsmcp.
const (
	Read      Kind = iota // gets Text, the whole file
	Edit                  // replaces Old, which has to be there once, by Text
	Write                 // replaces all by Text, or makes the file
	Append                // puts Text at the end, or makes the file
	Move                  // gives the file the name To
	Delete                // removes the file
	Restore               // takes an Edit back: replaces Old by Text
	Recreate              // takes a Delete back: makes the file with Text
	Look                  // is told Hash of the file
	Kept                  // finds Shown in the files and the history's entries that were kept
	Open                  // opens the file for writing
	Overwrite             // replaces what the open file holds by Text
	Extend                // puts Text at the end of the open file
	Close                 // closes it
	Replace               // renames a file with Text over the name
	Remove                // removes the name
	Touch                 // makes an empty file if there is none
)

var kindNames = [...]string{"Read", "Edit", "Write", "Append", "Move", "Delete", "Restore", "Recreate", "Look", "Kept",
	"Open", "Overwrite", "Extend", "Close", "Replace", "Remove", "Touch"}

func (k Kind) String() string { return kindNames[k] }

// Result says how a step ended.
type Result uint8

// The results.
const (
	Done    Result = iota
	Refused        // Why has the reason
	Unknown        // a crash cut the call off
)

// Outside is the session of programs that know nothing of fsmcp.
const Outside = -1

// Op is one step, with the interval in which it took effect.
type Op struct {
	Kind       Kind
	Session    int // the conversation, or Outside
	Name, To   string
	Old, Text  string
	Begin, End int64 // ticks of one clock
	Result     Result
	Why        string // the slug of a refusal; deleted: Rows are of the file that the session has deleted
	Rows       []Row  // lines of the file that the answer held
	Shown      []string
	Hash       string // of the file, SHA-256; "" if the answer has none
	After      int    // 1 + the index of an Op that comes first; 0: none
}

// Row is a line of a file with its number, from 1.
type Row struct {
	Number int
	Text   string
}

// History has all that happened to a few files.
type History struct {
	Start map[string]string // the content of each file that is there at first
	Ops   []Op
	// AllSeen: what callers were shown does not matter.
	AllSeen bool
}

// names returns the names of all files, sorted.
func (h History) names() (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range h.Start {
		add(name)
	}
	for _, op := range h.Ops {
		add(op.Name)
		add(op.To)
	}
	slices.Sort(names)
	return names
}

// linesOf returns the lines of a text, without their ends.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// shown returns all lines that a caller knows from an answer, or has sent.
func (op Op) shown() []string {
	return slices.Concat(op.Shown, op.rowTexts(), linesOf(op.Text))
}

func (op Op) rowTexts() (texts []string) {
	for _, r := range op.Rows {
		texts = append(texts, r.Text)
	}
	return texts
}
