//go:build linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"golang.org/x/sys/unix"
)

// TestManyEditsAtOnce sends 30 edits on one file without waiting: all of them
// must be on disk.
func TestManyEditsAtOnce(t *testing.T) {
	p := newPlace(t)
	rounds := count(t, "FSMCP_ROUNDS", 3)
	c := p.start(t)
	for round := range rounds {
		file := p.file(fmt.Sprintf("f%d.txt", round))
		var text strings.Builder
		for i := range 30 {
			fmt.Fprintf(&text, "line %02d\n", i)
		}
		must(t, os.WriteFile(file, []byte(text.String()), 0o666))
		mustCall(t, c, "Read", args{"file_path": file})
		var pending []*mcptest.Pending
		for i := range 30 {
			call, err := c.GoCall("Edit", args{"file_path": file, "old_string": fmt.Sprintf("line %02d\n", i), "new_string": fmt.Sprintf("done %02d\n", i)})
			must(t, err)
			pending = append(pending, call)
		}
		for i, call := range pending {
			if res, err := call.Result(); err != nil || res.IsError {
				t.Errorf("edit %d: %v %s", i, err, clip(res.Text))
			}
		}
		if n := len(marks(read(t, file), "done ")); n != 30 {
			t.Fatalf("round %d: %d of 30 edits are on disk", round, n)
		}
	}
	must(t, c.Close())
	report(t, "%d rounds of 30 edits at once, all on disk", rounds)
}

// writeLog holds the reports of one file's writers.
type writeLog struct {
	mu       sync.Mutex
	acked    map[string]bool // edits that a server reported as done
	taken    map[string]bool // edits that the foreign writer itself overwrote, having read before them
	foreign  map[string]bool // lines of the foreign writer
	refusals int
}

func newWriteLog() *writeLog {
	return &writeLog{acked: map[string]bool{}, taken: map[string]bool{}, foreign: map[string]bool{}}
}

func (l *writeLog) note(m map[string]bool, line string) {
	l.mu.Lock()
	m[line] = true
	l.mu.Unlock()
}

const anchor = "== put new lines above =="

// TestServersAndForeignWriters lets several servers edit one file while a
// program that knows nothing of them writes it too: by rename, by truncating,
// by appending. What servers report as done is on disk, once, and no line of
// the foreign program is lost.
func TestServersAndForeignWriters(t *testing.T) {
	edits := count(t, "FSMCP_WRITER_EDITS", 25)
	for _, servers := range []int{2, 4} {
		for _, foreign := range []string{"none", "rename", "truncate", "append"} {
			t.Run(fmt.Sprintf("%d_servers_%s", servers, foreign), func(t *testing.T) {
				writeTogether(t, servers, edits, foreign)
			})
		}
	}
}

func writeTogether(t *testing.T, servers, edits int, foreign string) {
	p := newPlace(t)
	file := p.file("shared.txt")
	must(t, os.WriteFile(file, []byte("first line\n"+anchor+"\n"), 0o666))
	l := newWriteLog()
	emptyMeanwhile := "" // a file that is just being truncated truly holds no match
	if foreign == "truncate" {
		emptyMeanwhile = "no_match"
	}
	var wg sync.WaitGroup
	for s := range servers {
		c := p.start(t)
		wg.Go(func() {
			agent(t, c, file, fmt.Sprintf("s%d-", s), edits, emptyMeanwhile, l)
			if err := c.Close(); err != nil {
				t.Errorf("server %d: %v", s, err)
			}
		})
	}
	stop, foreignDone := make(chan struct{}), make(chan error, 1)
	if write := foreignWriters[foreign]; write != nil {
		go func() { foreignDone <- foreignLoop(file, l, write, stop) }()
	} else {
		foreignDone <- nil
	}
	nameless := watchName(file, stop)
	wg.Wait()
	close(stop)
	if err := <-foreignDone; err != nil {
		t.Errorf("foreign writer: %v", err)
	}
	if n := <-nameless; n > 0 {
		t.Errorf("%d times there was no file under the name", n)
	}
	judge(t, read(t, file), l, servers, edits)
	if left := strays(t, p.ws, func(n string) bool { return n == "shared.txt" }); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// watchName counts how often a name is seen without a file.
func watchName(file string, stop chan struct{}) chan int {
	seen := make(chan int, 1)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				seen <- n
				return
			case <-time.After(50 * time.Microsecond):
			}
			var st unix.Stat_t
			if unix.Stat(file, &st) == unix.ENOENT {
				n++
			}
		}
	}()
	return seen
}

