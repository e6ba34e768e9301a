package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/state"
)

// scripted are hooks that a test plays.
type scripted struct {
	before   func(commit.Edited) ([]hooks.Report, *hooks.Report, error)
	after    func(commit.Edited) []hooks.Report
	reported []commit.Edited
}

func (s *scripted) Wanted([]string) (before, after bool) { return s.before != nil, s.after != nil }

func (s *scripted) Before(_ context.Context, e commit.Edited) ([]hooks.Report, *hooks.Report, error) {
	s.reported = append(s.reported, e)
	return s.before(e)
}

func (s *scripted) After(_ context.Context, e commit.Edited) []hooks.Report {
	s.reported = append(s.reported, e)
	return s.after(e)
}

// hooked is a bench with hooks.
func hooked(t testing.TB, rules ...perm.RuleText) (*bench, *scripted) {
	b, s := newBench(t, rules...), &scripted{}
	b.with(func(o *Options) { o.Hooks = s })
	return b, s
}

// rewrites are hooks that change the file as a formatter does.
func rewrites(t testing.TB, change func(string) string) func(commit.Edited) []hooks.Report {
	return func(e commit.Edited) []hooks.Report {
		path := e.Names[len(e.Names)-1]
		raw, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(raw))), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
		return nil
	}
}

// shownOf returns the text that counts as shown of a file as it is now.
func (b *bench) shownOf(path string) (shown string, whole bool) {
	b.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	rec, ok := b.call.Session.Files.Get(path)
	if !ok {
		return "", false
	}
	var s strings.Builder
	for _, span := range rec.Shown() {
		s.Write(raw[span.Start:span.End])
	}
	return s.String(), len(rec.Shown().Missing(int64(len(raw)))) == 0
}

func TestAFormatterIsTakenUp(t *testing.T) {
	b, s := hooked(t)
	s.after = rewrites(t, func(text string) string { return strings.ReplaceAll(text, " =", " :=") })
	p := b.put("a.txt", "one := 1\ntwo := 2\nthree := 3\n")
	b.ok(&ReadArgs{FilePath: p})
	for i := range 10 { // ten edits in a row need no further Read
		got := b.ok(&EditArgs{FilePath: p, OldString: fmt.Sprintf("two := %d", 2+i), NewString: fmt.Sprintf("two = %d", 3+i)})
		holds(t, got, "The user's hooks changed the file after this", fmt.Sprintf("-2\ttwo = %d\n+2\ttwo := %d", 3+i, 3+i))
	}
	b.want("a.txt", "one := 1\ntwo := 12\nthree := 3\n")
	r := b.run(&EditArgs{FilePath: p, OldString: "one := 1", NewString: "one = 1"})
	if r.Facts.Hash != sumOfText("one := 1\ntwo := 12\nthree := 3\n") || *r.Facts.Size != 30 {
		t.Errorf("%v", r.Facts)
	}
	// A formatter that finds nothing to do is not mentioned.
	s.after = func(commit.Edited) []hooks.Report { return nil }
	if got := b.ok(&EditArgs{FilePath: p, OldString: "one := 1", NewString: "one := 7"}); strings.Contains(got, "hook") {
		t.Errorf("%s", got)
	}
	b.ok(&EditArgs{FilePath: p, OldString: "one := 7", NewString: "one := 8"})
}

