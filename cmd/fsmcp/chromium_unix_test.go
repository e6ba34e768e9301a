//go:build unix

package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// chromium is a browser without a window, driven over pipes (source: the Chrome DevTools
// Protocol). Its one tab is open.
type chromium struct {
	*testing.T
	to      io.Writer
	session string

	mu      sync.Mutex
	last    int
	answers map[int]chan message
	loads   chan string // loader ids of pages that are loaded
	faults  []string    // errors that the page or the browser has reported
}

// message is one of the protocol.
type message struct {
	ID     int                       `json:"id,omitempty"`
	Method string                    `json:"method,omitempty"`
	Params json.RawMessage           `json:"params,omitempty"`
	Result json.RawMessage           `json:"result,omitempty"`
	Error  *struct{ Message string } `json:"error,omitempty"`

	Session string `json:"sessionId,omitempty"`
}

// newChromium starts the browser of this system, or skips the test loudly.
func newChromium(t *testing.T) *chromium {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("!!! NOT TESTED: the history in a browser: Chromium is missing (Debian: chromium) !!!")
	}
	fromTest, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--disable-sync", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(dir, "profile"), "about:blank")
	cmd.ExtraFiles = []*os.File{fromTest, toTest}
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fromTest.Close()
	toTest.Close()
	c := &chromium{T: t, to: toBrowser, answers: make(map[int]chan message), loads: make(chan string, 100)}
	go c.read(fromBrowser)
	t.Cleanup(func() {
		c.session = ""
		c.call("Browser.close", nil, nil)
		cmd.Wait()
		toBrowser.Close()
	})
	c.open()
	return c
}

// open opens the tab.
func (c *chromium) open() {
	c.Helper()
	var target struct{ TargetID string }
	c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		c.call(domain+".enable", nil, nil)
	}
	c.call("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
}

// navigate opens an address and waits until it is loaded.
func (c *chromium) navigate(address string) {
	c.Helper()
	var begun struct{ LoaderID, ErrorText string }
	c.call("Page.navigate", map[string]any{"url": address}, &begun)
	if begun.ErrorText != "" {
		c.Fatalf("%s: %s", address, begun.ErrorText)
	}
	for id := range c.loads {
		if id == begun.LoaderID {
			return
		}
	}
}

// read takes messages apart. Each ends with a zero byte.
func (c *chromium) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		c.mu.Lock()
		if err != nil {
			for id, waiting := range c.answers {
				close(waiting)
				delete(c.answers, id)
			}
			close(c.loads)
			c.answers = nil
			c.mu.Unlock()
			return
		}
		var m message
		json.Unmarshal(text[:len(text)-1], &m)
		switch {
		case m.ID != 0:
			c.answers[m.ID] <- m
			delete(c.answers, m.ID)
		case m.Method == "Page.lifecycleEvent":
			var event struct{ Name, LoaderID string }
			if json.Unmarshal(m.Params, &event); event.Name == "load" {
				c.loads <- event.LoaderID
			}
		case m.Method == "Log.entryAdded", m.Method == "Runtime.exceptionThrown", m.Method == "Page.javascriptDialogOpening":
			c.faults = append(c.faults, string(m.Params))
		}
		c.mu.Unlock()
	}
}

// call calls a method of the browser, or of the tab once that is open.
func (c *chromium) call(method string, params any, result any) {
	c.Helper()
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		c.Fatal(err)
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.answers == nil {
		c.mu.Unlock()
		return // it has ended
	}
	c.last++
	text, _ := json.Marshal(message{ID: c.last, Method: method, Params: raw, Session: c.session})
	c.answers[c.last] = answer
	c.mu.Unlock()
	fmt.Fprintf(c.to, "%s\x00", text)
	m, ok := <-answer
	if m.Error != nil {
		c.Fatalf("%s: %s", method, m.Error.Message)
	}
	if ok && result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.Fatal(err)
		}
	}
}

// eval returns the value of an expression in the page, as text. A promise is waited for.
func (c *chromium) eval(expression string) string {
	c.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	c.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		c.Fatalf("%s: %s", expression, out.ExceptionDetails)
	}
	return fmt.Sprint(out.Result.Value)
}

// await waits until an expression in the page is true: it looks after each change of the page.
func (c *chromium) await(expression string) {
	c.Helper()
	if c.eval(`new Promise(done => {
		const end = found => { watch.disconnect(); clearTimeout(timer); done(found) }
		const look = () => { if (`+expression+`) end(true) }
		const watch = new MutationObserver(look), timer = setTimeout(() => end(false), 60000)
		watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
		addEventListener('focusin', look)
		document.addEventListener('load', look, true)
		look()
	})`) != "true" {
		c.Fatalf("it does not become true: %s\n%s", expression, c.eval(`document.body.innerText`))
	}
}

// want compares the value of an expression.
func (c *chromium) want(expression, want string) {
	c.Helper()
	if got := c.eval(expression); got != want {
		c.Errorf("%s is %q, not %q", expression, got, want)
	}
}

// key presses a key, such as Tab or Enter.
func (c *chromium) key(name string) {
	c.Helper()
	params := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": map[string]int{"Tab": 9, "Enter": 13}[name]}
	if name == "Enter" {
		params["text"] = "\r"
	}
	c.call("Input.dispatchKeyEvent", params, nil)
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name}, nil)
}

// width makes the window so wide, with the colours that the user prefers.
func (c *chromium) width(pixels int, colours string) {
	c.Helper()
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": colours}}}, nil)
}

// picture writes what the page looks like to a file in the folder that FSMCP_PAGE_PICTURES names, for a
// look at it; without the variable it does nothing.
func (c *chromium) picture(name string) {
	c.Helper()
	dir := os.Getenv("FSMCP_PAGE_PICTURES")
	if dir == "" {
		return
	}
	var out struct{ Data string }
	c.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &out)
	png, err := base64.StdEncoding.DecodeString(out.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		c.Fatal(err)
	}
}

// faultless fails the test if the page or the browser has reported an error: a script that failed
// or was stopped, something that the policy did not let it load, or a dialog.
func (c *chromium) faultless() {
	c.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		if !strings.Contains(f, "favicon.ico") {
			c.Error(f)
		}
	}
}
