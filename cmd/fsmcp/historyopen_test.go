package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// historyPage is a running fsmcp history open, and a browser that has opened its page.
type historyPage struct {
	cmd    *exec.Cmd
	client http.Client
	first  string // the address that was printed
	base   string
	events io.Closer
}

// startHistoryPage starts the command and opens the address that it prints.
func startHistoryPage(cmd *exec.Cmd) (*historyPage, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, found := strings.Cut(strings.TrimSpace(line), " at ")
	if !found {
		cmd.Process.Kill()
		return nil, fmt.Errorf("no address in %q: %w", line, err)
	}
	jar, _ := cookiejar.New(nil) // it never fails
	base, _, _ := strings.Cut(address, "/?")
	p := &historyPage{cmd: cmd, client: http.Client{Jar: jar}, first: address, base: base}
	for _, target := range []string{address, p.base + "/events"} {
		a, err := p.client.Get(target)
		if err != nil || a.StatusCode != http.StatusOK {
			cmd.Process.Kill()
			return nil, fmt.Errorf("%s: %v, %w", target, a, err)
		}
		p.events = a.Body
	}
	return p, nil
}

// ask sends a request of the page, and returns the answer.
func (p *historyPage) ask(method, target string) (string, error) {
	r, err := http.NewRequest(method, p.base+target, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Origin", p.base)
	r.Header.Set("X-Fsmcp", "1")
	a, err := p.client.Do(r)
	if err != nil {
		return "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return string(text), err
}

// browse is a browser on the history, for scripts:
//
//	browse start WORD...    starts fsmcp history open with these flags, and opens the page
//	browse get PATH FILE    writes what the page gets to a file
//	browse restore ID FILE  takes a change back by two requests
//	browse close            closes the page, after which the command ends
func (d *driver) browse(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "browse start|get|restore|close ...")
	if args[0] == "start" {
		cmd := exec.Command(ts.Getenv("FSMCP"), append([]string{"history", "open", "--no-browser"}, args[1:]...)...)
		cmd.Dir, cmd.Env, cmd.Stderr = ts.MkAbs("."), d.environment(ts), ts.Stderr()
		page, err := startHistoryPage(cmd)
		ts.Check(err)
		d.page = page
		d.cleanups = append(d.cleanups, func() error {
			if d.page != nil {
				cmd.Process.Kill()
				cmd.Wait()
			}
			return nil
		})
		return
	}
	if d.page == nil {
		ts.Fatalf("browse start first")
	}
	var text string
	var err error
	switch args[0] {
	case "get":
		text, err = d.page.ask("GET", args[1])
	case "restore":
		var shown struct{ Key string }
		if text, err = d.page.ask("POST", "/api/preview?id="+args[1]); err == nil {
			ts.Check(json.Unmarshal([]byte(text), &shown))
		}
		if shown.Key != "" {
			text, err = d.page.ask("POST", "/api/restore?key="+shown.Key)
		}
	case "close":
		d.page.events.Close()
		err = d.page.cmd.Wait()
		d.page = nil
	}
	ts.Check(err)
	if len(args) > 2 {
		put(ts, false, []string{args[2], strings.ReplaceAll(text, `\`, `\\`)})
	}
}