// A hook may bring a file into UTF-8. What is edited next must not be written in
// the old charset: two of them in one file are a torn file.
func TestAHookThatRecodesIsNotWrittenOver(t *testing.T) {
	const recoded = "schöne Grüße an alle\none\n"
	b, s := hooked(t)
	s.after = rewrites(t, func(string) string { return recoded })
	p := b.put("a.txt", "sch\xf6ne Gr\xfc\xdfe an alle\none\n")
	b.ok(&ReadArgs{FilePath: p})
	got := b.ok(&EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	holds(t, got, "The user's hooks changed the file after this, more than can be shown")
	s.after = func(commit.Edited) []hooks.Report { return nil }
	edit := &EditArgs{FilePath: p, OldString: "one", NewString: "größer"}
	b.fails(6, refusal.SlugPartlyRead, edit) // which shows it in its new charset
	b.ok(edit)
	b.want("a.txt", strings.Replace(recoded, "one", "größer", 1))
}

// The control arm of the above: the same rewriting by another program costs a refusal
// for each edit.
func TestWithoutTakingUpEachEditIsRefused(t *testing.T) {
	b := newBench(t)
	p := b.put("a.txt", "one := 1\ntwo := 2\n")
	b.ok(&ReadArgs{FilePath: p})
	b.ok(&EditArgs{FilePath: p, OldString: "two := 2", NewString: "two = 3"})
	b.put("a.txt", "one := 1\ntwo := 3\n")
	b.fails(7, refusal.SlugModified, &EditArgs{FilePath: p, OldString: "two := 3", NewString: "two = 4"})
}

// Of a long change the first lines are shown, and count; the others do not, and the
// next edit of them is refused with those lines.
func TestALongChangeIsShownInPart(t *testing.T) {
	b, s := hooked(t)
	s.after = rewrites(t, strings.ToUpper)
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %c%d\n", 'a'+i%26, i)
	}
	p := b.path("a.txt")
	got := b.ok(&WriteArgs{FilePath: p, Content: text.String()})
	holds(t, got, "-60\tline h59\n… (140 more changed lines, which count as not shown)")
	if shown, _ := b.shownOf(p); shown != "" {
		t.Errorf("shown: %q", shown)
	}
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "LINE T97", NewString: "x"})
	b.ok(&EditArgs{FilePath: p, OldString: "LINE T97", NewString: "X"})
}

// An answer that never left has shown nothing of what the formatter did.
func TestUnsentFormattingIsNotShown(t *testing.T) {
	b, s := hooked(t)
	s.after = rewrites(t, func(text string) string { return text + "added\n" })
	p := b.path("a.txt")
	b.unsent(&WriteArgs{FilePath: p, Content: "one\n"})
	if shown, whole := b.shownOf(p); shown != "one\n" || whole {
		t.Errorf("%q", shown)
	}
	s.after = nil
	b.fails(6, refusal.SlugPartlyRead, &EditArgs{FilePath: p, OldString: "added", NewString: "x"})
	b.ok(&EditArgs{FilePath: p, OldString: "added", NewString: "x"})
}

// A random walk: whatever a hook makes of a file, what counts as shown are lines
// that the caller has sent or was shown, and all of them where nothing was cut.
func TestNothingUnseenCountsAsShown(t *testing.T) {
	for seed := range uint64(shortrun.Count(t, 60, 15, "seeds")) {
		rng := rand.New(rand.NewPCG(seed, 7))
		b, s := hooked(t)
		next := 0
		line := func() string { next++; return fmt.Sprintf("%d-%d\n", next, rng.IntN(1000)) }
		lines := func(n int) (out []string) {
			for range n {
				out = append(out, line())
			}
			return out
		}
		s.after = rewrites(t, func(text string) string {
			old := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
			var out []string
			for _, l := range old {
				l = strings.TrimSuffix(l, "\n") + "\n"
				switch rng.IntN(12) {
				case 0: // gone
				case 1:
					out = append(out, "changed "+l)
				case 2:
					out = append(append(out, l), lines(1+rng.IntN(4))...)
				case 3:
					out = append(out, l, l)
				default:
					out = append(out, l)
				}
			}
			text = strings.Join(out, "")
			if rng.IntN(4) == 0 {
				text = strings.TrimSuffix(text, "\n")
			}
			return text
		})
		p := b.path("a.txt")
		known := map[string]bool{}
		learn := func(text string) {
			for l := range strings.Lines(text) {
				known[strings.TrimSuffix(l, "\n")] = true
			}
		}
		for range 6 {
			sent := strings.Join(lines(1+rng.IntN(80)), "")
			learn(sent)
			os.Remove(p)
			b.call.Session.Files.Forget(p)
			answer := b.ok(&WriteArgs{FilePath: p, Content: sent})
			_, diff, _ := strings.Cut(answer, "is there now):\n")
			for l := range strings.Lines(diff) {
				if n, l, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "\t"); ok && n[0] == '+' {
					known[l] = true
				}
			}
			shown, whole := b.shownOf(p)
			for l := range strings.Lines(shown) {
				if !known[strings.TrimSuffix(l, "\n")] {
					t.Fatalf("seed %d: %q counts as shown and never was:\n%s", seed, l, answer)
				}
			}
			if cut := strings.Contains(diff, "count as not shown"); cut == whole {
				t.Fatalf("seed %d: the diff is cut: %v, all is shown: %v\n%s", seed, cut, whole, answer)
			}
		}
	}
}

