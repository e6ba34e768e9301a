package reminders

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// byHand is a TouchWatcher that a test tells what was touched.
type byHand struct {
	followed map[string]bool
	touched  []string
}

func (w *byHand) Follow(name string) (bool, error) {
	fresh := !w.followed[name]
	w.followed[name] = true
	return fresh, nil
}

func (w *byHand) Touched() []string {
	t := w.touched
	w.touched = nil
	return t
}

// bench is one conversation over a folder.
type bench struct {
	t       testing.TB
	dir     string
	checker *access.Checker
	records *state.Files
	watcher *byHand
	*Conversation
}

func newBench(t testing.TB, rules ...perm.RuleText) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy, warnings := perm.Compile(perm.Config{
		Workspace: []perm.Dir{{Name: dir, Real: dir}}, Mode: perm.AcceptEdits, Rules: rules, CaseSensitive: true, Windows: runtime.GOOS == "windows",
	})
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	checker := &access.Checker{
		Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
		Resolver: fsys.NewResolver(),
		Policy:   func() *perm.Policy { return policy },
		Now:      time.Now,
	}
	w, records := &byHand{followed: map[string]bool{}}, state.New(time.Now)
	service := New(Options{Files: checker, Watcher: w, Now: time.Now, LookFor: time.Minute, Notify: func(n ...string) { t.Error(n) }})
	return &bench{t: t, dir: dir, checker: checker, records: records, watcher: w, Conversation: service.NewConversation(records, &perm.GrantSet{})}
}

func (b *bench) put(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// read notes that all of a file was shown, as a Read does.
func (b *bench) read(path string) {
	b.t.Helper()
	t := b.checker.ForReading(path)
	if t == nil || t.Kind != fsys.Regular {
		b.t.Fatalf("%s cannot be read", path)
	}
	defer t.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	f := state.KnownFile{Content: state.NewContent(raw), Stamp: t.Stamp}
	b.records.Put(path, f.Recorded(span.Set{{End: int64(len(raw))}}))
	b.Follow(FoundFile{Path: path, Stamp: t.Stamp})
}

// reminded returns what an answer that is sent says, after files were touched.
func (b *bench) reminded(touched ...string) string {
	b.t.Helper()
	b.watcher.touched = touched
	r := b.Remind(context.Background(), "", math.MaxInt)
	if r == nil {
		return ""
	}
	b.Sent(r)
	return r.Text
}

// A change is reported once, with its lines, and never before the file was touched.
func TestRemind(t *testing.T) {
	b := newBench(t)
	file := b.put("f", "one\n")
	b.read(file)
	if got := b.reminded(); got != "" {
		t.Errorf("%q", got)
	}
	b.put("f", "one\ntwo\n")
	if got := b.reminded(); got != "" {
		t.Errorf("it was not touched: %q", got)
	}
	want := "<system-reminder>The file " + file + " was changed outside of this conversation (8 bytes now). These lines changed since you last saw it " + changes.Form + ".</system-reminder>\n+2\ttwo"
	if got := b.reminded(file, "/some/other/file"); got != want {
		t.Errorf("%q", got)
	}
	if got := b.reminded(file); got != "" {
		t.Errorf("reported again: %q", got)
	}
	b.put("f", "one\n")
	if got := b.reminded(file); !strings.Contains(got, "is again as it was when it was read") {
		t.Errorf("%q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := b.reminded(file); !strings.Contains(got, "was deleted or moved.") {
		t.Errorf("%q", got)
	}
	if got := b.reminded(file); got != "" {
		t.Errorf("reported again: %q", got)
	}
}

// TestReportsAreNaive compares drawn changes, Reads and looks with a model that knows the whole
// text that the conversation saw last, and that of its Read.
func TestReportsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 88))
	large := strings.Repeat("a line of a file that no record keeps as text\n", 6000) // above state.KeepText
	texts := []string{"one\n", "two\n", "one\ntwo\n", "", large + "one\n", large + "two\n"}
	const gone = "(gone)"
	seen := map[string]int{}
	for round := range shortrun.Count(t, 200, 60, "files") {
		b := newBench(t)
		now := texts[r.IntN(len(texts))]
		file := b.put("f", now)
		b.read(file)
		read, known := now, now
		for step := range 30 {
			switch r.IntN(5) {
			case 0:
				if now != gone {
					b.read(file)
					read, known = now, now
				}
			case 1:
				_ = os.Remove(file)
				now = gone
			case 2:
				now = texts[r.IntN(len(texts))]
				b.put("f", now)
			default:
				want := ""
				switch {
				case now == known:
				case now == gone:
					want = "was deleted or moved"
				case now == read:
					want = "is again as it was when it was read"
				default:
					want = "was changed outside"
				}
				if got := b.reminded(file); (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Fatalf("round %d, step %d: %q, want %q", round, step, got, want)
				}
				known = now
				seen[want]++
			}
		}
	}
	if t.Log(seen); len(seen) != 4 {
		t.Error("the comparison says little")
	}
}

