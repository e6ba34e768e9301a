//go:build !fsys_portable

package save

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// The test binary plays other processes, too: told a role by the environment, it
// does nothing else.
const roleEnv = "FSMCP_SAVE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := strings.Fields(os.Getenv(roleEnv)); len(role) > 0 {
		playRole(role)
		os.Exit(0)
	}
	// The runtime's own descriptors come with the first pipe, and stay: have them
	// before anything is counted.
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
	os.Exit(m.Run())
}

func playRole(role []string) {
	number := func(i int) int {
		n, err := strconv.Atoi(role[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	switch role[0] {
	case "write": // write SYSTEM KILLAT STATE PATH
		roleWrite(role[1], number(2), role[3], role[4])
	case "durable": // durable SYSTEM STATE PATH
		roleDurable(role[1], Full, role[2], role[3])
	case "hasty": // hasty SYSTEM STATE PATH
		roleDurable(role[1], None, role[2], role[3])
	case "naive": // naive PATH
		for k := 1; ; k++ {
			if os.WriteFile(role[1], version(k), 0o644) == nil {
				fmt.Println(k)
			}
		}
	case "edit": // edit NAME COUNT STATE PATH
		roleEdit(role[1], number(2), role[3], role[4])
	case "append", "truncate", "rename": // append PATH
		roleForeign(role[0], role[1])
	case "names": // names CASE KILLAT STATE FROM TO
		roleNames(number(1), number(2), role[3], role[4], role[5])
	case "once": // once STATE PATH
		roleOnce(role[1], role[2])
	default:
		panic(role[0])
	}
}

// actor is a process that plays a role.
type actor struct {
	*exec.Cmd
	out *bufio.Scanner
	in  io.WriteCloser
}

func play(t testing.TB, role ...any) *actor {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	// (A process under the race detector would stay for a second at its end.)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", roleEnv+"="+strings.TrimSpace(fmt.Sprintln(role...)))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &actor{Cmd: cmd, out: bufio.NewScanner(out), in: in}
}

// systems are the systems that a writer can be told to believe in.
var systems = map[string]poorer{
	"full":        {},
	"named":       {noUnnamed: true},
	"rename":      {noExchange: true},
	"poor":        {noUnnamed: true, noExchange: true, noLease: true},
	"in-place":    {busy: true},
	"portable":    {portable: true},
	"mac":         {mac: true},
	"mac-copying": {mac: true, noClone: true},
}

// version returns a file's content in one version: long, and invalid if two versions are
// mixed.
func version(k int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "version %06d\n", k), 300+k*37%1500)
}

// versionOf recognises a version; -1 for none, whole is false for a mix.
func versionOf(b []byte) (k int, whole bool) {
	if n, _ := fmt.Sscanf(string(b[:min(len(b), 15)]), "version %06d\n", &k); n != 1 {
		return -1, false
	}
	return k, bytes.Equal(b, version(k))
}

// roleWrite replaces the file by one version after the other and says which is
// done. KILLAT > 0: it kills itself at that system call.
func roleWrite(system string, killAt int, state, path string) {
	calls := 0
	s := New(Options{StateDir: state, Durability: None, Sys: hooked{base: systems[system].base(), before: func(c call) error {
		if calls++; calls == killAt {
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		return systems[system].before(c)
	}}})
	b, _ := os.ReadFile(path)
	k, _ := versionOf(b)
	for {
		k++
		if _, err := whole(s, path, string(version(k))); err != nil {
			fmt.Fprintln(os.Stderr, "writer:", err)
			os.Exit(1)
		}
		fmt.Println(k)
		if killAt > 0 {
			return
		}
	}
}

// Killed at any moment, the file is wholly old or wholly new, what was reported
// stays, and after the next start nothing lies about.
func TestKillAtAnyMoment(t *testing.T) {
	for system := range systems {
		t.Run(system, func(t *testing.T) {
			k := newKilled(t, system)
			for range runs(12) {
				w := play(t, "write", system, 0, k.d.state, k.path)
				time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
				w.Process.Kill()
				k.check(w, "at some moment")
			}
		})
	}
}

// A program that just writes its file is caught with half of it.
func TestKillControl(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	path := d.put("f", string(version(0)))
	for n := range 300 {
		w := play(t, "naive", path)
		w.out.Scan()
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		w.Process.Kill()
		w.Wait()
		b, _ := os.ReadFile(path)
		if _, whole := versionOf(b); !whole {
			t.Logf("torn by kill %d", n+1)
			return
		}
	}
	t.Error("nothing was torn: the test proves nothing")
}

// The same at every system call, one after the other.
func TestKillAtEveryCall(t *testing.T) {
	for system := range systems {
		t.Run(system, func(t *testing.T) {
			k := newKilled(t, system)
			step := 5 * shortrun.Step(t, 4, "fifth calls at which a writer is killed")
			if long() {
				step = 1
			}
			for n, alive := 1+rand.IntN(step), false; !alive; n += step {
				w := play(t, "write", system, n, k.d.state, k.path)
				alive = k.check(w, fmt.Sprint("call ", n))
			}
		})
	}
}

// And when the file is new.
func TestKillAtEveryCallOfCreate(t *testing.T) {
	step := 3 * shortrun.Step(t, 3, "third calls at which a writer of a new file is killed")
	for _, system := range []string{"full", "poor"} {
		for n, alive := 1+rand.IntN(step), false; !alive; n += step {
			d := newTestFolderIn(t, memory(t))
			path := d.path("f")
			w := play(t, "write", system, n, d.state, path)
			alive = w.Wait() == nil
			if got, new := d.get("f"), string(version(0)); got != "(missing)" && got != new {
				t.Errorf("%s, call %d: the file is half there", system, n)
			}
			d.open()
			if _, err := d.save.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			if got := d.names(); len(got) > 0 && (len(got) > 1 || got[0] != "f") {
				t.Errorf("%s, call %d: left behind: %q", system, n, got)
			}
		}
	}
}

type killed struct {
	t    *testing.T
	d    *testFolder
	path string
	last int // version reported done
}

func newKilled(t *testing.T, system string) *killed {
	d := newTestFolderIn(t, memory(t))
	return &killed{t: t, d: d, path: d.put("f", string(version(0)))}
}

// check looks at what a writer left, before and after the next start. It reports
// whether the writer came to its end.
func (k *killed) check(w *actor, when string) (alive bool) {
	k.t.Helper()
	for w.out.Scan() {
		if n, err := strconv.Atoi(w.out.Text()); err == nil {
			k.last = n
		}
	}
	alive = w.Wait() == nil
	content, _ := os.ReadFile(k.path)
	before, whole := versionOf(content)
	k.d.open()
	report, err := k.d.save.Sweep(k.t.Context())
	if err != nil || len(report.Saved)+len(report.Torn)+len(report.Pending) > 0 {
		k.t.Errorf("%s: sweep: %+v, %v", when, report, err)
	}
	if !whole && len(report.Replayed) == 0 {
		k.t.Errorf("%s: the file was torn", when)
	}
	content, _ = os.ReadFile(k.path)
	now, whole := versionOf(content)
	if !whole || now < k.last || now > k.last+1 {
		k.t.Errorf("%s: version %d (whole: %v) after version %d was reported (before the sweep %d)", when, now, whole, k.last, before)
	}
	if names := k.d.names(); len(names) != 1 {
		k.t.Errorf("%s: left behind: %q", when, names)
	}
	k.last = now // what was not reported may be there all the same
	if left, _ := os.ReadDir(filepath.Join(k.d.state, journalDir)); len(left) > 0 {
		k.t.Errorf("%s: %d journals stay", when, len(left))
	}
	k.d.save.Close()
	return alive
}

// roleEdit puts COUNT marked lines into the file, saying which succeeded.
func roleEdit(name string, count int, state, path string) {
	s := New(Options{StateDir: state, Durability: None, LockWait: time.Minute})
	for n := range count {
		mark := fmt.Sprintf("%s-%d", name, n)
		if edit(s, path, mark) == nil {
			fmt.Println(mark)
		}
	}
}

// edit puts a marked line in front.
func edit(s *Saver, path, mark string) error {
	_, err := change(s, path, func([]byte) ([]span.Splice, error) {
		return []span.Splice{{Start: 0, End: 0, New: []byte(mark + "\n")}}, nil
	})
	return err
}

// No update is lost between goroutines.
func TestWritersInOneProcess(t *testing.T) {
	const writers = 16
	d := newTestFolderIn(t, memory(t))
	d.open()
	path := d.put("f", "")
	done := make(chan string)
	for w := range writers {
		go func() {
			for n := range runs(40) {
				mark := fmt.Sprintf("w%d-%d", w, n)
				if err := edit(d.save, path, mark); err != nil {
					t.Errorf("%s: %v", mark, err)
					continue
				}
				done <- mark
			}
			done <- ""
		}()
	}
	var marks []string
	for left := writers; left > 0; {
		if mark := <-done; mark == "" {
			left--
		} else {
			marks = append(marks, mark)
		}
	}
	wantMarks(t, d.get("f"), marks)
	d.wantNames("f")
}

// Nor between processes.
func TestWritersInSeveralProcesses(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	path := d.put("f", "")
	var actors []*actor
	for p := range 4 {
		actors = append(actors, play(t, "edit", fmt.Sprint("p", p), runs(60), d.state, path))
	}
	var marks []string
	for _, a := range actors {
		for a.out.Scan() {
			marks = append(marks, a.out.Text())
		}
		if err := a.Wait(); err != nil {
			t.Error(err)
		}
	}
	wantMarks(t, d.get("f"), marks)
	if want := 4 * runs(60); len(marks) != want {
		t.Errorf("%d of %d edits succeeded", len(marks), want)
	}
	d.wantNames("f")
}

// wantMarks: the marks in the file are those reported, each once.
func wantMarks(t *testing.T, content string, marks []string) {
	t.Helper()
	there := map[string]int{}
	for line := range strings.Lines(content) {
		there[strings.TrimSpace(line)]++
	}
	for _, mark := range marks {
		if there[mark] != 1 {
			t.Errorf("%s was reported and is there %d times", mark, there[mark])
		}
		delete(there, mark)
	}
	for mark := range there {
		if !strings.HasPrefix(mark, "foreign") {
			t.Errorf("%s is there and was not reported", mark)
		}
	}
}

// roleForeign writes to the file again and again until standard input closes, and
// says which lines are written.
func roleForeign(how, path string) {
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	f := &foreign{how: how, path: path}
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rand.IntN(600)) * time.Microsecond):
		}
		line := fmt.Sprintf("foreign-%d\n", n)
		if f.write(line) {
			fmt.Print(line)
		}
	}
}