func TestFormattersOfOtherEncodings(t *testing.T) {
	for _, c := range []struct {
		name, raw, old, new string
		change              func(string) string
		want                string // in the answer
		whole               bool
	}{
		{name: "windows-1252", raw: "caf\xe9 au lait, d\xe9j\xe0 vu, gar\xe7on, \xe0 bient\xf4t\nx=1\n", old: "x=1", new: "x=2", change: func(s string) string { return strings.ReplaceAll(s, "caf\xe9", "CAF\xc9") }, want: "+1\tCAFÉ au lait", whole: true},
		{name: "windows-1252 with little left", raw: "d\xe9j\xe0 vu caf\xe9 gar\xe7on \xe0 bient\xf4t\nx=1\n", old: "x=1", new: "x2", change: func(s string) string { return "\xe9\nx2 =\n" }, want: "+1\té\n+2\tx2 =", whole: true},
		{name: "UTF-16", raw: "\xff\xfea\x00\n\x00b\x00\n\x00", old: "b", new: "c", change: func(s string) string { return strings.ReplaceAll(s, "a\x00", "\xfc\x00") }, want: "+1\tü", whole: true},
		{name: "UTF-16 to UTF-8", raw: "\xff\xfea\x00\n\x00b\x00\n\x00", old: "b", new: "c", change: func(string) string { return "a\nc\n" }, want: "more than can be shown", whole: false},
		{name: "a mark is added", raw: "a\nb\n", old: "b", new: "c", change: func(s string) string { return "\xef\xbb\xbf" + s }, want: "more than can be shown", whole: false},
		{name: "CRLF to LF", raw: "a\r\nb\r\n", old: "b", new: "c", change: func(s string) string { return strings.ReplaceAll(s, "\r", "") }, want: "(Lines that look the same here differ in their line ending.)", whole: true},
		{name: "CR kept", raw: "a\rb\r", old: "b", new: "c", change: func(s string) string { return strings.ReplaceAll(s, "a", "A") }, want: "-1\ta\n+1\tA", whole: true},
		{name: "CR to LF", raw: "a\rb\r", old: "b", new: "c", change: func(s string) string { return strings.ReplaceAll(s, "\r", "\n") }, want: "-1\ta\n-2\tc\n+1\ta\n+2\tc", whole: true},
		{name: "LF to CR", raw: "a\nb\n", old: "b", new: "c", change: func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }, want: "+2\tc", whole: true},
		{name: "no newline at the end", raw: "a\nb\n", old: "b", new: "c", change: func(s string) string { return strings.TrimSuffix(s, "\n") }, want: "+2\tc", whole: true},
		{name: "stray bytes", raw: "a\nb\n", old: "b", new: "c", change: func(s string) string { return s + "\xff\xfe odd\n" }, want: `+3	\xFF\xFE odd`, whole: true},
		{name: "emptied", raw: "a\nb\n", old: "b", new: "c", change: func(string) string { return "" }, want: "-1\ta\n-2\tc", whole: true},
	} {
		b, s := hooked(t)
		s.after = rewrites(t, c.change)
		p := b.put("a.txt", c.raw)
		b.ok(&ReadArgs{FilePath: p})
		holds(t, b.ok(&EditArgs{FilePath: p, OldString: c.old, NewString: c.new}), c.want)
		if shown, whole := b.shownOf(p); whole != c.whole {
			t.Errorf("%s: shown %q", c.name, shown)
		}
		s.after = nil
		raw, _ := os.ReadFile(p)
		if c.whole && len(raw) > 0 { // the record reads the bytes as before
			b.ok(&EditArgs{FilePath: p, OldString: c.new, NewString: "y"})
		}
	}
	b, s := hooked(t)
	s.after = rewrites(t, func(string) string { return "a\x00b" })
	p := b.path("a.txt")
	holds(t, b.ok(&WriteArgs{FilePath: p, Content: "a\n"}), "no text any more")
	b.fails(18, refusal.SlugBinary, &EditArgs{FilePath: p, OldString: "a", NewString: "b"})
}

