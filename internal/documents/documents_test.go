package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
)

// echo reads a document as its own bytes, and counts how often.
type echo struct{ reads atomic.Int32 }

func (e *echo) OfficeText(_ context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error) {
	e.reads.Add(1)
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, size))
	if bytes.HasPrefix(raw, []byte("broken")) {
		return nil, &media.DamageError{What: string(raw)}
	}
	return &media.Document{Body: string(raw), Sections: []media.Section{{Size: len(raw)}}}, err
}

func (e *echo) OfficePictures(context.Context, io.ReaderAt, int64, []string) ([][]byte, error) {
	return nil, nil
}

// PDFText reads a PDF one byte a page, a page a job.
func (e *echo) PDFText(_ context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error) {
	e.reads.Add(1)
	b := make([]byte, 1)
	if size == 0 {
		return &media.Document{Kind: media.Pages}, nil
	}
	_, err := file.ReadAt(b, int64(q.From-1))
	d := &media.Document{Kind: media.Pages, Count: int(size), Body: string(b), Sections: []media.Section{{Size: 1}}}
	if int64(q.From) < size {
		d.Next = q.From + 1
	}
	return d, err
}

func open(t *testing.T, name string) *fsys.File {
	t.Helper()
	path, err := fsys.Lexer{OS: runtime.GOOS}.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := fsys.NewResolver().Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := dir.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(); dir.Close() })
	return f
}

// Over generated changes of files, with new times and with the old ones, a store that keeps texts
// gives what one gives that keeps none. The control arm trusts the stamp of a file that has just
// changed, and gives an old text.
func TestKeptTextsAreThoseOfTheFile(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		kept, plain := &echo{}, &echo{}
		with := New(Options{Office: kept, PDFs: kept, Now: time.Now})
		without := New(Options{Office: plain, PDFs: plain, Now: time.Now, Uncached: true})
		old := time.Now().Add(-time.Hour)
		for step := range 40 {
			name := filepath.Join(dir, fmt.Sprintf("%d-%d", seed, r.IntN(3)))
			if text := []string{"one", "two", "broken", "", "six"}[r.IntN(5)]; r.IntN(2) == 0 || step < 3 {
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
				if r.IntN(2) == 0 { // as an archiver does that keeps times
					os.Chtimes(name, old, old)
				}
			}
			if _, err := os.Stat(name); err != nil {
				continue
			}
			pdf := r.IntN(4) == 0 && seed%2 == 1
			if seed%2 == 1 {
				pdf = true
			}
			f := open(t, name)
			got, gotErr := with.Text(t.Context(), f, pdf)
			want, wantErr := without.Text(t.Context(), f, pdf)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
				t.Fatalf("seed %d, step %d: %+v %v, want %+v %v", seed, step, got, gotErr, want, wantErr)
			}
		}
		if kept.reads.Load() >= plain.reads.Load() {
			t.Errorf("seed %d: nothing was kept: %d reads, %d without", seed, kept.reads.Load(), plain.reads.Load())
		}
	}
	// The control arm.
	name := filepath.Join(dir, "control")
	os.WriteFile(name, []byte("one"), 0o666)
	careless := New(Options{Office: &echo{}, Now: func() time.Time { return time.Now().Add(time.Hour) }}) // every stamp is settled
	first, _ := careless.Text(t.Context(), open(t, name), false)
	for range 1000 { // until a write falls into the clock's grain
		stamp, _ := open(t, name).Stamp()
		os.WriteFile(name, []byte("two"), 0o666)
		if now, _ := open(t, name).Stamp(); now.Same(stamp) {
			if second, _ := careless.Text(t.Context(), open(t, name), false); second != first {
				t.Error("the control arm noticed a change that no stamp shows")
			}
			return
		}
		os.WriteFile(name, []byte("one"), 0o666)
		careless = New(careless.Options)
		first, _ = careless.Text(t.Context(), open(t, name), false)
	}
	t.Log("no write fell into the clock's grain: the control arm was not tried")
}

// slow reads a PDF of ten pages, a second a page, and notes where each of its jobs began.
type slow struct {
	echo
	from []int
	fail int // the page at which it fails
}