// foreign is a program that knows nothing of us.
type foreign struct {
	how, path string
	last      string // its last line
	without   int    // texts in turn that lacked it
}

// isPassing reports whether a text lacks the last line that was written. A change that is refused
// shows until it is taken back, and what is made of it lacks the line for good: the program has to
// read again. A line that was lost stays away.
func (f *foreign) isPassing(text []byte) bool {
	if bytes.Contains(text, []byte(f.last)) {
		f.without = 0
		return false
	}
	f.without++
	return f.without < 100
}

func (f *foreign) write(line string) bool {
	flags := os.O_RDWR
	if f.how == "append" {
		flags = os.O_WRONLY | os.O_APPEND
	}
	if f.how == "rename" {
		flags = os.O_RDONLY
	}
	file, err := os.OpenFile(f.path, flags, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond) // programs take their time
	switch f.how {
	case "append":
		_, err = file.WriteString(line)
	case "truncate":
		old, _ := io.ReadAll(file)
		file.Truncate(0)
		_, err = file.WriteAt(append(old, line...), 0)
	case "rename":
		old, _ := io.ReadAll(file)
		if f.isPassing(old) {
			return false
		}
		os.WriteFile(f.path+".theirs", append(old, line...), 0o644)
		err = os.Rename(f.path+".theirs", f.path)
	}
	if err == nil {
		f.last = line
	}
	return err == nil
}