// A file that was shown in part is not reported, nor the one that the answer is about.
func TestRemindOfWhatWasShownInFull(t *testing.T) {
	b := newBench(t)
	part, about := b.put("part", "one\n"), b.put("about", "one\n")
	b.read(part)
	b.read(about)
	rec, _ := b.records.Get(part)
	rec.Parts = []state.Part{{Span: span.Span{End: 2}}}
	b.records.Put(part, rec)
	b.Follow(FoundFile{Path: part, Stamp: rec.Stamp})
	b.put("part", "two\n")
	b.put("about", "two\n")
	b.watcher.touched = []string{part, about}
	if r := b.Remind(context.Background(), about, math.MaxInt); r != nil {
		t.Errorf("%q", r.Text)
	}
	if got := b.reminded(); !strings.Contains(got, "about was changed") || strings.Contains(got, "part") {
		t.Errorf("%q", got)
	}
}

// Where the lines find no room the name is reported alone, and where that finds none a
// later answer has it.
func TestRemindWithinItsRoom(t *testing.T) {
	b := newBench(t)
	file := b.put("f", "one\n")
	b.read(file)
	b.put("f", "two\n")
	b.watcher.touched = []string{file}
	if r := b.Remind(context.Background(), "", 20); r != nil {
		t.Errorf("%q", r.Text)
	}
	r := b.Remind(context.Background(), "", 112+len(file)) // room for the name, not for the lines
	if r == nil || !strings.HasSuffix(r.Text, " (4 bytes now).</system-reminder>") {
		t.Fatalf("%+v", r)
	}
	b.Sent(r)
	if rec, _ := b.records.Get(file); b.HasReported(file, rec, func() state.Sum { return sha256.Sum256([]byte("two\n")) }) {
		t.Error("its lines count as reported")
	}
}

// What hooks do to files while they run is the conversation's own doing.
func TestOwnChangesAreNotReported(t *testing.T) {
	b := newBench(t)
	file := b.put("f", "one\n")
	b.read(file)
	first, second := b.OwnChanges(), b.OwnChanges()
	first()
	b.put("f", "two\n")
	second()
	if got := b.reminded(file); got != "" {
		t.Errorf("%q", got)
	}
	time.Sleep(2 * spanGrain)
	b.put("f", "three\n")
	if got := b.reminded(file); !strings.Contains(got, "+1\tthree") {
		t.Errorf("%q", got)
	}
}

// The text of the last files is kept, also of files that are reported again and again.
func TestKeepsLittleText(t *testing.T) {
	b := newBench(t)
	const files = mostTexts + 20
	var names []string
	for i := range files {
		names = append(names, b.put(fmt.Sprint("f", i), "0\n"))
		b.read(names[i])
	}
	for round := range 2 {
		for i, name := range names {
			b.put(fmt.Sprint("f", i), fmt.Sprintf("%d\n", round+1))
			if got := b.reminded(name); !strings.Contains(got, fmt.Sprintf("+1\t%d", round+1)) {
				t.Fatalf("%q", got)
			}
		}
	}
	kept := 0
	for _, f := range b.followed.files {
		if f.reported != nil && f.reported.text != nil {
			kept++
		}
	}
	if kept != mostTexts {
		t.Errorf("the text of %d files is kept", kept)
	}
}