func (s *slow) PDFText(ctx context.Context, _ io.ReaderAt, _ int64, q media.DocumentRequest) (*media.Document, error) {
	s.from = append(s.from, q.From)
	d := &media.Document{Kind: media.Pages, Count: 10}
	var body strings.Builder
	for page, until := q.From, time.Now().Add(time.Duration(q.Millis)*time.Millisecond); ; page++ {
		switch {
		case page > d.Count:
		case page > q.From && time.Now().After(until):
			d.Next = page
		case page == s.fail && page > q.From:
			d.Next = page
		case page == s.fail:
			return nil, &media.BreakdownError{Why: media.Died, Err: errors.New("died")}
		default:
			select {
			case <-time.After(time.Second):
				d.AddSection(&body, fmt.Sprint("page ", page))
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		d.Body = body.String()
		return d, nil
	}
}

// A PDF that takes longer than a call has is read as far as the time goes, before the deadline;
// the next call reads on from there, and all calls together read what one call without a deadline
// does. The control arm keeps nothing and begins anew.
func TestNextCallReadsOn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.pdf")
	os.WriteFile(name, []byte("%PDF-"), 0o666)
	f := open(t, name)
	synctest.Test(t, func(t *testing.T) {
		within := func(s *Store, d time.Duration) (*media.Document, error) {
			ctx, end := context.WithTimeout(t.Context(), d)
			defer end()
			doc, err := s.Text(ctx, f, true)
			if ctx.Err() != nil {
				t.Error("the text came behind the deadline")
			}
			return doc, err
		}
		whole, err := New(Options{PDFs: &slow{}, Now: time.Now}).Text(t.Context(), f, true)
		if err != nil || len(whole.Sections) != 10 || whole.Cut != "" {
			t.Fatalf("%+v %v", whole, err)
		}
		for _, uncached := range []bool{false, true} {
			pages := &slow{}
			s := New(Options{PDFs: pages, Now: time.Now, Uncached: uncached})
			var doc *media.Document
			for read := 0; ; {
				last := doc
				if doc, err = within(s, 6*time.Second); err != nil {
					t.Fatal(err)
				}
				if uncached {
					if last != nil && len(doc.Sections) != len(last.Sections) {
						t.Fatalf("the control arm read on: %+v", doc)
					}
					if last != nil {
						break
					}
					continue
				}
				if last != nil && !reflect.DeepEqual(last.Sections, doc.Sections[:read]) {
					t.Fatalf("%+v is not the beginning of %+v", last, doc)
				}
				if doc.Cut == "" {
					break
				}
				if len(doc.Sections) <= read || doc.Cut != media.CutByTime || doc.Next != len(doc.Sections)+1 {
					t.Fatalf("%+v after %d pages", doc, read)
				}
				read = len(doc.Sections)
			}
			if !uncached && !reflect.DeepEqual(doc, whole) {
				t.Errorf("%+v, want %+v", doc, whole)
			}
			if !uncached && !slices.IsSorted(pages.from) {
				t.Errorf("pages were read twice: %v", pages.from)
			}
		}
		// A page that cannot be read ends the text; so does too little time, with an error.
		broken := New(Options{PDFs: &slow{fail: 4}, Now: time.Now})
		if doc, err := within(broken, time.Minute); err != nil || len(doc.Sections) != 3 || doc.Cut != media.CutByFailure {
			t.Errorf("%+v %v", doc, err)
		}
		if doc, err := within(New(Options{PDFs: &slow{}, Now: time.Now}), 100*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v %v", doc, err)
		}
	})
}

// What is kept stays within the bound, and what is not kept any more takes no memory.
func TestKeptTextsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := New(Options{Office: &echo{}, Now: time.Now})
	var given []weak.Pointer[media.Document]
	for i := range 40 {
		name := filepath.Join(dir, fmt.Sprint(i))
		os.WriteFile(name, bytes.Repeat([]byte{byte(i)}, 1<<20), 0o666)
		doc, err := s.Text(t.Context(), open(t, name), false)
		if err != nil {
			t.Fatal(err)
		}
		given = append(given, weak.Make(doc))
		if s.size > keptBytes || len(s.kept) > 16 {
			t.Fatalf("%d bytes of %d texts", s.size, len(s.kept))
		}
	}
	if len(s.kept) < 8 {
		t.Errorf("only %d texts are kept", len(s.kept))
	}
	runtime.GC()
	held := 0
	for _, doc := range given {
		if doc.Value() != nil {
			held++
		}
	}
	if held > len(s.kept) {
		t.Errorf("%d texts are in memory, %d are kept", held, len(s.kept))
	}
	runtime.KeepAlive(s)
}
