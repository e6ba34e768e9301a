//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// searches are calls of every form on a folder. Any file's text matches some.
func searches(dir string) (all []struct {
	tool string
	args args
}) {
	add := func(tool string, a args) {
		a["path"] = dir
		all = append(all, struct {
			tool string
			args args
		}{tool, a})
	}
	for _, pattern := range []string{"**", "**/", "*.txt", "*", "*/", "**/*key*", "{a,b,c,d}*/**", "denied*/**"} {
		add("Glob", args{"pattern": pattern})
		add("Glob", args{"pattern": pattern, "include_ignored": true, "head_limit": 3, "offset": 1})
	}
	for _, pattern := range []string{".", secret, "inside", "(?s)SECRET.*", "[A-Z]{6} "} {
		for _, mode := range []string{"files_with_matches", "content", "count"} {
			add("Grep", args{"pattern": pattern, "output_mode": mode})
			add("Grep", args{"pattern": pattern, "output_mode": mode, "include_ignored": true, "-i": true, "-C": 2, "head_limit": 2})
			add("Grep", args{"pattern": pattern, "output_mode": mode, "multiline": true, "offset": 1, "glob": "*.txt,*key*"})
		}
	}
	return all
}

// TestSearchRace searches a tree in which names lead to a denied file every other moment:
// by links, hard links and folders that change places. Its lines and its name are never
// shown.
func TestSearchRace(t *testing.T) {
	seconds := count(t, "FSMCP_RACE_SECONDS", 1)
	s := startShifting(t)
	c := s.p.start(t, "FSMCP_DENY="+denies, "FSMCP_TOOLS=all")
	calls, found, leaks := 0, 0, 0
	all := searches(s.p.ws)
	for begin := time.Now(); time.Since(begin) < time.Duration(seconds)*time.Second || found == 0 && time.Since(begin) < time.Minute; {
		call := all[calls%len(all)]
		res := mustCall(t, c, call.tool, call.args)
		calls++
		if strings.Contains(res.Text, secret) || strings.Contains(res.Text, "vault/key") || strings.Contains(res.Text, ".env") {
			leaks++
			t.Errorf("%s %v: %s", call.tool, call.args, clip(res.Text))
		}
		if strings.Contains(res.Text, "inside 0") {
			found++
		}
	}
	must(t, c.Close())
	s.end()
	if found == 0 {
		t.Error("the race was not run")
	}
	report(t, "%d s, %d shifts, %d searches, %d of them with lines; %d leaks", seconds, s.shifts.Load(), calls, found, leaks)
}

// fenced is a tree with twenty harmless files. with adds forty files and folders that the
// rules deny, each with the secret.
func fenced(t *testing.T, with bool) (p place, deny string) {
	t.Helper()
	p = newPlace(t)
	when := time.Now().Add(-time.Hour)
	stamp := func() {
		must(t, filepath.WalkDir(p.ws, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chtimes(name, when, when)
			}
			if err == nil && d.Type().IsRegular() && !strings.Contains(name, "denied") && !strings.Contains(name, "DENIED") {
				i := int(name[len(name)-5] - '0')
				err = os.Chtimes(name, when, when.Add(time.Duration(i)*time.Second))
			}
			return err
		}))
	}
	write := func(name, text string) {
		must(t, os.MkdirAll(filepath.Dir(p.file(name)), 0o755))
		must(t, os.WriteFile(p.file(name), []byte(text), 0o644))
	}
	for i := range 20 {
		write(fmt.Sprintf("d%d/file%d.txt", i%4, i%10), fmt.Sprintf("inside 0\nnumber %d\n", i))
	}
	var rules []string
	for i := range 10 {
		file, folder := fmt.Sprintf("d%d/denied%d.txt", i%4, i), fmt.Sprintf("d%d/deniedfolder%d", i%4, i)
		rules = append(rules, "Read("+file+")", "Read("+folder+")")
		if !with {
			continue
		}
		write(file, secret+" key\n")
		write(folder+"/below/key.txt", secret+"\n")
		must(t, os.Link(p.file(file), p.file(fmt.Sprintf("d%d/hard%d.txt", i%4, i))))
		must(t, os.Symlink(folder[3:], p.file(fmt.Sprintf("d%d/link%d", i%4, i))))
		must(t, os.Symlink(file[3:], p.file(fmt.Sprintf("d%d/linked%d.txt", i%4, i))))
	}
	if with { // names that differ in case, and a rule by a pattern
		for i := range 10 {
			write(fmt.Sprintf("d0/DENIED-%d.key", i), secret+"\n")
		}
	}
	stamp()
	return p, strings.Join(append(rules, "Read(**/*.key)"), "\n")
}

