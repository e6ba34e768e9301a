//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// belowTraces are all that a call on a folder leaves for a caller or a user to see, and the
// work that it did.
type belowTraces struct {
	answer, audit, hooks, history string
	looks                         int
}

// traceBelow makes a call on the folder f, whose subfolder holds files with these texts, and
// which a rule denies unless the control arm is wanted.
func traceBelow(t *testing.T, tool string, a func(p place) args, texts []string, deny string) belowTraces {
	t.Helper()
	p := newPlace(t)
	hooked, audit := filepath.Join(p.home, "hooked"), filepath.Join(p.home, "audit.jsonl")
	glob := "**"
	if deny == "" {
		glob = "a.txt" // a call with hooks of more than 100 files is refused
	}
	p.settings(t, fmt.Sprintf(`{"audit": {"file": %q}, "hooks": {"beforeFileEdited": [{"glob": %q, "command": ["sh", "-c", "cat >> \"$0\"", %q]}]}}`, audit, glob, hooked))
	must(t, os.MkdirAll(p.file("f/vault/deep"), 0o755))
	for i, text := range texts {
		must(t, os.WriteFile(p.file(fmt.Sprintf("f/vault/deep/%d.txt", i)), []byte(text), 0o640))
	}
	for _, name := range []string{"f/a.txt", "f/z.txt"} {
		must(t, os.WriteFile(p.file(name), []byte("harmless\n"), 0o640))
	}
	c := p.start(t, "FSMCP_TOOLS=all", "FSMCP_DENY="+deny)
	mustCall(t, c, "Read", args{"file_path": p.file("f/a.txt")})
	follower := cut(t, c.PID(), 0)
	res, err := c.Call(tool, a(p))
	must(t, err)
	c.Kill()
	follower.end()
	for i, text := range texts {
		if got, err := os.ReadFile(p.file(fmt.Sprintf("f/vault/deep/%d.txt", i))); deny != "" && (err != nil || string(got) != text) {
			t.Errorf("%s: a denied file was changed: %q, %v", tool, got, err)
		}
	}
	list, _, err := p.run(t, "history", "list", "--all")
	must(t, err)
	plain := func(b []byte) string {
		text := strings.ReplaceAll(string(b), filepath.Dir(p.ws), "")
		return volatile.ReplaceAllString(text, "*")
	}
	said, _ := os.ReadFile(audit)
	ran, _ := os.ReadFile(hooked)
	return belowTraces{plain(res.Raw), plain(said), plain(ran), plain(list), follower.looks}
}

// volatile are times, ids and process numbers.
var volatile = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?|g[a-z2-7]{12}|"(session|call|pid|ms|duration[A-Za-z]*)":("[^"]*"|[0-9.]+)|[a-z2-7]{8}-[0-9]+`)

// apart is the number of system calls by which the work of two calls may differ: what the server
// does beside them counts as well. To look at each of the denied files once would be twice as
// many.
const apart = 200

// TestDeniedBelowTellsNothing moves, copies and deletes a folder, or all below it, with a denied
// folder in it: of one small file, of many, and of large ones. Nothing differs but in the control
// arm without the rule: not the answer with its facts, nor the audit, the input of hooks, the
// history, and the number of system calls that look at files.
func TestDeniedBelowTellsNothing(t *testing.T) {
	needStrace(t)
	small := []string{"SECRET\n"}
	many := slices.Repeat([]string{"SECRET " + strings.Repeat("x", 10_000)}, 2*apart)
	all := map[string]struct {
		tool string
		args func(p place) args
	}{
		"move":     {"Move", func(p place) args { return args{"from": p.file("f"), "to": p.file("g")} }},
		"delete":   {"Delete", func(p place) args { return args{"paths": []string{p.file("f")}, "recursive": true} }},
		"move all": {"Move", func(p place) args { return args{"from": p.file("f/**/*.txt"), "to": p.file("g/")} }},
		"copy all": {"Move", func(p place) args { return args{"from": p.file("f/**/*.txt"), "to": p.file("g/"), "copy": true} }},
	}
	for name, c := range all {
		short := count(t, "FSMCP_CUTS", 1) == 1
		if short && name != "copy all" {
			continue // make faults makes them, too
		}
		by := func(texts []string, deny string) func() belowTraces {
			return func() belowTraces { return traceBelow(t, c.tool, c.args, texts, deny) }
		}
		one, two := by(small, "Read(f/vault/**)")(), by(many, "Read(f/vault/**)")()
		work := two.looks - one.looks
		for range 3 { // what the server does at the same time differs on a busy machine, denied files or not
			if max(work, -work) <= apart {
				break
			}
			one, two = by(small, "Read(f/vault/**)")(), by(many, "Read(f/vault/**)")()
			work = two.looks - one.looks
		}
		one.looks, two.looks = 0, 0
		if max(work, -work) > apart {
			t.Errorf("%s: %d more system calls look at files beside many denied ones", name, work)
		}
		if one != two {
			t.Errorf("%s: beside one small denied file\n%+v\nbeside many\n%+v", name, one, two)
		}
		for _, text := range []string{two.answer, two.audit, two.hooks, two.history} {
			if strings.Contains(text, "SECRET") || strings.Contains(text, "deep") || strings.Contains(text, "vault") {
				t.Errorf("%s: it tells of the denied folder: %s", name, text)
			}
		}
		if short || !strings.HasSuffix(name, "all") {
			report(t, "%s: the same in answer, audit, hooks and history, and %d system calls more that look at files", name, work)
			continue // it is refused as a whole, or the control arm is left to make faults
		}
		free := by(many, "")().looks - by(small, "")().looks
		if max(free, -free) <= apart {
			t.Errorf("%s: the control arm without the rule does the same work: %d system calls more", name, free)
		}
		report(t, "%s: the same in answer, audit, hooks and history, and %d system calls more that look at files; without the rule %d more", name, work, free)
	}
}

