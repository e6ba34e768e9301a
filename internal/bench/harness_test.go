//go:build linux

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// bins are the two programs under measurement.
type bins struct{ fsmcp, floor string }

// built holds the programs, and the folder in which they lie.
var built struct {
	dir string
	sync.Once
	bins
}

func TestMain(m *testing.M) {
	var err error
	if built.dir, err = os.MkdirTemp("", "fsmcp-bench-"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// build makes both programs, once, as they are shipped: no cgo, trimmed.
func build(t *testing.T) bins {
	t.Helper()
	built.Do(func() {
		b := bins{fsmcp: os.Getenv("FSMCP_BIN"), floor: filepath.Join(built.dir, "floor")}
		if b.fsmcp == "" {
			b.fsmcp = filepath.Join(built.dir, "fsmcp")
			compile(t, b.fsmcp, "github.com/fsmcp/fsmcp/cmd/fsmcp", "CGO_ENABLED=0")
		}
		compile(t, b.floor, "github.com/fsmcp/fsmcp/internal/bench/floor", "CGO_ENABLED=0")
		built.bins = b
	})
	if built.floor == "" {
		t.Fatal("the programs could not be built")
	}
	return built.bins
}

func compile(t *testing.T, out, pkg string, env ...string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, pkg)
	cmd.Env = append(os.Environ(), env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, msg)
	}
}

// peer is a running server and the leanest client there can be: a line out, a
// line in, nothing parsed, so that what is timed is the server.
type peer struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

func spawn(t testing.TB, path string, env []string, args ...string) *peer {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (p *peer) close() {
	p.in.Close()
	done := make(chan struct{})
	go func() { p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
		<-done
	}
}

const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
`

// shake shakes hands and asks for the list.
func (p *peer) shake() {
	p.t.Helper()
	p.write([]byte(handshake))
	p.line()
	if got := p.line(); !bytes.Contains(got, []byte(`"tools"`)) {
		p.t.Fatalf("tools/list answered %.300s", got)
	}
	p.id = 2
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.in.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) line() []byte {
	p.t.Helper()
	var long []byte
	for {
		part, err := p.out.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			long = append(long, part...)
			continue
		}
		if err != nil {
			p.t.Fatal(err)
		}
		if long != nil {
			return append(long, part...)
		}
		return part
	}
}

// call is one tool call, and how long its answer took to come whole.
func (p *peer) call(tool string, args any) (time.Duration, []byte) {
	p.t.Helper()
	return p.send(p.request(tool, args))
}

// patiently is a call that is made again as long as it is answered that it should be,
// as the first one on a machine is where PDFium takes long to be compiled.
func (p *peer) patiently(tool string, args any) (time.Duration, []byte) {
	p.t.Helper()
	begin := time.Now()
	for range 10 {
		p.write(p.request(tool, args))
		line := p.line()
		if bytes.Contains(line, []byte(`"fsmcp/error":"busy"`)) {
			continue
		}
		if bytes.Contains(line, []byte(`"isError":true`)) {
			p.t.Fatalf("answered %.600s", line)
		}
		return time.Since(begin), line
	}
	p.t.Fatalf("%s is not ready after %v", tool, time.Since(begin))
	return 0, nil
}

func (p *peer) request(tool string, args any) []byte {
	p.t.Helper()
	body, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	p.id++
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", p.id, tool, body)
}

func (p *peer) send(request []byte) (time.Duration, []byte) {
	p.t.Helper()
	begin := time.Now()
	p.write(request)
	line := p.line()
	took := time.Since(begin)
	if bytes.Contains(line, []byte(`"isError":true`)) || bytes.Contains(line, []byte(`"error":{`)) {
		p.t.Fatalf("answered %.600s", line)
	}
	return took, line
}

// memory reads a field of /proc/PID/status (VmRSS, VmHWM) in bytes.
func (p *peer) memory(field string) float64 {
	p.t.Helper()
	return statusOf(p.t, p.cmd.Process.Pid, field)
}

func statusOf(t testing.TB, pid int, field string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return float64(kb) * 1024
		}
	}
	t.Fatalf("no %s", field)
	return 0
}

func median(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[len(s)/2]
}

// table gathers the figures and their bounds.
type table struct {
	judge bool // the short run measures other sizes, too few times: no verdict
	over  int
}

// row prints one figure beside its bound. Times are in milliseconds, sizes in
// megabytes, ratios without a unit.
func (tb *table) row(what string, figure, bound float64, unit, how string) {
	if !tb.judge {
		tb.note(what, figure, unit, how)
		return
	}
	verdict := "ok"
	if figure > bound {
		verdict = "OVER"
		tb.over++
	}
	fmt.Printf("%-44s %10.3f %-3s  bound %8.2f  %-4s  %s\n", what, figure, unit, bound, verdict, how)
}

func (tb *table) note(what string, figure float64, unit, how string) {
	fmt.Printf("%-44s %10.3f %-3s  %14s  %-4s  %s\n", what, figure, unit, "", "", how)
}

// close sums up.
func (tb *table) close(t *testing.T) {
	t.Helper()
	if !tb.judge {
		fmt.Println("a short run: it shows that the measurements work; the figures that count are those of make bench")
		return
	}
	fmt.Printf("%d figures over their bounds\n", tb.over)
	if tb.over > 0 {
		t.Errorf("%d figures over their bounds", tb.over)
	}
}

// aside prints what is no figure but helps to judge one, in the full run.
func (tb *table) aside(format string, a ...any) {
	if tb.judge {
		fmt.Printf("  "+format+"\n", a...)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
