package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// newStore makes the store of a process with a state folder. Nothing is written before Close.
func newStore(t *testing.T, dir string, now func() time.Time) *Store {
	t.Helper()
	s := New(Options{
		MakeDir: func(context.Context) (string, error) { return dir, nil }, FoundDir: func() (string, error) { return dir, nil },
		On: func() bool { return true }, Secret: func(names []string) bool { return strings.HasSuffix(names[0], ".env") },
		Now: now, Failed: func(err error) { t.Error(err) },
	})
	s.delay = time.Hour
	return s
}

// conversationOf returns the records of a conversation in a new process, and what ends it.
func conversationOf(t *testing.T, dir, name string, now func() time.Time) (files *state.Files, end func()) {
	t.Helper()
	s := newStore(t, dir, now)
	files = state.New(time.Now)
	s.Keep(name, files)
	return files, s.Close
}

// stateDir is a state folder that only this user can write.
func stateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// recordOf is the record of a file that was shown in part.
func recordOf(raw string, shown ...span.Span) state.Record {
	f := state.KnownFile{Content: state.NewContent([]byte(raw)), Stamp: fsys.Stamp{Dev: 1, Ino: 1 << 63, Size: int64(len(raw)), Mtime: -5, Ctime: 7}}
	return f.Recorded(span.SetOf(shown))
}

// shown puts a record in one process.
func shown(t *testing.T, dir, name, path string, now func() time.Time) {
	t.Helper()
	files, end := conversationOf(t, dir, name, now)
	files.Put(path, recordOf("one\ntwo\n", span.Span{End: 4}))
	end()
}

// known reports whether a conversation knows a file in a new process.
func known(t *testing.T, dir, name, path string, now func() time.Time) bool {
	t.Helper()
	files, end := conversationOf(t, dir, name, now)
	defer end()
	_, ok := files.Get(path)
	return ok
}

// onlyFile is the name of the one file of records.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, folder, "*"))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

