//go:build linux

package faults

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/winetest"
)

// winePlace is a place with programs for Windows in it.
type winePlace struct {
	place
	wine *winetest.Wine
}

// newWinePlace skips the test unless make wine runs it. The workspace is in the home, so
// that rules may name it from there.
func newWinePlace(t *testing.T) winePlace {
	t.Helper()
	if os.Getenv("FSMCP_WINE") == "" {
		t.Skip("make wine and make wine-part attack the program for Windows")
	}
	w := winetest.Find(t)
	p := winePlace{newPlace(t), w}
	p.ws = filepath.Join(p.home, "ws")
	for _, dir := range []string{p.ws, p.home + "/AppData/Roaming", p.home + "/AppData/Local"} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	return p
}

// wineServer is fsmcp for Windows. Its token finds its processes.
type wineServer struct {
	*mcptest.Client
	token string
}

var wineServers struct {
	sync.Mutex
	n int
}

// tryServe starts a server on a name of the workspace.
func (p winePlace) tryServe(ws string, flags ...string) (wineServer, error) {
	return p.tryStart(p.wine.FSMCP(), append(append([]string{"serve", "--tools", "all"}, flags...), ws)...)
}

// tryStart starts a program that is a server, or runs one.
func (p winePlace) tryStart(program string, words ...string) (wineServer, error) {
	wineServers.Lock()
	wineServers.n++
	token := fmt.Sprintf("FSMCP_WINE_SERVER=%d-%d.", os.Getpid(), wineServers.n)
	wineServers.Unlock()
	cmd := p.wine.Command(p.home, program, words...)
	c, err := mcptest.Start(mcptest.Options{Path: cmd.Path, Args: cmd.Args[1:], Dir: p.ws, Env: append(cmd.Env, token, "XDG_STATE_HOME="), Attr: cmd.SysProcAttr})
	if err != nil {
		return wineServer{}, err
	}
	s := wineServer{c, token}
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		s.kill()
		return s, err
	}
	return s, nil
}

func (p winePlace) serve(t *testing.T, ws string, flags ...string) wineServer {
	t.Helper()
	s, err := p.tryServe(ws, flags...)
	must(t, err)
	return s
}

// kill ends the program for Windows at once, by the kernel of Linux.
func (s wineServer) kill() {
	for _, pid := range winetest.Processes(s.token) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.Client.Kill()
}

// end closes the input. A process of Wine that never ends is killed.
func (s wineServer) end() {
	s.CloseInput()
	if s.Wait(10*time.Second) != nil {
		s.kill()
	}
}

// windowsHelper is a program for Windows that obeys line by line.
type windowsHelper struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func (p winePlace) helper(t *testing.T) windowsHelper {
	t.Helper()
	h, end := p.startHelper(t)
	t.Cleanup(end)
	return h
}

// startHelper starts a helper; end ends it and waits for that.
func (p winePlace) startHelper(t *testing.T) (h windowsHelper, end func()) {
	t.Helper()
	cmd := p.wine.Command(p.home, p.wine.Helper(), "serve")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return windowsHelper{t, in, bufio.NewReader(out)}, func() {
		in.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	}
}

// want is do for a line that has to be obeyed.
func (h windowsHelper) want(format string, words ...any) {
	h.t.Helper()
	if got := h.do(format, words...); !strings.HasPrefix(got, "ok") {
		h.t.Fatalf(format+": %s", append(words, got)...)
	}
}

func (h windowsHelper) do(format string, words ...any) string {
	h.t.Helper()
	_, err := fmt.Fprintf(h.in, format+"\n", words...)
	must(h.t, err)
	line, err := h.out.ReadString('\n')
	must(h.t, err)
	return strings.TrimSpace(line)
}
