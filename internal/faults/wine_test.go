//go:build linux

package faults

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
		t.Skip("make wine attacks the program for Windows")
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
	wineServers.Lock()
	wineServers.n++
	token := fmt.Sprintf("FSMCP_WINE_SERVER=%d-%d.", os.Getpid(), wineServers.n)
	wineServers.Unlock()
	cmd := p.wine.Command(p.home, p.wine.FSMCP(), append(append([]string{"serve", "--tools", "all"}, flags...), ws)...)
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
	cmd := p.wine.Command(p.home, p.wine.Helper(), "serve")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	})
	return windowsHelper{t, in, bufio.NewReader(out)}
}

func (h windowsHelper) do(format string, words ...any) string {
	h.t.Helper()
	_, err := fmt.Fprintf(h.in, format+"\n", words...)
	must(h.t, err)
	line, err := h.out.ReadString('\n')
	must(h.t, err)
	return strings.TrimSpace(line)
}

// TestWineKills kills the program for Windows while it writes 50 MB. After the next start
// the file is the old one or the new one, and nothing else is in the folder.
func TestWineKills(t *testing.T) {
	p := newWinePlace(t)
	const size = 50 << 20
	name := p.file("large.txt")
	body := bytes.Repeat([]byte("a line of the body of a large file, which an edit moves\n"), size/56)
	versions := [2][]byte{append([]byte("old\n"), body...), append([]byte("new, and longer\n"), body...)}
	must(t, os.WriteFile(name, versions[0], 0o644))
	words := [2]string{"old", "new, and longer"}
	kills := count(t, "FSMCP_WINE_KILLS", 8)
	longest := time.Duration(0)
	outcomes := [2]int{}
	for round := -1; round < kills; round++ { // the first is not killed
		s := p.serve(t, winetest.Name(p.ws))
		if left := noStrays(t, p.ws, func(name string) bool { return name == "large.txt" }); left != nil {
			t.Fatalf("kill %d: left after the next start: %q", round, left)
		}
		at := slices.IndexFunc(versions[:], func(v []byte) bool { return bytes.Equal(v, read(t, name)) })
		if at < 0 {
			t.Fatalf("kill %d: the file is neither old nor new", round)
		}
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(name), "limit": 3})
		begin := time.Now()
		edit, err := s.GoCall("Edit", args{"file_path": winetest.Name(name), "old_string": words[at] + "\n", "new_string": words[1-at] + "\n"})
		must(t, err)
		if round < 0 {
			res, err := edit.Result()
			must(t, err)
			if res.IsError {
				t.Fatal(res.Text)
			}
			longest = time.Since(begin)
			s.end()
			continue
		}
		time.Sleep(rand.N(longest))
		s.kill()
		if bytes.Equal(read(t, name), versions[at]) {
			outcomes[0]++
		} else {
			outcomes[1]++
		}
	}
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	if left := noStrays(t, p.ws, func(name string) bool { return name == "large.txt" }); left != nil {
		t.Fatalf("left after the next start: %q", left)
	}
	report(t, "%d kills within %v: %d old, %d changed or under way, 0 mixed, 0 left after the next start", kills, longest, outcomes[0], outcomes[1])
}

// TestWineServers has servers edit a line each of one file, under two spellings of its name.
func TestWineServers(t *testing.T) {
	for _, servers := range []int{2, 4} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			p := newWinePlace(t)
			edits := count(t, "FSMCP_WINE_EDITS", 20)
			file := p.file("Counter.txt")
			text := ""
			for i := range servers {
				text += fmt.Sprintf("server %d: 0.\n", i)
			}
			must(t, os.WriteFile(file, []byte(text), 0o644))
			var all sync.WaitGroup
			var busy sync.Map
			for i := range servers {
				s := p.serve(t, winetest.Name(p.ws))
				defer s.end()
				name := winetest.Name(file)
				if i%2 == 1 {
					name = winetest.Name(p.file("COUNTER.TXT"))
				}
				all.Go(func() {
					for n, tries := 0, 0; n < edits; tries++ {
						if tries > 40*edits {
							t.Errorf("server %d is stuck at %d", i, n)
							return
						}
						_, _ = s.Call("Read", args{"file_path": name})
						res, err := s.Call("Edit", args{"file_path": name,
							"old_string": fmt.Sprintf("server %d: %d.", i, n), "new_string": fmt.Sprintf("server %d: %d.", i, n+1)})
						if err != nil {
							t.Error(err)
							return
						}
						if !res.IsError {
							n++
						} else if res.Slug == "no_match" {
							t.Errorf("server %d: its edit %d is lost: %s", i, n, res.Text)
							return
						} else {
							busy.Store(fmt.Sprint(i, n, tries), res.Slug)
						}
					}
				})
			}
			all.Wait()
			for i := range servers {
				if !strings.Contains(string(read(t, file)), fmt.Sprintf("server %d: %d.\n", i, edits)) {
					t.Errorf("the file holds %s", read(t, file))
				}
			}
			refused := 0
			busy.Range(func(_, _ any) bool { refused++; return true })
			report(t, "%d servers x %d edits, 0 lost, %d tried again", servers, edits, refused)
		})
	}
}