// The file may be anything once hooks have run. Nothing of what is not the file, or
// may not be looked at, is told.
func TestAfterHooksTheFileIsSomethingElse(t *testing.T) {
	b, s := hooked(t, perm.RuleText{Text: "Read(secret.txt)", List: perm.Deny, Source: perm.Source{Name: "test"}})
	secret := b.put("secret.txt", "canary\n")
	other := b.put("other.txt", "someone else's\n")
	replaced := func(do func(path string) error) func(commit.Edited) []hooks.Report {
		return func(e commit.Edited) []hooks.Report {
			p := e.Names[len(e.Names)-1]
			if err := errors.Join(os.Remove(p), do(p)); err != nil {
				t.Error(err)
			}
			return nil
		}
	}
	for _, c := range []struct {
		name string
		do   func(path string) error
		want string
	}{
		{"deleted", func(string) error { return nil }, "is not there any more"},
		{"a link to what is denied", func(p string) error { return os.Symlink(secret, p) }, "cannot be looked at"},
		{"a hard link to what is denied", func(p string) error { return os.Link(secret, p) }, "cannot be looked at"},
		{"a link to another file", func(p string) error { return os.Symlink(other, p) }, "something else stands"},
		{"a link to nothing", func(p string) error { return os.Symlink(b.path("nothing"), p) }, "is not there any more"},
		{"a link in a circle", func(p string) error { return os.Symlink(p, p) }, "cannot be looked at"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o755) }, "something else stands"},
	} {
		if nativetest.Windows && strings.HasPrefix(c.name, "a link") {
			continue // Windows makes no symbolic link without a privilege, Wine makes none that is one
		}
		s.after = replaced(c.do)
		p := b.path("a.txt")
		os.RemoveAll(p)
		r := b.run(&WriteArgs{FilePath: p, Content: "mine\n"})
		got := r.Blocks[0].Text
		holds(t, got, c.want)
		if r.IsError || r.Facts.Size != nil || r.Facts.Hash != (state.Sum{}) {
			t.Errorf("%s: %s with the facts %+v", c.name, got, r.Facts)
		}
		if strings.Contains(got, "canary") || strings.Contains(got, "someone") || strings.Contains(got, "secret") {
			t.Errorf("%s: %s", c.name, got)
		}
		if _, known := b.call.Session.Files.Get(p); known {
			t.Errorf("%s: it counts as shown", c.name)
		}
		if b.run(&EditArgs{FilePath: p, OldString: "canary", NewString: "x"}).IsError == false {
			t.Errorf("%s: edited", c.name)
		}
	}
	if raw, _ := os.ReadFile(secret); string(raw) != "canary\n" {
		t.Errorf("%q", raw)
	}
}

func TestHooksBefore(t *testing.T) {
	b, s := hooked(t)
	p := b.put("a.txt", "one\n")
	b.ok(&ReadArgs{FilePath: p})
	edit := func(old, new string) Args { return &EditArgs{FilePath: p, OldString: old, NewString: new} }

	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) {
		return nil, &hooks.Report{Hook: hooks.Hook{Command: []string{"guard", "-x"}}, Why: "refused", Ending: hooks.Refused, Said: "not\there \x1b[31m<system-reminder>\n"}, nil
	}
	holds(t, b.fails(15, refusal.SlugHook, edit("one", "two")), p, `"guard -x" refused`, `not    here \x1b[31m&lt;system-reminder>`, "refused again")
	b.want("a.txt", "one\n")
	if e := s.reported[0]; e.Tool != "Edit" || e.Session != b.call.Session.ID || e.Names[len(e.Names)-1] != p || e.Old != nil {
		t.Errorf("%+v", e)
	}

	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) {
		return nil, &hooks.Report{Hook: hooks.Hook{Command: []string{"guard"}}, Why: "did not end within 2s"}, nil
	}
	holds(t, b.fails(15, refusal.SlugHook, edit("one", "two")), "did not end within 2s", "same call again")
	b.want("a.txt", "one\n")

	gaveUp := context.Canceled
	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) { return nil, nil, gaveUp }
	b.fails(16, refusal.SlugBusy, edit("one", "two"))
	b.want("a.txt", "one\n")

	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) {
		return []hooks.Report{{Hook: hooks.Hook{Command: []string{"guard"}}, Why: "failed (exit status 1)", Said: "oh\n"}}, nil, nil
	}
	holds(t, b.ok(edit("one", "two")), `(The user's hook "guard" failed (exit status 1). The change stands. It said:)`+"\noh")
	b.want("a.txt", "two\n")

	// What a hook changes before the change is told like any change, and not lost: the call
	// is planned again on it.
	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) {
		b.put("a.txt", "two\nlicence\n")
		return nil, nil, nil
	}
	holds(t, b.ok(edit("two", "three")), "+2\tlicence")
	b.want("a.txt", "three\nlicence\n")
	b.fails(7, refusal.SlugModified, edit("three", "four")) // the hook took it away
	b.want("a.txt", "two\nlicence\n")
}

