// Package search finds files by name and lines by pattern below folders that the
// rules let a caller read.
//
// It promises that a name on which a Read would be denied or asked about is neither
// opened, looked at, returned nor counted; that symbolic links below the start are not
// followed; and that memory stays bounded: results beyond the wanted ones are counted
// and dropped. Queries go in, facts come out.
//
// It words nothing for a model, records nothing as shown, and keeps nothing between
// searches but buffers.
package search

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/state"
)

// ErrNeverSearched: the start lies in a .git folder or in one of fsmcp's own folders.
var ErrNeverSearched = errors.New("this folder is never searched")

// ErrNoFolder: the start of a Glob is no folder, or the start of a Grep is neither a
// regular file nor a folder.
var ErrNoFolder = errors.New("neither a folder nor a regular file")

// Options are the parts that a Searcher uses.
type Options struct {
	// Checker decides on each name. Its Policy is asked anew for each name, so that a
	// rule added during a search holds for the rest of it.
	Checker *access.Checker
	// Workers bounds the goroutines that read files, of all searches together; 0 means
	// GOMAXPROCS.
	Workers int
	// Documents gives the text of PDFs and Office documents; nil: none is searched.
	Documents Documents
}

// Searcher runs searches; it is safe for concurrent use. All its searches share one
// bounded set of workers.
type Searcher struct {
	checker   *access.Checker
	documents Documents
	slots     chan *room
	// yieldUntil is the time, in Unix nanoseconds, up to which a processor is left to
	// other calls.
	yieldUntil atomic.Int64
}

// New returns a Searcher. It starts nothing.
func New(o Options) *Searcher {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &Searcher{checker: o.Checker, documents: o.Documents, slots: make(chan *room, o.Workers)}
	for i := range o.Workers {
		s.slots <- &room{last: i > 0 && i == o.Workers-1}
	}
	return s
}

// Scope says where to search.
type Scope struct {
	// Starts are the folders to search, or one regular file for Grep. The rules have
	// let a Read of each through; the caller closes them after the search. A folder
	// that lies below another one is searched once.
	Starts []*access.AllowedFile
	// IncludeIgnored lifts .gitignore, .ignore and the repository's exclude file.
	IncludeIgnored bool
	// Grants are the user's consents that count for the names below the starts, too;
	// nil grants nothing.
	Grants perm.Grants
	// Within bounds the search; what was found by then is the result, with Complete
	// false. 0 means no bound. A ctx that ends is an error instead.
	Within time.Duration
	// Progress is called about ten times a second, from one goroutine at a time; nil
	// is not called.
	Progress func(SearchCounts)
}

// SearchCounts counts the folders, files and matches of a running search so far.
type SearchCounts struct {
	Folders, Files, Matches int
}

// Window says which part of the results is wanted, in their final order. Results in
// front of it and behind it are counted, not returned.
type Window struct {
	Skip int
	// Most bounds the results; 0 means all that MaxBytes allows.
	Most int
	// MaxBytes bounds the bytes of returned names and lines together; 0 means 256 KiB.
	MaxBytes int
}

// Coverage says how much of the scope was searched.
type Coverage struct {
	// Complete is false if the time ran out.
	Complete bool
	// NotSearched are folders that were left out because the time ran out, absolute and
	// sorted; at most 20. Each stands for everything below it that was not searched: for one
	// that lies very deep a folder above it is named. NotSearchedMore counts the others.
	NotSearched     []string
	NotSearchedMore int
	// Partly are the files that were searched only in part because the time ran out, sorted.
	Partly []PartOfFile
	// PDFs and Office count the documents of a Grep whose text was not searched.
	PDFs, Office int
	// Scans counts the pages of PDFs that have no text.
	Scans int
	// Gaps are of documents whose text was to be searched, and was not or only in part, sorted;
	// at most 20. MoreGaps counts the others.
	Gaps     []DocumentGap
	MoreGaps int
	// Unreadable are permitted files and folders that the system does not let the server
	// read, absolute and sorted; at most 20. UnreadableMore counts the others.
	Unreadable     []string
	UnreadableMore int
	// Files counts those that were searched: for Glob the names that were looked at.
	Files int
	// Ignored says that ignore files left something out.
	Ignored bool
}

// PartOfFile says how much of a file was searched, at least, in bytes.
type PartOfFile struct {
	Path           string // absolute, resolved
	Searched, Size int64
}