// Where an answer could not wait for the hash of a large file, a later one has it.
func TestHashesALargeFileOnce(t *testing.T) {
	b := newBench(t)
	line := strings.Repeat("x", 99) + "\n"
	file := b.put("f", strings.Repeat(line, 4000))
	b.read(file)
	b.put("f", strings.Repeat(line, 4001))
	time.Sleep(50 * time.Millisecond) // until the stamp proves something
	ctx, giveUp := context.WithCancel(context.Background())
	b.watcher.touched = []string{file}
	if b.Remind(ctx, "", math.MaxInt) == nil {
		t.Fatal("nothing is reported")
	}
	f := b.followed.files[file]
	if f.hashed.Size != 400_100 {
		t.Fatalf("%+v", f)
	}
	giveUp()
	f.sum[0] ^= 1 // which shows whether it is used
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if b.reminded() != "" {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if f = b.followed.files[file]; f.reported == nil || f.reported.sum != f.sum {
		t.Errorf("hashed again: %+v", f.reported)
	}
}

// A file that an answer has called changed or gone is not reported for the same state.
func TestReportedByARefusal(t *testing.T) {
	b := newBench(t)
	file := b.put("f", "one\n")
	b.read(file)
	b.put("f", "two\n")
	rec, _ := b.records.Get(file)
	b.ReportedChange(file, rec, func() state.Sum { return sha256.Sum256([]byte("two\n")) })
	if got := b.reminded(file); got != "" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	b.ReportedGone(file)
	if got := b.reminded(file); got != "" {
		t.Errorf("%q", got)
	}
	b.ReportedChange("/never/shown", state.Record{}, func() state.Sum { t.Error("hashed"); return state.Sum{} })
	b.ReportedGone("/never/shown")
	if got := b.reminded(file); got != "" {
		t.Errorf("%q", got)
	}
}

// Each conversation hears of a change.
func TestEachConversation(t *testing.T) {
	b := newBench(t)
	second := &bench{t: t, dir: b.dir, checker: b.checker, records: state.New(time.Now), watcher: b.watcher}
	second.Conversation = b.service.NewConversation(second.records, &perm.GrantSet{})
	file := b.put("f", "one\n")
	b.read(file)
	second.read(file)
	b.put("f", "two\n")
	if got := b.reminded(file); !strings.Contains(got, "+1\ttwo") {
		t.Errorf("%q", got)
	}
	if got := second.reminded(); !strings.Contains(got, "+1\ttwo") {
		t.Errorf("%q", got)
	}
}

// A diff is of the text as it was last reported, in the charset of the record.
func TestDiffOfALegacyCharset(t *testing.T) {
	b := newBench(t)
	old := "sch\xf6ne Gr\xfc\xdfe an alle\none\n"
	file := b.put("f", old)
	b.read(file)
	doc, err := text.Decode([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	rec, _ := b.records.Get(file)
	rec.Enc = doc.Enc
	b.records.Put(file, rec)
	b.put("f", "sch\xf6n\none\n")
	if got := b.reminded(file); !strings.Contains(got, "-1\tschöne Grüße an alle\n+1\tschön") {
		t.Errorf("%q", got)
	}
}

// BenchmarkRemind is the share of an answer that reminders and hints have, where nothing
// changed, with so many files being followed.
func BenchmarkRemind(b *testing.B) {
	for _, files := range []int{1, 500} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			t := newBench(b)
			var name string
			for i := range files {
				name = t.put(fmt.Sprint("d/f", i), "one\n")
				t.read(name)
			}
			t.reminded()
			tops := []string{t.dir}
			b.ReportAllocs()
			for b.Loop() {
				t.Hint(tops, name)
				t.Remind(context.Background(), name, math.MaxInt)
				t.Follow(FoundFile{Path: name})
			}
		})
	}
}

func TestHint(t *testing.T) {
	deny := perm.RuleText{Text: "Read(d/secret/**)", List: perm.Deny, Source: perm.Source{Name: "test"}}
	b := newBench(t, deny)
	top := []string{b.dir}
	for _, name := range []string{"CLAUDE.md", "d/CLAUDE.md", "d/e/AGENTS.md", "d/.claude/skills/x/SKILL.md", "d/secret/CLAUDE.md", "many/CLAUDE.md"} {
		b.put(name, "text\n")
	}
	for i := range maxHinted {
		b.put(fmt.Sprintf("many/.claude/skills/%d/SKILL.md", i), "text\n")
	}
	in := func(name string) string { return filepath.Join(b.dir, name) }
	b.read(in("d/CLAUDE.md"))
	want := "(Not read yet, and meant for work on files there: " + in("d/e/AGENTS.md") + ", " + in("d/.claude/skills/x/SKILL.md") + ".)"
	if got := b.Hint(top, in("d/e/f")); got != want {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"d/e/f", "d/e/g/f", "f", "d/secret/f"} {
		if got := b.Hint(top, in(name)); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := b.Hint(top, "/elsewhere/f"); got != "" {
		t.Errorf("%q", got)
	}
	if got := b.Hint(top, in("many/f")); !strings.Contains(got, nativetest.Name("many/CLAUDE.md")+", ") || !strings.HasSuffix(got, ", ….)") || strings.Count(got, b.dir) != maxHinted {
		t.Errorf("%q", got)
	}
}

func TestSpeaksToAgents(t *testing.T) {
	for name, want := range map[string]bool{"/a/CLAUDE.md": true, `C:\a\agents.MD`: true, "/a/CLAUDE.md.txt": false, "/a/SKILL.md": false, "": false} {
		if got := SpeaksToAgents("/x", name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