// Hooks come after everything that refuses a call by itself, and not at all where
// nothing is changed.
func TestHooksDoNotRunForUnmadeChanges(t *testing.T) {
	b, s := hooked(t, perm.RuleText{Text: "Edit(denied.txt)", List: perm.Deny, Source: perm.Source{Name: "test"}})
	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) { return nil, nil, nil }
	s.after = func(commit.Edited) []hooks.Report { return nil }
	p := b.put("a.txt", "one\n")
	b.put("denied.txt", "x\n")
	b.fails(1, refusal.SlugDenied, &WriteArgs{FilePath: b.path("denied.txt"), Content: "y"})
	b.fails(2, refusal.SlugNotRead, &WriteArgs{FilePath: p, Content: "y"})
	b.ok(&ReadArgs{FilePath: p})
	b.fails(8, refusal.SlugNoMatch, &EditArgs{FilePath: p, OldString: "three", NewString: "y"})
	b.ok(&WriteArgs{FilePath: p, Content: "one\n"}) // has this content already
	b.fails(9, refusal.SlugIsDirectory, &WriteArgs{FilePath: b.dir, Content: "y"})
	if len(s.reported) > 0 {
		t.Errorf("%+v", s.reported)
	}
	b.ok(&WriteArgs{FilePath: p, Content: "two\n"})
	if len(s.reported) != 2 {
		t.Errorf("%+v", s.reported)
	}
}

// All names of a file are told, since a glob may be for any of them.
func TestHooksKnowAllNames(t *testing.T) {
	nativetest.NeedSymlinks(t)
	b, s := hooked(t)
	s.after = func(commit.Edited) []hooks.Report { return nil }
	p := b.put("sub.txt", "one\n")
	link := b.path("link.txt")
	if err := os.Symlink(p, link); err != nil {
		t.Fatal(err)
	}
	b.ok(&ReadArgs{FilePath: link})
	b.ok(&EditArgs{FilePath: link, OldString: "one", NewString: "two"})
	if n := s.reported[0].Names; n[0] != link || n[len(n)-1] != p {
		t.Errorf("%q", n)
	}
}

func TestAfterHooksThatFail(t *testing.T) {
	b, s := hooked(t)
	s.after = func(commit.Edited) []hooks.Report {
		return []hooks.Report{{Hook: hooks.Hook{Command: []string{"fmt"}}, Why: "failed (exit status 2)", Said: strings.Repeat("word\n", 5000)}, {Hook: hooks.Hook{Command: []string{"lint"}}, Why: "did not end within 1s", Said: strings.Repeat("x", 5000)}}
	}
	got := b.ok(&WriteArgs{FilePath: b.path("a.txt"), Content: "one\n"})
	holds(t, got, `hook "fmt" failed (exit status 2). The change stands.`, `hook "lint" did not end within 1s. The change stands.`, "word\n…")
	if len(got) > 2*refusal.FaultRoom {
		t.Errorf("%d bytes", len(got))
	}
	b.want("a.txt", "one\n")
}

// keeps is a history that keeps all but what is named secret.
func keeps(t testing.TB) *history.Store {
	dir := t.TempDir()
	return history.New(history.Options{
		Dir:      func(context.Context) (string, error) { return dir, nil },
		Settings: func() history.Settings { return history.Settings{Required: true, MaxSize: 1 << 30, MaxAge: 1 << 50} },
		Secret:   func(names []string) bool { return filepath.Base(names[len(names)-1]) == ".env" },
	})
}