func TestWhatIsNotUsed(t *testing.T) {
	start := time.Unix(1_000_000_000, 0)
	write := func(change func(raw []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			raw, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, change(raw), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	chmod := func(folderToo bool, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			if runtime.GOOS == "windows" {
				t.Skip("modes say nothing here")
			}
			name := file
			if folderToo {
				name = filepath.Dir(file)
			}
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, file string)
		later time.Duration
		as    string // the name of the conversation; "": the same
		used  bool
	}{
		"as it was written":           {used: true},
		"almost a day later":          {later: maxAge - time.Minute, used: true},
		"a day later":                 {later: maxAge},
		"from the future":             {later: -time.Hour},
		"another conversation":        {as: "other"},
		"torn":                        {spoil: write(func(raw []byte) []byte { return raw[:len(raw)-9] })},
		"only its first line":         {spoil: write(func(raw []byte) []byte { return raw[:bytes.IndexByte(raw, '\n')+1] })},
		"empty":                       {spoil: write(func([]byte) []byte { return nil })},
		"not JSON":                    {spoil: write(func([]byte) []byte { return []byte("x\n") })},
		"changed by hand":             {spoil: write(func(raw []byte) []byte { return bytes.Replace(raw, []byte("[0,4]"), []byte("[0,8]"), 1) })},
		"of a later version":          {spoil: write(func(raw []byte) []byte { return bytes.Replace(raw, []byte(`"format":1`), []byte(`"format":2`), 1) })},
		"too large":                   {spoil: write(func(raw []byte) []byte { return append(raw, make([]byte, maxBytes)...) })},
		"readable by others":          {spoil: chmod(false, 0o644)},
		"writable by others":          {spoil: chmod(false, 0o602)},
		"a folder writable by others": {spoil: chmod(true, 0o777)},
		"a folder in its place": {spoil: func(t *testing.T, file string) {
			if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		"a link": {spoil: func(t *testing.T, file string) {
			if err := errors.Join(os.Rename(file, file+".x"), os.Symlink(filepath.Base(file)+".x", file)); err != nil {
				t.Skip(err)
			}
		}},
		"of another owner": {spoil: func(t *testing.T, file string) {
			if err := os.Chown(file, 12345, -1); err != nil {
				t.Skip("only root can give a file away")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := stateDir(t)
			shown(t, dir, "mine", "/a", func() time.Time { return start })
			if c.spoil != nil {
				c.spoil(t, onlyFile(t, dir))
			}
			as := c.as
			if as == "" {
				as = "mine"
			}
			if got := known(t, dir, as, "/a", func() time.Time { return start.Add(c.later) }); got != c.used {
				t.Errorf("used: %v", got)
			}
		})
	}
}

// A file of another conversation is not used under this one's name. Without that check of the
// file it would be: the name of the file alone does not tell.
func TestFileOfAnotherConversation(t *testing.T) {
	dir := stateDir(t)
	shown(t, dir, "theirs", "/a", time.Now)
	file := onlyFile(t, dir)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mine := conversation{id: idOf("mine")}
	if err := os.Rename(file, filepath.Join(filepath.Dir(file), mine.file())); err != nil {
		t.Fatal(err)
	}
	if known(t, dir, "mine", "/a", time.Now) {
		t.Error("the file of another conversation is used")
	}
	var others []check // the control arm
	for _, c := range checks {
		if c.name != "conversation" {
			others = append(others, c)
		}
	}
	if lines, err := decode(raw, mine.id, time.Now(), others); err != nil || len(lines) != 1 {
		t.Errorf("without the check the file is not used either: %v, %v", lines, err)
	}
}

// Records come back as they are kept, whatever they hold.
func TestRecordsComeBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		raw := make([]byte, rnd.IntN(3*state.KeepText))
		f := state.KnownFile{Content: state.NewContent(raw), Notebook: rnd.IntN(3) == 0, Stamp: fsys.Stamp{
			Dev: rnd.Uint64(), Ino: rnd.Uint64(), Size: int64(len(raw)), Mtime: int64(rnd.Uint64()), Ctime: int64(rnd.Uint64()),
		}}
		var set span.Set
		for range rnd.IntN(5) {
			start := rnd.IntN(len(raw) + 1)
			set = set.Add(span.Span{Start: int64(start), End: int64(start + rnd.IntN(len(raw)-start+1))})
		}
		rec := f.Recorded(set)
		rec.Enc = text.Encoding{Set: charset.Charset(rnd.IntN(26)), Mark: rnd.IntN(2) == 0}
		rec.Older = rnd.IntN(2) == 0
		l, ok := lineOf("/a", rec, time.Now())
		if !ok {
			t.Fatal("a record is not kept")
		}
		coded, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var back line
		if err := json.Unmarshal(coded, &back); err != nil {
			t.Fatal(err)
		}
		got, ok := back.record()
		want := rec.Kept()
		if len(want.Parts) == 0 {
			want.Parts, got.Parts = nil, nil
		}
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v came back as %+v, %v", want, got, ok)
		}
	}
}

// No text is stored, and nothing of a secret file; the name of the conversation neither.
func TestNoTextIsStored(t *testing.T) {
	dir := stateDir(t)
	files, end := conversationOf(t, dir, "the-name-of-it", time.Now)
	files.Put("/w/a", recordOf("words of the file", span.Span{End: 17}))
	files.Put("/w/.env", recordOf("KEY=1", span.Span{End: 5}))
	end()
	raw, err := os.ReadFile(onlyFile(t, dir))
	if err != nil || !bytes.Contains(raw, []byte(`"/w/a"`)) {
		t.Fatalf("%s, %v", raw, err)
	}
	for _, no := range []string{"words", ".env", "KEY", "the-name-of-it"} {
		if bytes.Contains(raw, []byte(no)) {
			t.Errorf("%q is stored:\n%s", no, raw)
		}
	}
	info, err := os.Stat(onlyFile(t, dir))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Two servers of one conversation keep what the other wrote of other files; of one file the
// later write counts.
func TestTwoServers(t *testing.T) {
	dir := stateDir(t)
	one, endOne := conversationOf(t, dir, "c", time.Now)
	two, endTwo := conversationOf(t, dir, "c", time.Now)
	one.Put("/one", recordOf("1", span.Span{End: 1}))
	one.Put("/both", recordOf("1", span.Span{End: 1}))
	two.Get("/nothing") // two has looked: it knows nothing of one's files
	two.Put("/two", recordOf("2", span.Span{End: 1}))
	two.Put("/both", recordOf("2", span.Span{End: 1}))
	endOne()
	endTwo()
	files, end := conversationOf(t, dir, "c", time.Now)
	defer end()
	for path, want := range map[string]string{"/one": "1", "/two": "2", "/both": "2"} {
		rec, ok := files.Get(path)
		if want := recordOf(want, span.Span{End: 1}).Kept(); !ok || !reflect.DeepEqual(rec, want) {
			t.Errorf("%s: %+v, %v, want %+v", path, rec, ok, want)
		}
	}
	files.Forget("/both")
	end()
	if known(t, dir, "c", "/both", time.Now) {
		t.Error("a record that was forgotten came back")
	}
}

func TestBounds(t *testing.T) {
	dir := stateDir(t)
	now := time.Unix(1_000_000_000, 0)
	clock := func() time.Time { return now }
	files, end := conversationOf(t, dir, "c", clock)
	files.Put("/old", recordOf("1", span.Span{End: 1}))
	end()
	now = now.Add(time.Second)
	files, end = conversationOf(t, dir, "c", clock)
	for i := range maxFiles {
		files.Put(fmt.Sprintf("/%d", i), recordOf("1", span.Span{End: 1}))
	}
	many := make([]span.Span, maxParts+1)
	for i := range many {
		many[i] = span.Span{Start: int64(2 * i), End: int64(2*i + 1)}
	}
	files.Put("/many", recordOf(strings.Repeat("x", 2*len(many)), many...))
	end()
	if info, err := os.Stat(onlyFile(t, dir)); err != nil || info.Size() > maxBytes {
		t.Errorf("%v, %v", info, err)
	}
	for path, want := range map[string]bool{"/old": false, "/0": true, "/1999": true, "/many": false} {
		if known(t, dir, "c", path, clock) != want {
			t.Errorf("%s is known: %v", path, !want)
		}
	}
	for i := range mostKept + 5 {
		shown(t, dir, fmt.Sprint("other", i), "/a", clock)
	}
	name := filepath.Join(dir, folder, "0.tmp")
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, time.Time{}, now.Add(-2*maxAge))); err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	shown(t, dir, "last", "/a", clock)
	all, _ := os.ReadDir(filepath.Join(dir, folder))
	if _, err := os.Stat(name); err == nil || len(all) > mostKept+1 {
		t.Errorf("%d files are kept", len(all))
	}
}