// DocumentGap says what was not searched of a document.
type DocumentGap struct {
	Path string // absolute, resolved
	// Err is why the text could not be read: nothing of it was searched.
	Err error
	// Cut is why the end of the text was not searched, if Err is nil. Of a PDF the first Pages of
	// Count were.
	Cut          string
	Pages, Count int
	PDF          bool
}

// GlobQuery is a search for names.
type GlobQuery struct {
	// Pattern is in doublestar's syntax, relative to each start. Without a slash it
	// matches at any depth; one at its beginning makes it match in the starts themselves, one
	// at its end makes it match folders, and only those. SplitPattern splits an absolute one.
	Pattern string
	Window  Window
}

// Found is the result of a Glob.
type Found struct {
	// Matches are sorted by modification time, newest first, then by path.
	Matches []FoundName
	// Total counts all matches, those outside the window included, and Folders those in which
	// they are.
	Total, Folders int
	// More: something follows behind the window.
	More bool
	Coverage
}

// FoundName is a name that a Glob found.
type FoundName struct {
	Path string // absolute, resolved
	Dir  bool
}

// GrepMode says what a Grep returns of each file.
type GrepMode uint8

// The modes. The window counts files in FilesOnly and Counts, and lines in Content.
const (
	FilesOnly GrepMode = iota // the names; a file is read up to its first match
	Counts                    // the number of matching lines
	Content                   // the lines
)

// GrepQuery is a search for lines.
type GrepQuery struct {
	// Pattern is in RE2 syntax. "$" also matches before the CR of a CRLF.
	Pattern string
	// Globs are gitignore patterns as rg --glob takes them: a name must match one of
	// those without "!", if there are any, and none with it. {a,b} is expanded.
	Globs []string
	// Type is a name of Types, or "".
	Type string
	// Fold ignores case. Multiline lets a match span lines, and "." match line breaks.
	Fold, Multiline bool
	// Before and After count the lines of context in Content.
	Before, After int
	Mode          GrepMode
	Window        Window
}

// Grepped is the result of a Grep.
type Grepped struct {
	// Files are sorted by modification time, newest first, then by path. Only files with
	// something in the window are returned.
	Files []FileMatches
	// TotalFiles counts the files with a match, TotalMatches their matching lines (one for
	// each file in FilesOnly, and for each binary file).
	TotalFiles, TotalMatches int
	// More: something follows behind the window.
	More bool
	Coverage
}

// FileMatches is a file with a match.
type FileMatches struct {
	Path string // absolute, resolved
	// Count is the number of matching lines; 1 in FilesOnly and for a binary file.
	Count int
	// Binary: the file matches and is not text. It has no Lines.
	Binary bool
	// Lines are those that the window shows, in order; Content only.
	Lines []FoundLine
	// Record is of the file as Lines show it, for state.Files, with nothing shown yet: Showing
	// adds that. Recorded is false if nothing counts as shown: the time ran out, or the
	// file is too large to hold in memory.
	Record   state.Record
	Recorded bool
}

// Showing returns the record of a file if an answer holds these bytes, from Exact of its
// Lines.
func (f *FileMatches) Showing(exact []state.Part) state.Record { return f.Record.With(exact) }

// FoundLine is a line of a Content search.
type FoundLine struct {
	Number int // from 1, counted as Read counts
	// Context: the line is beside a match and has none.
	Context bool
	// Place is the place of a line of a document: page, slide or cell; "" if it is the number.
	Place string
	// Gap: lines were left out between the one before in this file and this one.
	Gap bool
	// Parts is the whole line in one part, or of a line of more than 500 characters
	// windows around its matches, in order; at most 10 of them.
	Parts []LinePart
	// Whole: Parts is all of the line.
	Whole bool
	// Exact are the bytes of the file that Parts show as they are, with the line ending: all
	// of a line that is whole, without bytes that are no character.
	Exact []state.Part
	// MoreMatches counts the matches that lie in no part.
	MoreMatches int
}

// size is the number of bytes of its text.
func (l *FoundLine) size() (n int) {
	for _, p := range l.Parts {
		n += len(p.Text)
	}
	return n
}

// LinePart is a range of a line that a search shows.
type LinePart struct {
	// Column is the place of Text's first character in the line, from 1, in characters.
	Column int
	// Text is UTF-8 but for bytes that are no character; it has no line ending.
	Text []byte
}