// Nor against a program that knows nothing of us, and holds no lock. (One that
// reads, thinks and renames does overwrite what was written meanwhile; then only
// its own lines are counted.)
func TestForeignProcess(t *testing.T) {
	for _, how := range []string{"append", "truncate", "rename"} {
		t.Run(how, func(t *testing.T) {
			if lost := againstForeign(t, how); lost > 0 {
				t.Errorf("%d foreign lines are lost", lost)
			}
		})
	}
}

// againstForeign changes a file beside a foreign program and counts its lost lines.
func againstForeign(t *testing.T, how string) (lost int) {
	t.Helper()
	d := newTestFolderIn(t, memory(t))
	d.open()
	ours, theirs, saved, tried := d.struggle(how, runs(shortrun.Count(t, 150, 60, "edits")), func(path, mark string) (Written, error) {
		return change(d.save, path, func([]byte) ([]span.Splice, error) {
			return []span.Splice{{Start: 0, End: 0, New: []byte(mark + "\n")}}, nil
		})
	})
	content := d.get("f")
	if how != "rename" {
		wantMarks(t, content, ours)
	}
	lost = missing(content+saved, theirs)
	t.Logf("%d of %d edits succeeded, %d foreign writes, %d lost", len(ours), tried, len(theirs), lost)
	if len(ours) == 0 || len(theirs) == 0 {
		t.Error("one of the two did not come to write")
	}
	d.wantNames("f")
	return lost
}