func judge(t *testing.T, text []byte, l *writeLog, servers, edits int) {
	t.Helper()
	onDisk := marks(text, "s")
	lost, twice, unreported, foreignLost := 0, 0, 0, 0
	for line := range l.acked {
		if onDisk[line] == 0 && !l.taken[line] {
			lost++
			t.Errorf("lost: %s was reported as done", line)
		}
	}
	for line, n := range onDisk {
		if n > 1 {
			twice++
		}
		if !l.acked[line] {
			unreported++
		}
	}
	own := marks(text, "foreign ")
	for line := range l.foreign {
		if own[line] == 0 {
			foreignLost++
			t.Errorf("lost: %q of the foreign writer", line)
		}
	}
	if len(l.acked) != servers*edits {
		t.Errorf("%d edits were reported as done, not %d", len(l.acked), servers*edits)
	}
	if twice > 0 || unreported > 0 {
		t.Errorf("%d edits are on disk twice, %d although never reported as done", twice, unreported)
	}
	report(t, "%d edits reported, %d lost; %d foreign lines, %d lost; %d refusals on the way, %d edits overwritten by the foreign program itself",
		len(l.acked), lost, len(l.foreign), foreignLost, l.refusals, len(l.taken))
}

// agent inserts its lines one by one, and does what the refusals say: repeat,
// and read again where that does not help. emptyMeanwhile is one refusal more
// that a round of this kind may bring.
func agent(t *testing.T, c *mcptest.Client, file, prefix string, edits int, emptyMeanwhile string, l *writeLog) {
	deadline := time.Now().Add(10 * time.Minute)
	refused := 2 // so that the first thing is a Read
	for i := 0; i < edits; {
		if time.Now().After(deadline) {
			t.Errorf("%s: stuck at edit %d", prefix, i)
			return
		}
		if refused >= 2 {
			if _, err := c.Call("Read", args{"file_path": file, "limit": 5}); err != nil {
				t.Errorf("%s: %v", prefix, err)
				return
			}
			refused = 0
		}
		line := fmt.Sprintf("%s%04d", prefix, i)
		res, err := c.Call("Edit", args{"file_path": file, "old_string": anchor, "new_string": line + "\n" + anchor})
		if err != nil {
			t.Errorf("%s: %v", prefix, err)
			return
		}
		if !res.IsError {
			l.note(l.acked, line)
			i, refused = i+1, 0
			continue
		}
		switch res.Slug {
		case "modified", "busy", "partly_read", "not_read", emptyMeanwhile:
			refused++
			l.mu.Lock()
			l.refusals++
			l.mu.Unlock()
		case "not_found":
			// Every writer here exchanges or writes in place: the name is
			// never without a file.
			_, err := os.Stat(file)
			t.Errorf("%s: edit %d found no file, and there is one (%v): %s", prefix, i, err, clip(res.Text))
			refused = 2
		default:
			t.Errorf("%s: %d %s: %s", prefix, res.Code, res.Slug, clip(res.Text))
			return
		}
	}
}

// foreignWriters add one line to a file, each in its own way, and tell which
// lines of others they overwrote unread.
var foreignWriters = map[string]func(file, line string) (taken []string, err error){
	"append":   foreignAppend,
	"truncate": foreignTruncate,
	"rename":   foreignRename,
}

func foreignLoop(file string, l *writeLog, write func(file, line string) ([]string, error), stop chan struct{}) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		case <-time.After(time.Duration(2+i%7) * time.Millisecond):
		}
		line := fmt.Sprintf("foreign %05d", i)
		taken, err := write(file, line)
		if err != nil {
			return err
		}
		l.note(l.foreign, line)
		for _, m := range taken {
			l.note(l.taken, m)
		}
	}
}