// TestSearchHidesDenied: with forty denied files and folders in a tree, each search answers
// as without them, byte for byte; and an error on a denied start is that on an absent one.
func TestSearchHidesDenied(t *testing.T) {
	with, deny := fenced(t, true)
	without, _ := fenced(t, false)
	a, b := with.start(t, "FSMCP_DENY="+deny, "FSMCP_TOOLS=all"), without.start(t, "FSMCP_DENY="+deny, "FSMCP_TOOLS=all")
	n := 0
	compare := func(tool string, withArgs, withoutArgs args) {
		x, err := a.Call(tool, withArgs)
		must(t, err)
		y, err := b.Call(tool, withoutArgs)
		must(t, err)
		n++
		got, want := strings.ReplaceAll(x.Text, with.ws, ""), strings.ReplaceAll(y.Text, without.ws, "")
		if got != want || x.Code != y.Code || strings.Contains(got, secret) {
			t.Errorf("%s %v: %d\n%s\nand without denied files: %d\n%s", tool, withArgs, x.Code, clip(got), y.Code, clip(want))
		}
	}
	mine, others := searches(with.ws), searches(without.ws)
	for i := range mine {
		compare(mine[i].tool, mine[i].args, others[i].args)
	}
	for i := range 10 {
		for _, name := range []string{"d%d/denied%d.txt", "d%d/deniedfolder%d", "d%d/deniedfolder%d/below", "d%d/deniedfolder%d/below/key.txt"} {
			name = fmt.Sprintf(name, i%4, i)
			compare("Grep", args{"pattern": ".", "path": with.file(name)}, args{"pattern": ".", "path": without.file(name)})
			compare("Glob", args{"pattern": "*", "path": with.file(name)}, args{"pattern": "*", "path": without.file(name)})
			compare("Glob", args{"pattern": with.file(name) + "/*"}, args{"pattern": without.file(name) + "/*"})
			compare("Glob", args{"pattern": name}, args{"pattern": name})
		}
	}
	must(t, a.Close())
	must(t, b.Close())
	report(t, "%d searches with and without 40 denied names: the same bytes", n)
}

// TestSearchTouchesNoDeniedName looks at the system calls of searches: none names what is
// denied by its name alone.
func TestSearchTouchesNoDeniedName(t *testing.T) {
	needStrace(t)
	p, deny := fenced(t, true)
	trace := filepath.Join(p.home, "trace")
	argv := []string{"-f", "--seccomp-bpf", "-qq", "-e", "trace=%file,%desc", "-o", trace, fsmcp, "call", "--dir", p.ws}
	for _, s := range searches(p.ws) {
		a, err := json.Marshal(s.args)
		must(t, err)
		argv = append(argv, s.tool, string(a))
	}
	cmd := exec.Command("strace", argv...)
	cmd.Env = p.env("FSMCP_DENY=" + deny)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("inside 0")) {
		t.Fatalf("%v: %s", err, clip(string(out)))
	}
	lines, harmless := 0, 0
	for line := range strings.Lines(string(read(t, trace))) {
		if strings.Contains(line, "getdents") || strings.Contains(line, "execve") || strings.Contains(line, "write(") || strings.Contains(line, "read(") {
			continue
		}
		lines++
		if strings.Contains(line, "file5.txt") {
			harmless++
		}
		// The rules themselves are looked at by their names, for other hard links of a file.
		if strings.Contains(line, "deniedfolder") && strings.Contains(line, "below") || strings.Contains(line, "DENIED-") {
			t.Errorf("a denied name was used: %s", line)
		}
	}
	if harmless == 0 {
		t.Error("the trace shows no file at all")
	}
	report(t, "%d searches, %d system calls, none below a denied name", len(searches(p.ws)), lines)
}