// A change is written without the end of the process, once for a burst.
func TestWrittenSoon(t *testing.T) {
	dir := stateDir(t)
	s := newStore(t, dir, time.Now)
	s.delay = time.Millisecond
	files := state.New(time.Now)
	s.Keep("c", files)
	files.Put("/a", recordOf("1", span.Span{End: 1}))
	for !known(t, dir, "c", "/a", time.Now) {
		time.Sleep(time.Millisecond)
	}
}

// What cannot be written is tried again at the next write.
func TestDiskFull(t *testing.T) {
	dir := stateDir(t)
	full, failures := true, 0
	s := New(Options{
		MakeDir: func(context.Context) (string, error) {
			if full {
				return "", errors.New("full")
			}
			return dir, nil
		},
		FoundDir: func() (string, error) { return dir, nil },
		On:       func() bool { return true }, Secret: func([]string) bool { return false },
		Now: time.Now, Failed: func(error) { failures++ },
	})
	s.delay = time.Hour
	files := state.New(time.Now)
	s.Keep("c", files)
	files.Put("/a", recordOf("1", span.Span{End: 1}))
	s.write()
	full = false
	s.Close()
	if failures != 1 || !known(t, dir, "c", "/a", time.Now) {
		t.Errorf("%d failures", failures)
	}
}
