package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Bounds of what an archive unpacks to.
const (
	maxUnpacked = 512 << 20 // bytes of all parts that are read
	maxRatio    = 100       // of a part
	freeRatio   = 1 << 20   // unpacked bytes of a part up to which its ratio does not matter
)

// Ends of reading that keep what was read.
var (
	errFull = errors.New(media.CutBySize)
	errLate = errors.New(media.CutByTime)
)

// fault is a fault of a document.
type fault struct{ what string }

func (f *fault) Error() string { return f.what }

func faultf(format string, a ...any) error { return &fault{fmt.Sprintf(format, a...)} }

// archive gives the parts of a document by their names, in any case.
type archive struct {
	parts    map[string]*zip.File
	unpacked int64
	until    time.Time // zero: no bound
	stop     error     // ends all reading
}

// openArchive opens the archive of a document.
func openArchive(data []byte) (*archive, error) {
	if bytes.Count(data, []byte("PK\x01\x02")) > media.MaxEntries {
		return nil, faultf("its archive has more than %d entries", media.MaxEntries)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, faultf("its archive is damaged")
	}
	a := &archive{parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		name := partName(f.Name)
		if _, there := a.parts[name]; !there {
			a.parts[name] = f
		}
	}
	return a, nil
}

// partName is the key of a part.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

// has reports whether a part is there.
func (a *archive) has(name string) bool { return a.parts[partName(name)] != nil }

// watch ends reading that takes too long.
func (a *archive) watch() error {
	if a.stop != nil {
		return a.stop
	}
	if !a.until.IsZero() && time.Now().After(a.until) {
		return errLate
	}
	return nil
}

// open opens a part. A part that is not there is empty.
func (a *archive) open(name string) (io.Reader, error) {
	f := a.parts[partName(name)]
	if f == nil {
		return strings.NewReader(""), nil
	}
	if f.Flags&1 != 0 {
		return nil, media.ErrLocked
	}
	if ratio(f.UncompressedSize64, f.CompressedSize64) {
		return nil, faultf("its part %q unpacks to more than %d times its size", f.Name, maxRatio)
	}
	r, err := f.Open()
	if err != nil {
		return nil, faultf("its part %q cannot be unpacked", f.Name)
	}
	return &part{archive: a, in: r, name: f.Name, packed: int64(f.CompressedSize64)}, nil
}

// part reads a part within the bounds.
type part struct {
	*archive
	in     io.Reader
	name   string
	packed int64
	read   int64
}

func (p *part) Read(b []byte) (int, error) {
	if err := p.watch(); err != nil {
		return 0, err
	}
	n, err := p.in.Read(b)
	p.read += int64(n)
	p.unpacked += int64(n)
	switch {
	case p.unpacked > maxUnpacked:
		return 0, faultf("it unpacks to more than %d MB", maxUnpacked>>20)
	case ratio(uint64(p.read), uint64(p.packed)): // more than the archive says
		return 0, faultf("its part %q unpacks to more than %d times its size", p.name, maxRatio)
	case err != nil && err != io.EOF:
		err = faultf("its part %q is damaged", p.name)
	}
	return n, err
}

// ratio reports whether a part unpacks to too much for its size.
func ratio(unpacked, packed uint64) bool {
	return unpacked > freeRatio && unpacked/maxRatio > packed
}

// scan opens a part of XML. A part that is not there has no elements, and one that cannot be
// opened has none but a fault.
func (a *archive) scan(name string) *scanner {
	r, err := a.open(name)
	if err != nil {
		return &scanner{err: err}
	}
	return newScanner(r)
}

// bytes reads a part, at most so many bytes.
func (a *archive) bytes(name string, most int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, most))
}

// relationship leads from a part to another one.
type relationship struct {
	kind     string // the last segment of its type
	target   string // the part
	external bool
}

// relations reads the relationships of a part, by their ids.
func (a *archive) relations(of string) (map[string]relationship, error) {
	dir, base := path.Split(of)
	s := a.scan(dir + "_rels/" + base + ".rels")
	all := map[string]relationship{}
	if s.root() == "Relationships" {
		s.each(func(name string) {
			if name != "Relationship" || len(all) >= media.MaxEntries {
				return
			}
			r := relationship{kind: path.Base(s.attr("Type")), target: s.attr("Target"), external: s.attr("TargetMode") == "External"}
			if !strings.HasPrefix(r.target, "/") {
				r.target = path.Join("/", dir, r.target)
			}
			r.target = strings.TrimPrefix(path.Clean(r.target), "/")
			all[s.attr("Id")] = r
		})
	}
	return all, s.end()
}

// follow reads the parts to which relationships lead, in the order of their names, each by the
// reader of its kind, up to the first error.
func follow(all map[string]relationship, readers map[string]func(part string) error) error {
	for _, r := range sorted(all) {
		if read := readers[r.kind]; read != nil && !r.external {
			if err := read(r.target); err != nil {
				return err
			}
		}
	}
	return nil
}

// sorted returns relationships in the order of their targets.
func sorted(all map[string]relationship) []relationship {
	return slices.SortedFunc(maps.Values(all), func(a, b relationship) int { return cmp.Compare(a.target, b.target) })
}

// related returns the part to which a relationship of a kind leads, "" if there is none.
func related(all map[string]relationship, kind string) string {
	for _, r := range all {
		if r.kind == kind && !r.external {
			return r.target
		}
	}
	return ""
}