func foreignAppend(file, line string) ([]string, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	linger()
	_, err = f.WriteString(line + "\n")
	return nil, errors.Join(err, f.Close())
}

// linger is the time that programs take between two calls on an open file.
func linger() { time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond) }

// foreignTruncate has the file open for writing from before it reads it until
// it has written all of it anew.
func foreignTruncate(file, line string) ([]string, error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	linger()
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	linger()
	_, err = f.WriteAt(append(text, line+"\n"...), 0)
	return nil, err
}

// foreignRename saves as editors do: read, write a new file, rename. What came
// between its reading and its renaming it overwrites itself; it renames by
// exchange and looks, so that those lines can be told from lost ones.
func foreignRename(file, line string) ([]string, error) {
	seen, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	tmp := file + ".foreign"
	if err := os.WriteFile(tmp, append(bytes.Clone(seen), line+"\n"...), 0o666); err != nil {
		return nil, err
	}
	defer os.Remove(tmp)
	if err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, file, unix.RENAME_EXCHANGE); err != nil {
		return nil, err
	}
	displaced, err := os.ReadFile(tmp)
	if err != nil {
		return nil, err
	}
	had := marks(seen, "s")
	var taken []string
	for m := range marks(displaced, "s") {
		if had[m] == 0 {
			taken = append(taken, m)
		}
	}
	return taken, nil
}

// TestNaiveWritersLose is the control arm: the same appending program against
// a writer that renames over, and against one that exchanges and looks but
// takes no lease. Both must lose lines of the foreign program.
func TestNaiveWritersLose(t *testing.T) {
	for name, replace := range map[string]func(file string, old, new []byte) bool{
		"plain_rename": plainRename, "exchange_without_lease": exchangeAndLook,
	} {
		t.Run(name, func(t *testing.T) {
			file := newPlace(t).file("shared.txt")
			must(t, os.WriteFile(file, []byte(anchor+"\n"), 0o666))
			var stop atomic.Bool
			var wg sync.WaitGroup
			var writes, lost int
			wg.Go(func() {
				for i := 0; !stop.Load(); i++ {
					old, err := os.ReadFile(file)
					if err == nil {
						replace(file, old, bytes.Replace(old, []byte(anchor), fmt.Appendf(nil, "n%04d\n%s", i, anchor), 1))
					}
				}
			})
			// The appending program notices when its line is gone: it looks
			// again after the writer had time for a whole round.
			for begin := time.Now(); lost == 0 && time.Since(begin) < 30*time.Second; writes++ {
				line := fmt.Sprintf("foreign %05d", writes)
				f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
				must(t, err)
				time.Sleep(200 * time.Microsecond)
				_, err = f.WriteString(line + "\n")
				must(t, errors.Join(err, f.Close()))
				time.Sleep(3 * time.Millisecond)
				if marks(read(t, file), "foreign ")[line] == 0 {
					lost++
				}
			}
			stop.Store(true)
			wg.Wait()
			if lost == 0 {
				t.Errorf("the control arm lost nothing in %d foreign writes: the test proves nothing", writes)
			}
			report(t, "lost a foreign line after %d writes", writes)
		})
	}
}

func plainRename(file string, old, new []byte) bool {
	tmp := file + ".naive"
	if os.WriteFile(tmp, new, 0o666) != nil {
		return false
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, old) {
		os.Remove(tmp)
		return false
	}
	return os.Rename(tmp, file) == nil
}

func exchangeAndLook(file string, old, new []byte) bool {
	tmp := file + ".naive"
	defer os.Remove(tmp)
	if os.WriteFile(tmp, new, 0o666) != nil {
		return false
	}
	exchange := func() error {
		return unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, file, unix.RENAME_EXCHANGE)
	}
	if exchange() != nil {
		return false
	}
	if displaced, err := os.ReadFile(tmp); err != nil || !bytes.Equal(displaced, old) {
		exchange()
		return false
	}
	return true
}