// A careful program of the usual kind loses lines here: read, write beside, sync
// nothing, rename. So does the exchange without the lease.
func TestForeignProcessControl(t *testing.T) {
	for _, how := range []string{"append", "rename"} {
		t.Run("rename beside "+how, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			d.control(how, func(path, mark string) (Written, error) {
				old, err := os.ReadFile(path)
				if err == nil {
					err = os.WriteFile(path+".temp", append([]byte(mark+"\n"), old...), 0o644)
				}
				if err == nil {
					err = os.Rename(path+".temp", path)
				}
				return Written{}, err
			})
		})
	}
	t.Run("exchange without lease", func(t *testing.T) {
		d := newTestFolderIn(t, memory(t))
		d.open(func(o *Options) { o.Sys = hooked{before: poorer{noLease: true}.before} })
		d.control("append", func(path, mark string) (Written, error) {
			return change(d.save, path, func([]byte) ([]span.Splice, error) {
				return []span.Splice{{Start: 0, End: 0, New: []byte(mark + "\n")}}, nil
			})
		})
	})
}

func (d *testFolder) control(how string, write func(path, mark string) (Written, error)) {
	for range 50 { // until it has lost one
		ours, theirs, saved, _ := d.struggle(how, 100, write)
		if lost := missing(d.get("f")+saved, theirs); lost > 0 {
			d.t.Logf("%d of %d foreign lines lost beside %d edits", lost, len(theirs), len(ours))
			return
		}
	}
	d.t.Error("nothing was lost: the test proves nothing")
}

// struggle has a foreign process write to the file while we edit it. It gives the
// marks and lines that were reported, and the content of files kept.
func (d *testFolder) struggle(how string, edits int, write func(path, mark string) (Written, error)) (ours, theirs []string, saved string, tried int) {
	d.t.Helper()
	path := d.put("f", "")
	a := play(d.t, how, path)
	a.out.Scan() // it is at work
	theirs = append(theirs, a.out.Text())
	for tried < edits || len(ours) == 0 && tried < 20*edits {
		mark := fmt.Sprint("ours-", tried)
		tried++
		time.Sleep(time.Duration(rand.IntN(600)) * time.Microsecond)
		out, err := write(path, mark)
		var busy *BusyError
		switch {
		case err == nil:
			ours = append(ours, mark)
		case errors.Is(err, ErrModified), errors.As(err, &busy):
		default:
			d.t.Errorf("%s: %v", mark, err)
		}
		for _, name := range out.Saved {
			b, _ := os.ReadFile(name)
			saved += string(b)
			os.Remove(name)
		}
	}
	a.in.Close()
	for a.out.Scan() {
		theirs = append(theirs, a.out.Text())
	}
	a.Wait()
	return ours, theirs, saved, tried
}

func missing(content string, lines []string) (n int) {
	there := map[string]bool{}
	for line := range strings.Lines(content) {
		there[strings.TrimSpace(line)] = true
	}
	for _, line := range lines {
		if !there[line] {
			n++
		}
	}
	return n
}

// roleOnce overwrites a file once and says how that went.
func roleOnce(state, path string) {
	s := New(Options{StateDir: state, TempDir: filepath.Dir(state), Durability: Full})
	out, err := whole(s, path, "new\n")
	fmt.Printf("%+v\n", out)
	fmt.Println(err)
	s.Close()
}