// TestSearchTimes compares how long searches take that meet a denied name with those that
// meet none: which of two times is the longer one tells no more than a coin. The control arm
// is a file that is searched.
func TestSearchTimes(t *testing.T) {
	runs := count(t, "FSMCP_SEARCH_TIMES", 150)
	p := newPlace(t)
	for _, dir := range []string{"with", "without", "one", "more"} {
		for i := range 10 {
			must(t, os.MkdirAll(p.file(dir), 0o755))
			must(t, os.WriteFile(p.file(fmt.Sprintf("%s/file%d.txt", dir, i)), []byte("some text\n"), 0o644))
		}
	}
	must(t, os.WriteFile(p.file("with/denied.txt"), bytes.Repeat([]byte("some text\n"), 20_000), 0o644))
	must(t, os.WriteFile(p.file("more/larger.txt"), bytes.Repeat([]byte("some text\n"), 1_000_000), 0o644))
	c := p.start(t, "FSMCP_DENY=Read(with/denied.txt)\nRead(without/denied.txt)", "FSMCP_TOOLS=all")
	took := func(a args) time.Duration {
		begin := time.Now()
		_, err := c.Call("Grep", a)
		must(t, err)
		return time.Since(begin)
	}
	// slower returns the share of calls of the first kind that took longer than one of the second.
	slower := func(first, second args) float64 {
		var a, b []time.Duration
		for i := range runs + 20 {
			x, y := first, second
			swap := rand.IntN(2) == 0
			if swap {
				x, y = y, x
			}
			d, e := took(x), took(y)
			if swap {
				d, e = e, d
			}
			if i >= 20 { // the first ones warm up
				a, b = append(a, d), append(b, e)
			}
		}
		wins := 0.0
		slices.Sort(b)
		for _, d := range a {
			below, _ := slices.BinarySearch(b, d)
			wins += float64(below) / float64(len(b))
		}
		return wins / float64(len(a))
	}
	in := func(dir string) args { return args{"pattern": "nothing like it", "path": p.file(dir)} }
	bound := 0.5 + 2.5/float64(runs)*10 // four deviations and more of a fair coin
	bound = max(min(bound, 0.75), 0.56)
	for _, pair := range []struct{ name, a, b string }{
		{"a denied file in a folder", "with", "without"},
		{"a denied file as the start", "with/denied.txt", "without/denied.txt"},
	} {
		share := 0.0
		for range 4 { // a machine that is busy with something else is no finding
			if share = slower(in(pair.a), in(pair.b)); share < bound && share > 1-bound {
				break
			}
		}
		if share >= bound || share <= 1-bound {
			t.Errorf("%s: slower than an absent one in %.0f %% of %d runs", pair.name, 100*share, runs)
		}
		report(t, "%s: slower than an absent one in %.1f %% of %d runs", pair.name, 100*share, runs)
	}
	control := 0.0
	for range 4 {
		if control = slower(in("more"), in("one")); control >= 0.9 {
			break
		}
	}
	if control < 0.9 {
		t.Errorf("a file that is searched cannot be told by the time either: %.0f %%", 100*control)
	}
	must(t, c.Close())
	report(t, "control: a file that is searched takes longer in %.1f %%", 100*control)
}

// TestSearchUnderWay: a long search reports its progress, and a deny rule that is added
// meanwhile holds for the answer.
func TestSearchUnderWay(t *testing.T) {
	p := newPlace(t)
	megabytes := int64(count(t, "FSMCP_SEARCH_MB", 4))
	for _, dir := range []string{"early", "late"} {
		must(t, os.Mkdir(p.file(dir), 0o755))
		for i := range 50 {
			fill(t, p.file(fmt.Sprintf("%s/f%02d.txt", dir, i)), megabytes<<20, "some text of a program in a line that does not match\n")
			must(t, os.WriteFile(p.file(fmt.Sprintf("%s/g%02d.txt", dir, i)), []byte("needle 7\n"), 0o644))
		}
	}
	c := p.start(t, "FSMCP_TOOLS=all")
	const call = `{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"Grep","arguments":{"pattern":"[a-z]+e+d[a-z]e [0-9]$","output_mode":"content","head_limit":0}}}`
	must(t, c.Send([]byte(call)))
	var reports []float64
	begin := time.Now()
	added := time.Duration(0)
	for {
		m, err := c.Loose(30 * time.Second)
		must(t, err)
		if m.Method == "notifications/progress" {
			var params struct{ Progress float64 }
			must(t, json.Unmarshal(m.Params, &params))
			reports = append(reports, params.Progress)
			if added == 0 {
				p.settings(t, `{"permissions": {"deny": ["Read(//`+strings.TrimPrefix(p.file("late"), "/")+`/**)"]}}`)
				added = time.Since(begin)
			}
			continue
		}
		res, err := mcptest.ParseResult(m)
		must(t, err)
		took := time.Since(begin)
		report(t, "%d reports, a deny rule after %v, the answer after %v", len(reports), added.Round(time.Millisecond), took.Round(time.Millisecond))
		if !slices.IsSorted(reports) || strings.Count(res.Text, "early/g") != 50 {
			t.Errorf("%v: %s", reports, clip(res.Text))
		}
		if added == 0 || took < added+time.Second {
			report(t, "the search was over too soon for the rule: FSMCP_SEARCH_MB makes it longer")
		} else if strings.Contains(res.Text, "late/") {
			t.Errorf("the rule was added %v before the answer: %s", took-added, clip(res.Text))
		}
		break
	}
	must(t, c.Close())
}