// deleteRace has a name change between a folder with files, or a file, and a link to a folder
// outside, while deletes go on.
type deleteRace struct {
	*swapped
	deletes, refusals int
}

// fill makes again what was deleted.
func (r *deleteRace) fill(dir string) {
	os.MkdirAll(dir, 0o755)
	for i := range 4 {
		name := filepath.Join(dir, fmt.Sprintf("f%d.txt", i))
		if f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			f.Write([]byte("inside 0\n"))
			f.Close()
		}
	}
}

// outsideLost returns how many of the files outside are gone, and makes them again.
func (s *swapped) outsideLost() (lost int) {
	for i := range 4 {
		name := filepath.Join(s.outside, fmt.Sprintf("f%d.txt", i))
		if b, err := os.ReadFile(name); err != nil || !bytes.Equal(b, []byte(secret+"\n")) {
			lost++
		}
	}
	return lost
}

// TestDeleteInASwapRace deletes a folder with all it holds, and files in it, while its name and
// that of a link to a folder outside change places. Nothing outside is ever deleted.
func TestDeleteInASwapRace(t *testing.T) {
	seconds := count(t, "FSMCP_SWAP_SECONDS", 1)
	r := &deleteRace{swapped: startSwapping(t)}
	c := r.p.start(t, "FSMCP_TOOLS=all", "FSMCP_DURABILITY=none")
	spare := r.p.file("spare")
	notRun := func() bool { return r.deletes == 0 || r.refusals == 0 }
	for begin := time.Now(); time.Since(begin) < time.Duration(seconds)*time.Second || notRun() && time.Since(begin) < time.Minute; {
		for _, a := range []args{
			{"paths": []string{r.p.file("d/f0.txt")}},
			{"paths": []string{r.p.file("d/*.txt")}},
			{"paths": []string{r.p.file("d")}, "recursive": true},
			{"paths": []string{r.p.file("l")}, "recursive": true},
		} {
			res, err := c.Call("Delete", a)
			must(t, err)
			if res.IsError {
				r.refusals++
			} else {
				r.deletes++
			}
			if strings.Contains(res.Text, secret) {
				t.Fatalf("it shows what is outside: %s", res.Text)
			}
			// Whichever of both names is free is made again.
			if r.fill(spare); unix.Renameat2(unix.AT_FDCWD, spare, unix.AT_FDCWD, r.p.file("d"), unix.RENAME_NOREPLACE) != nil {
				os.RemoveAll(spare)
			}
			os.Symlink(r.outside, r.p.file("l"))
		}
	}
	must(t, c.Close())
	r.stop.Store(true)
	<-r.done
	if lost := r.outsideLost(); lost > 0 {
		t.Errorf("%d files outside were deleted or changed", lost)
	}
	if notRun() {
		t.Errorf("%d deletes, %d refusals: the race was not run", r.deletes, r.refusals)
	}
	report(t, "%d s, %d swaps: %d deletes inside, %d refused; 0 outside", seconds, r.swaps.Load(), r.deletes, r.refusals)
}

// TestNaiveDeleteLeavesTheWorkspace is the control arm: a program that looks whether the name is
// of a folder, and then deletes what that holds by names, deletes outside.
func TestNaiveDeleteLeavesTheWorkspace(t *testing.T) {
	s := startSwapping(t)
	tries, lost := 0, 0
	for begin := time.Now(); lost == 0 && time.Since(begin) < time.Minute; tries++ {
		for _, top := range []string{s.p.file("d"), s.p.file("l")} {
			info, err := os.Lstat(top)
			if err != nil || !info.IsDir() {
				continue
			}
			for i := range 4 {
				os.Remove(filepath.Join(top, fmt.Sprintf("f%d.txt", i)))
			}
		}
		lost = s.outsideLost()
	}
	s.stop.Store(true)
	<-s.done
	if lost == 0 {
		t.Errorf("a naive delete deleted nothing outside in %d tries: the test proves nothing", tries)
	}
}