// TestWineForeignHolds has another program hold the file in each share mode, while fsmcp
// edits it. An edit that another program's handle does not allow is busy, and an edit that
// is answered is in the file beside what the other program appends.
func TestWineForeignHolds(t *testing.T) {
	p := newWinePlace(t)
	h := p.helper(t)
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	file := p.file("a.txt")
	must(t, os.WriteFile(file, []byte("edits: 0.\n"), 0o644))
	accesses, shares := []string{"r", "w", "rw"}, []string{"-", "r", "w", "rw", "rd", "rwd"}
	rounds := count(t, "FSMCP_WINE_HOLDS", 18)
	edits, busy, wrong := 0, 0, 0
	appended := []string{}
	for round := range rounds {
		access, share := accesses[round%3], shares[round/3%6]
		mustCall(t, s.Client, "Read", args{"file_path": winetest.Name(file)})
		if got := h.do("open %s %s %s", access, share, winetest.Name(file)); !strings.HasPrefix(got, "ok") {
			t.Fatalf("open %s %s: %s", access, share, got)
		}
		res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
			"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
		must(t, err)
		writes, readsWithDelete := strings.Contains(access, "w"), access == "r" && strings.Contains(share, "r") && strings.Contains(share, "d")
		switch {
		case !res.IsError && writes:
			t.Errorf("access %s, share %s: the edit was made while another program could write", access, share)
			edits++
		case !res.IsError:
			edits++
		case res.Slug != "busy" || readsWithDelete:
			wrong++
			t.Errorf("access %s, share %s: answered %s: %s", access, share, res.Slug, clip(res.Text))
		default:
			busy++
		}
		if writes {
			line := fmt.Sprintf("foreign%d", round)
			if got := h.do("append %s", line); strings.HasPrefix(got, "ok") {
				appended = append(appended, line)
			}
		}
		h.do("close")
	}
	text := string(read(t, file))
	for _, line := range appended {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is lost", line)
		}
	}
	if !strings.Contains(text, fmt.Sprintf("edits: %d.", edits)) {
		t.Errorf("an edit is lost: %s", clip(text))
	}
	report(t, "%d holds in %d share modes: %d edits, %d busy, %d other answers, %d foreign lines, 0 lost", rounds, len(accesses)*len(shares), edits, busy, wrong, len(appended))
}

// TestWineForeignWriters has another program append lines, and a third one read, while
// fsmcp edits as fast as it can.
func TestWineForeignWriters(t *testing.T) {
	p := newWinePlace(t)
	writer, reader := p.helper(t), p.helper(t)
	s := p.serve(t, winetest.Name(p.ws))
	defer s.end()
	file := p.file("a.txt")
	must(t, os.WriteFile(file, []byte("edits: 0.\n"), 0o644))
	rounds := count(t, "FSMCP_WINE_WRITES", 40)
	done := make(chan struct{})
	var reads string
	var both sync.WaitGroup
	appended := []string{}
	both.Go(func() {
		defer close(done)
		for i := range rounds {
			share := []string{"r", "rw", "rwd"}[i%3]
			if !strings.HasPrefix(writer.do("open w %s %s", share, winetest.Name(file)), "ok") {
				continue // it may not write while fsmcp changes the file
			}
			line := fmt.Sprintf("foreign%d", i)
			if strings.HasPrefix(writer.do("append %s", line), "ok") {
				appended = append(appended, line)
			}
			writer.do("close")
			time.Sleep(rand.N(40 * time.Millisecond)) // an edit falls in between, sometimes
		}
	})
	both.Go(func() { reads = reader.do("reads %d %s", rounds*3, winetest.Name(file)) })
	edits := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		_, _ = s.Call("Read", args{"file_path": winetest.Name(file)})
		res, err := s.Call("Edit", args{"file_path": winetest.Name(file),
			"old_string": fmt.Sprintf("edits: %d.", edits), "new_string": fmt.Sprintf("edits: %d.", edits+1)})
		must(t, err)
		if !res.IsError {
			edits++
		}
	}
	both.Wait()
	text := string(read(t, file))
	lost := 0
	for _, line := range appended {
		if !strings.Contains(text, line+"\n") {
			lost++
		}
	}
	if lost > 0 || !strings.Contains(text, fmt.Sprintf("edits: %d.", edits)) {
		t.Errorf("%d of %d foreign lines are lost, after %d edits: %s", lost, len(appended), edits, clip(text))
	}
	var refused, missing int
	if _, err := fmt.Sscanf(reads, "ok %d %d", &refused, &missing); err != nil || refused > 0 {
		t.Errorf("the reader was locked out: %s", reads)
	}
	report(t, "%d foreign lines of %d tries and %d edits, %d lost; %d readers: %d refused, %d found no name for a moment", len(appended), rounds, edits, lost, rounds*3, refused, missing)
}

