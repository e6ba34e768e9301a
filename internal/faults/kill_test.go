//go:build linux

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// content is a text that can be told whole from torn: a first line with its
// generation, padded to a length that changes with it, so that all that
// follows moves, and a body that depends on the size alone.
func content(gen, size int) []byte {
	head := fmt.Sprintf("generation=%d size=%d pad=%s;\n", gen, size, strings.Repeat("p", gen*7%29))
	b := make([]byte, 0, len(head)+size+64)
	b = append(b, head...)
	for i := 0; len(b)-len(head) < size; i++ {
		b = append(b, "line "...)
		b = strconv.AppendInt(b, int64(i*2654435761%1000000007), 10)
		b = append(b, " of the body of the file\n"...)
	}
	return b[:len(head)+size]
}

func firstLine(gen, size int) string {
	b := content(gen, 0)
	return strings.Replace(string(b), "size=0", fmt.Sprintf("size=%d", size), 1)
}

// whole tells the generation of a file that is exactly one generation.
func whole(b []byte, size int) (int, bool) {
	var gen int
	if _, err := fmt.Sscanf(string(b[:min(len(b), 40)]), "generation=%d ", &gen); err != nil {
		return 0, false
	}
	return gen, bytes.Equal(b, content(gen, size))
}

// killer is the state of a run of kills.
type killer struct {
	t       *testing.T
	p       place
	rng     *rand.Rand
	largest int
	edited  map[string]int // files to edit: name -> generation on disk
	sizes   map[string]int
	serial  int
	speed   float64 // bytes in a second, as measured on the way

	kills, torn, lostAcks, acked, landed, stray int
}

// TestRandomKills kills the server at random moments of writes and edits of
// 1 KiB to 32 MiB. After each kill the file is wholly old or wholly new, what
// was answered stays, and after the next start nothing is left behind.
func TestRandomKills(t *testing.T) {
	kills := count(t, "FSMCP_KILLS", 40)
	k := &killer{t: t, p: newPlace(t), rng: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)),
		largest: count(t, "FSMCP_KILL_LARGEST", 4<<20), edited: map[string]int{}, sizes: map[string]int{}, speed: 300e6}
	for size := 1 << 10; size <= k.largest; size <<= 2 {
		name := fmt.Sprintf("edit-%d.txt", size)
		must(t, os.WriteFile(k.p.file(name), content(0, size), 0o666))
		k.edited[name], k.sizes[name] = 0, size
	}
	for k.kills < kills {
		k.round()
	}
	c := k.p.start(t) // the last next start
	mustCall(t, c, "Read", args{"file_path": k.p.file("edit-1024.txt"), "limit": 1})
	k.look(c)
	must(t, c.Close())
	report(t, "%d kills: %d torn, %d acknowledged lost of %d, %d stray files after the next start (%d changes had landed without an answer, %d had not)",
		k.kills, k.torn, k.lostAcks, k.acked, k.stray, k.landed, k.kills-k.acked-k.landed)
	if k.torn+k.lostAcks+k.stray > 0 {
		t.Fail()
	}
}

// round starts a server on what the kill before left, looks, and kills it in
// the middle of one change.
func (k *killer) round() {
	c := k.p.start(k.t)
	defer c.Kill()
	switch k.rng.IntN(3) {
	case 0:
		k.create(c)
	case 1:
		k.overwrite(c)
	default:
		k.edit(c)
	}
}

// size is random by magnitude.
func (k *killer) size() int {
	low, high := math.Log(1<<10), math.Log(float64(k.largest))
	return int(math.Exp(low + k.rng.Float64()*(high-low)))
}

// look checks that the sweep of this server's start left nothing.
func (k *killer) look(c *mcptest.Client) {
	known := func(name string) bool {
		_, ok := k.sizes[name]
		return ok
	}
	if left := noStrays(k.t, k.p.ws, known); len(left) > 0 {
		k.stray += len(left)
		k.t.Errorf("after the next start there are %q", left)
		for _, name := range left {
			os.Remove(k.p.file(name))
		}
	}
}

// strike sends a change, kills the server after a random part of the time it
// should take, and tells whether the answer had come.
func (k *killer) strike(c *mcptest.Client, tool string, a args, size int) (acked bool) {
	k.look(c)
	expected := time.Duration(float64(size)/k.speed*1e9) + 1500*time.Microsecond
	delay := time.Duration(k.rng.Float64() * 1.3 * float64(expected))
	begin := time.Now()
	pending, err := c.GoCall(tool, a)
	if err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(delay - time.Since(begin))
	c.Kill()
	k.kills++
	res, err := pending.Result()
	if err != nil {
		return false
	}
	if res.IsError {
		k.t.Errorf("%s of %d bytes: %d %s: %s", tool, size, res.Code, res.Slug, clip(res.Text))
		return false
	}
	k.acked++
	return true
}