func TestHooksAreShownTheOldBytes(t *testing.T) {
	b, s := hooked(t)
	store := keeps(t)
	defer store.Close()
	b.with(func(o *Options) { o.History = store })
	s.after = func(commit.Edited) []hooks.Report { return nil }
	p := b.path("a.txt")
	b.ok(&WriteArgs{FilePath: p, Content: ""})
	b.ok(&EditArgs{FilePath: p, OldString: "", NewString: "one\n"})
	b.ok(&EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	b.ok(&WriteArgs{FilePath: p, Content: "three\n"})
	env := b.put(".env", "KEY=canary\n")
	b.ok(&ReadArgs{FilePath: env})
	b.ok(&EditArgs{FilePath: env, OldString: "KEY", NewString: "K"})
	var got []string
	for _, e := range s.reported {
		if e.Old == nil {
			got = append(got, "none")
		} else {
			got = append(got, fmt.Sprintf("%q", e.Old))
		}
	}
	if want := `none "" "one\n" "two\n" none`; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// listing is a history that only lists what it is given, and may be full.
type listing struct {
	kept []history.PendingChange
	full error
}

func (l *listing) Keep(_ context.Context, c history.PendingChange) (*history.Mark, error) {
	if l.kept = append(l.kept, c); len(l.kept)%2 == 0 && l.full != nil { // only what hooks did
		return nil, l.full
	}
	return nil, nil
}

func (l *listing) Secret([]string) bool { return false }

// The history gets what a formatter did as a change on top of the call's.
func TestWhatHooksDidIsKept(t *testing.T) {
	b, s := hooked(t)
	l := &listing{}
	b.with(func(o *Options) { o.History = l })
	s.after = rewrites(t, strings.ToUpper)
	p := b.path("a.txt")
	b.ok(&WriteArgs{FilePath: p, Content: "one\n"})
	k := l.kept[1]
	old := make([]byte, k.Size)
	if _, err := k.Old.ReadAt(old, 0); err != nil || len(l.kept) != 2 {
		t.Fatal(err)
	}
	if k.Tool != history.ToolHook || string(old) != "one\n" || state.Sum(*k.Was) != sumOfText("one\n") || state.Sum(*k.Is) != sumOfText("ONE\n") || string(k.Splices[0].New) != "ONE\n" || k.Splices[0].End != 4 || k.Names[len(k.Names)-1] != p {
		t.Errorf("%+v", k)
	}
	// The change is made, and stands, where that cannot be kept.
	l.full = errors.New("no space left on device")
	holds(t, b.ok(&EditArgs{FilePath: p, OldString: "ONE", NewString: "two"}), "could not be kept in fsmcp's history: no space left")
	b.want("a.txt", "TWO\n")
}

// A restore is the user's own doing, and no tool's.
func TestNoHooksForARestore(t *testing.T) {
	b, s := hooked(t)
	s.before = func(commit.Edited) ([]hooks.Report, *hooks.Report, error) {
		return nil, &hooks.Report{Ending: hooks.Refused}, nil
	}
	s.after = func(commit.Edited) []hooks.Report { return nil }
	p := b.put("a.txt", "one\n")
	r, err := b.service.Restore(t.Context(), Restoring{Path: p, ID: "x-1", Plan: removing})
	if err != nil || r == nil || len(s.reported) > 0 {
		t.Errorf("%v, %v", s.reported, err)
	}
}

// A client that gives a call up does not stop a formatter halfway, and what it did
// is taken up all the same.
func TestAfterHooksOutliveTheCall(t *testing.T) {
	b, s := hooked(t)
	ctx, cancel := context.WithCancel(t.Context())
	over := false
	s.after = func(e commit.Edited) []hooks.Report {
		cancel()
		return rewrites(t, strings.ToUpper)(e)
	}
	b.with(func(o *Options) { o.Hooks = &watched{s, func(ctx context.Context) { over = ctx.Err() != nil }} })
	p := b.path("a.txt")
	r := b.service.Tools()[1].Run(ctx, b.call, &WriteArgs{FilePath: p, Content: "one\n"})
	if r.IsError || over {
		t.Errorf("%s; the formatter was told to stop: %v", r.Blocks[0].Text, over)
	}
	if rec, ok := b.call.Session.Files.Get(p); !ok || string(rec.Text) != "ONE\n" {
		t.Error("what it did was not taken up")
	}
}

// watched looks at the context that hooks get once they have run.
type watched struct {
	*scripted
	look func(context.Context)
}

func (w *watched) After(ctx context.Context, e commit.Edited) []hooks.Report {
	defer w.look(ctx)
	return w.scripted.After(ctx, e)
}

func TestFormattersOfNotebooks(t *testing.T) {
	b, s := hooked(t)
	s.after = rewrites(t, func(text string) string {
		return strings.Replace(text, `"metadata": {}, "nbformat"`, `"metadata": {"tidy": true},`+"\n"+`"nbformat"`, 1)
	})
	p := b.put("a.ipynb", `{"cells": [`+"\n"+`{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": "one"}`+"\n"+`], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`+"\n")
	b.ok(&ReadArgs{FilePath: p})
	source := func(s string) *NotebookEditArgs {
		return &NotebookEditArgs{NotebookPath: p, CellID: "a", NewSource: &s, EditMode: modeReplace}
	}
	holds(t, b.ok(source("two")), "-3\t], \"metadata\": {}", "+3\t], \"metadata\": {\"tidy\": true},", "+4\t\"nbformat\"")
	for i := range 3 {
		b.ok(source(fmt.Sprint("three", i)))
	}
}

// A file that is not held in memory is not compared; what was shown of it is
// looked at by its parts as ever.
func TestHooksOfABigFile(t *testing.T) {
	shortrun.Skip(t, "it takes large files")
	b, s := hooked(t)
	p := b.bigLog("big.log", largeLog())
	first, few := 10, 3
	b.ok(&ReadArgs{FilePath: p, Offset: &first, Limit: &few})
	s.after = func(commit.Edited) []hooks.Report { return nil }
	if got := b.ok(&EditArgs{FilePath: p, OldString: "00000011 x", NewString: "00000011 y"}); strings.Contains(got, "hook") {
		t.Errorf("%s", got)
	}
	s.after = func(commit.Edited) []hooks.Report {
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		f.WriteAt([]byte("CHANGED"), 9*100)
		return nil
	}
	holds(t, b.ok(&EditArgs{FilePath: p, OldString: "00000011 y", NewString: "00000011 z"}), "too large to show")
	b.fails(7, refusal.SlugModified, &EditArgs{FilePath: p, OldString: "00000010 x", NewString: "y"})
}

// A file that hooks have made too large to be read again has the size that the answer names.
func TestHooksThatMakeAFileTooLarge(t *testing.T) {
	b, s := hooked(t)
	for name, size := range map[string]int64{"just.txt": state.InMemory + 1, "far.txt": 3 * state.InMemory} {
		p := b.path(name)
		s.after = func(commit.Edited) []hooks.Report {
			if err := os.Truncate(p, size); err != nil { // a hole, which takes no room
				t.Error(err)
			}
			return nil
		}
		r := b.run(&WriteArgs{FilePath: p, Content: "a\n"})
		holds(t, r.Blocks[0].Text, fmt.Sprintf("it has %s now", phrase.Bytes(size)))
		if f := r.Facts; r.IsError || f.Size == nil || *f.Size != size || f.Hash != (state.Sum{}) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Of large texts only the bounds of what differs are looked for.
func TestLargeTextsDiffer(t *testing.T) {
	b, s := hooked(t)
	var text strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&text, "line %d of many\n", i)
	}
	p := b.path("a.txt")
	s.after = rewrites(t, func(text string) string {
		return strings.Replace(strings.Replace(text, "line 1000 ", "LINE 1000 ", 1), "line 1009 ", "line 1009  ", 1)
	})
	got := b.ok(&WriteArgs{FilePath: p, Content: text.String()})
	holds(t, got, "-1001\tline 1000 of many\n", "-1010\tline 1009 of many\n+1001\tLINE 1000 of many\n", "+1010\tline 1009  of many")
	if _, whole := b.shownOf(p); !whole {
		t.Error("not all of it counts as shown")
	}
}

func sumOfText(s string) state.Sum { return sha256.Sum256([]byte(s)) }

func removing(context.Context, *fsys.File) (history.Plan, error) {
	return history.Plan{Remove: true}, nil
}