const topSecret = "TOPSECRET-7"

// TestWineDenyRules denies a folder in eight spellings. No tool shows what is in it; the
// control arm, without rules, shows that each of them would.
func TestWineDenyRules(t *testing.T) {
	p := newWinePlace(t)
	must(t, os.MkdirAll(p.file("secrets"), 0o755))
	must(t, os.MkdirAll(p.file("open"), 0o755))
	must(t, os.WriteFile(p.file("secrets/key.txt"), []byte(topSecret+"\n"), 0o644))
	must(t, os.WriteFile(p.file("open/a.txt"), []byte("plain\n"), 0o644))
	must(t, os.WriteFile(p.file("open/CLAUDE.md"), []byte("a hint\n"), 0o644))
	full := winetest.Name(p.ws)
	slashes := strings.ReplaceAll(full, `\`, "/")
	leaks := func(flags ...string) (found []string) {
		s, err := p.tryServe(full, flags...)
		if err != nil {
			return nil // a rule that is refused closes everything
		}
		defer s.end()
		check := func(what, secret, tool string, a args) {
			res, err := s.Call(tool, a)
			must(t, err)
			if strings.Contains(res.Text, secret) {
				found = append(found, what)
			}
		}
		check("Read", topSecret, "Read", args{"file_path": full + `\secrets\key.txt`})
		check("Read in capitals", topSecret, "Read", args{"file_path": strings.ToUpper(full[:3]) + full[3:] + `\SECRETS\KEY.TXT`})
		check("Glob", "key.txt", "Glob", args{"pattern": "**/*.txt"})
		check("Grep", topSecret, "Grep", args{"pattern": "TOPSECRET", "output_mode": "content"})
		check("Hints", "CLAUDE.md", "Read", args{"file_path": full + `\open\a.txt`})
		res, err := s.Call("Edit", args{"file_path": full + `\secrets\key.txt`, "old_string": topSecret, "new_string": topSecret + "8"})
		must(t, err)
		if !res.IsError || strings.Contains(res.Text, topSecret) {
			found = append(found, "Edit")
			must(t, os.WriteFile(p.file("secrets/key.txt"), []byte(topSecret+"\n"), 0o644))
		}
		return found
	}
	control := leaks()
	for _, tool := range []string{"Read", "Read in capitals", "Glob", "Grep", "Edit"} {
		if !slices.Contains(control, tool) {
			t.Errorf("the control arm: %s shows nothing", tool)
		}
	}
	sum := 0
	spellings := []string{full + `\%s`, `%s`, `.\%s`, `\%s`, slashes + `/%s`, "/z" + slashes[2:] + `/%s`, `~\ws\%s`, `%%USERPROFILE%%\ws\%s`}
	for _, spelling := range spellings {
		rule := fmt.Sprintf(spelling, `secrets\**`)
		hint := fmt.Sprintf(spelling, `open\CLAUDE.md`)
		if strings.Contains(spelling, "/") {
			rule = strings.ReplaceAll(rule, `\`, "/")
			hint = strings.ReplaceAll(hint, `\`, "/")
		}
		if found := leaks("--deny", "Read("+rule+")", "--deny", "Read("+hint+")"); found != nil {
			sum += len(found)
			t.Errorf("--deny Read(%s): shown by %q", rule, found)
		}
	}
	report(t, "%d spellings, %d leaks; the control arm shows %q", len(spellings), sum, control)
}

// TestWineHardLinks denies a file that also has another name.
func TestWineHardLinks(t *testing.T) {
	p := newWinePlace(t)
	must(t, os.WriteFile(p.file(".env"), []byte(topSecret+"\n"), 0o644))
	must(t, os.Link(p.file(".env"), p.file("innocent.txt")))
	for _, rule := range []string{"", "Read(.env)", `Read(.\.env)`} {
		flags := []string{"--deny", rule}
		if rule == "" {
			flags = nil
		}
		s := p.serve(t, winetest.Name(p.ws), flags...)
		read, err := s.Call("Read", args{"file_path": winetest.Name(p.file("innocent.txt"))})
		must(t, err)
		grep, err := s.Call("Grep", args{"pattern": "TOPSECRET", "output_mode": "content"})
		must(t, err)
		s.end()
		for tool, res := range map[string]mcptest.Result{"Read": read, "Grep": grep} {
			if strings.Contains(res.Text, topSecret) != (rule == "") {
				t.Errorf("rule %q: %s answers %s", rule, tool, clip(res.Text))
			}
		}
	}
}