// create writes a file that was not there: afterwards it is there whole, or
// not at all.
func (k *killer) create(c *mcptest.Client) {
	k.serial++
	name, size := fmt.Sprintf("new-%d.txt", k.serial), k.size()
	k.sizes[name] = size
	acked := k.strike(c, "Write", args{"file_path": k.p.file(name), "content": string(content(1, size))}, size)
	b, err := os.ReadFile(k.p.file(name))
	switch {
	case err == nil && !bytes.Equal(b, content(1, size)):
		k.tear(name, b)
	case err == nil && !acked:
		k.landed++
	case os.IsNotExist(err) && acked:
		k.lostAcks++
		k.t.Errorf("%s was reported as written and is not there", name)
	}
	os.Remove(k.p.file(name))
	delete(k.sizes, name)
}

// overwrite writes a file and, while that is answered, writes it again.
func (k *killer) overwrite(c *mcptest.Client) {
	k.serial++
	name, size := fmt.Sprintf("over-%d.txt", k.serial), k.size()
	k.sizes[name] = size
	begin := time.Now()
	mustCall(k.t, c, "Write", args{"file_path": k.p.file(name), "content": string(content(1, size))})
	if took := time.Since(begin); size > 1<<20 {
		k.speed = 0.7*k.speed + 0.3*float64(size)/took.Seconds()
	}
	acked := k.strike(c, "Write", args{"file_path": k.p.file(name), "content": string(content(2, size))}, size)
	k.check(name, size, 1, 2, acked)
	os.Remove(k.p.file(name))
	delete(k.sizes, name)
}

// edit changes the first line of a file that stays through the run.
func (k *killer) edit(c *mcptest.Client) {
	var names []string
	for name := range k.edited {
		names = append(names, name)
	}
	name := names[k.rng.IntN(len(names))]
	gen, size := k.edited[name], k.sizes[name]
	look := args{"file_path": k.p.file(name), "limit": 1}
	if size <= 16<<10 {
		delete(look, "limit") // a small file has to be shown whole
	}
	mustCall(k.t, c, "Read", look)
	edit := args{"file_path": k.p.file(name), "old_string": firstLine(gen, size), "new_string": firstLine(gen+1, size)}
	acked := k.strike(c, "Edit", edit, size)
	k.edited[name] = k.check(name, size, gen, gen+1, acked)
}

// check requires a file to be one of two generations, whole.
func (k *killer) check(name string, size, old, new int, acked bool) int {
	b, err := os.ReadFile(k.p.file(name))
	if err != nil {
		k.torn++
		k.t.Errorf("%s: %v", name, err)
		return old
	}
	gen, ok := whole(b, size)
	if !ok || gen != old && gen != new {
		k.tear(name, b)
		must(k.t, os.WriteFile(k.p.file(name), content(old, size), 0o666))
		return old
	}
	if !acked && gen == new {
		k.landed++
	}
	if acked && gen != new {
		k.lostAcks++
		k.t.Errorf("%s: the change was reported as done and is not there", name)
	}
	return gen
}

func (k *killer) tear(name string, b []byte) {
	k.torn++
	k.t.Errorf("%s is torn: %d bytes, beginning %q", name, len(b), b[:min(len(b), 60)])
}

// TestNaiveWriterIsTorn is the control arm: a program that writes in place,
// killed at random, must be caught with half a file.
func TestNaiveWriterIsTorn(t *testing.T) {
	shortrun.Leave(t, "a naive writer may need many kills until one tears its file")
	file := filepath.Join(t.TempDir(), "naive.txt")
	self, err := os.Executable()
	must(t, err)
	torn, kills := 0, 0
	for torn == 0 && kills < 300 {
		cmd := exec.Command(self, file)
		cmd.Env = append(os.Environ(), "FAULTS_ROLE=naive")
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		must(t, err)
		time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond)
		must(t, cmd.Process.Kill())
		cmd.Wait()
		kills++
		if _, ok := whole(read(t, file), 4<<20); !ok {
			torn++
		}
	}
	if torn == 0 {
		t.Errorf("%d kills tore nothing of a naive writer: the test proves nothing", kills)
	}
	report(t, "a naive writer was torn by kill %d", kills)
}