// TestSearchHangs searches a tree with all that could keep a search waiting, many times
// at once, with ordinary reads meanwhile; and one that its client cancels.
func TestSearchHangs(t *testing.T) {
	p := newPlace(t)
	long := int64(count(t, "FSMCP_LONG_LINE_MB", 100)) << 20
	must(t, unix.Mkfifo(p.file("fifo"), 0o666))
	makeSocket(t, p.file("socket"))
	sparse := int64(count(t, "FSMCP_SEARCH_SPARSE_MB", 600)) << 20
	makeSparse(t, p.file("sparse"), sparse)
	makeTextThenSparse(t, p.file("text-then-sparse"), sparse)
	fill(t, p.file("long-line.txt"), long, "abcdefghijklmno ")
	must(t, os.Symlink("/dev/zero", p.file("zero")))
	if err := unix.Mknod(p.file("device"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil && err != unix.EPERM {
		t.Fatal(err)
	}
	makeDeep(t, p.ws, 1000)
	for i := range 10 {
		must(t, os.WriteFile(p.file(fmt.Sprintf("small%d.txt", i)), bytes.Repeat([]byte("a small file\n"), 20), 0o666))
	}
	c := p.start(t, "FSMCP_TOOLS=all")
	begin := time.Now()
	res := mustCall(t, c, "Grep", args{"pattern": "a small file", "output_mode": "count"})
	alone := time.Since(begin)
	if !strings.Contains(res.Text, "small0.txt:20") || alone > 15*time.Second {
		t.Errorf("after %v: %s", alone, clip(res.Text))
	}

	before := quietReads(t, c, p)
	var all []*mcptest.Pending
	begin = time.Now()
	for i := range count(t, "FSMCP_SEARCHES", 5) {
		a := args{"pattern": fmt.Sprintf("small [f]ile|nothing %d", i), "output_mode": "files_with_matches"}
		call, err := c.GoCall("Grep", a)
		must(t, err)
		all = append(all, call)
	}
	var meanwhile []time.Duration
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { meanwhile = ordinaryReads(t, c, p, stop) })
	answered, refused := 0, 0
	for _, call := range all {
		res, err := call.Result()
		must(t, err)
		if res.IsError {
			refused++
			if res.Slug != "busy" {
				t.Errorf("%s: %s", res.Slug, res.Text)
			}
		}
		answered++
	}
	slowestOf := time.Since(begin)
	close(stop)
	wg.Wait()
	if slowestOf > slowest {
		t.Errorf("the last search was answered after %v", slowestOf)
	}

	// A search that is cancelled gives its place up at once.
	var worst time.Duration
	for range 5 {
		id := fmt.Sprintf("gone-%d", rand.IntN(1<<30))
		must(t, c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"Grep","arguments":{"pattern":"(a|b|nothing)+x","include_ignored":true}}}`, id)))
		must(t, c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s-2","method":"tools/call","params":{"name":"Grep","arguments":{"pattern":"(a|b|nothing)+y","include_ignored":true}}}`, id)))
		time.Sleep(50 * time.Millisecond)
		begin := time.Now()
		for _, end := range []string{"", "-2"} {
			must(t, c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%s%s"}}`, id, end)))
		}
		mustCall(t, c, "Grep", args{"pattern": "small file", "path": p.file("small1.txt")})
		worst = max(worst, time.Since(begin))
	}
	if bound := time.Duration(count(t, "FSMCP_CANCEL_MS", 1000)) * time.Millisecond; worst > bound {
		t.Errorf("the next search after two that were cancelled took %v", worst)
	}
	peak := peakOf(t, c.PID())
	if peak > 96 {
		t.Errorf("the server took %d MB", peak)
	}
	must(t, c.Close())
	report(t, "one search alone %v; %d at once answered within %v, %d of them refused as too many; ordinary reads meanwhile: %d, p99 %v (undisturbed %v); after a cancelled one the next is answered in %v; at most %d MB",
		alone.Round(time.Millisecond), answered, slowestOf.Round(time.Millisecond), refused, len(meanwhile), at99(meanwhile), before, worst.Round(time.Millisecond), peak)
}

// peakOf returns the memory that a process had at its most, in megabytes.
func peakOf(t *testing.T, pid int) (megabytes int) {
	t.Helper()
	_, rest, _ := strings.Cut(string(read(t, fmt.Sprintf("/proc/%d/status", pid))), "VmHWM:")
	fmt.Sscan(rest, &megabytes)
	return megabytes >> 10
}

// makeDeep makes folders named d, each in the one before.
func makeDeep(t *testing.T, top string, levels int) {
	t.Helper()
	fd, err := unix.Open(top, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	must(t, err)
	for range levels {
		must(t, unix.Mkdirat(fd, "d", 0o755))
		next, err := unix.Openat(fd, "d", unix.O_DIRECTORY|unix.O_RDONLY, 0)
		must(t, err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
}
