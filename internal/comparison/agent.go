package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// The official server and its version.
const (
	officialName    = "@modelcontextprotocol/server-filesystem"
	officialVersion = "2026.8.31"
)

// starter returns how a server is started for a workspace folder; home is empty.
type starter func(t task, dir, home string) mcptest.Options

// fsmcpServer serves all tools, as fsmcp config sets up for clients without a shell. It has the
// program that reads PDFs in a task with one alone: pictures are then of the same bytes on every
// machine.
func fsmcpServer(p programs) starter {
	return func(t task, dir, home string) mcptest.Options {
		env := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+p.cache, "CLAUDE_CONFIG_DIR=")
		if t.pdf {
			env = append(env, "FSMCP_MEDIA="+p.media)
		}
		return mcptest.Options{Path: p.fsmcp, Args: []string{"serve", "--tools", "all", dir}, Dir: dir, Env: env}
	}
}

func officialServer(program string) starter {
	return func(_ task, dir, _ string) mcptest.Options {
		return mcptest.Options{Path: "node", Args: []string{program, dir}, Dir: dir}
	}
}

// installServer installs the official server into a folder, from npm's cache where that
// has it. No script of a package runs.
func installServer(dir string) (program string, err error) {
	out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-save",
		"--fetch-retries=1", "--loglevel=error", officialName+"@"+officialVersion).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("npm install %s@%s: %w: %.300s", officialName, officialVersion, err, out)
	}
	return filepath.Join(dir, "node_modules", officialName, "dist", "index.js"), nil
}

// agent makes calls and counts what they cost.
type agent struct {
	client *mcptest.Client
	dir    string
	cost   cost
	gaveUp bool // it knows that the task is not done
}

// cost counts the calls and bytes of a task.
type cost struct {
	calls    int
	in       int // bytes of tool names and arguments
	out      int // bytes of the texts that come back
	pictures int // bytes of the pictures that come back, in base64
	tools    int // how many there are
	list     int // bytes of their list, which a client loads before the first call
}

// total returns the bytes that are sent and come back, apart from the list of tools.
func (c cost) total() int { return c.in + c.out + c.pictures }

// answer holds the content of a result, which a model is shown.
type answer struct {
	text     string
	pictures int
	failed   bool
}

type arguments map[string]any

// call makes one call. The workspace counts as /project, so that the numbers are the same
// wherever it lies.
func (a *agent) call(tool string, args arguments) (answer, error) {
	pending, err := a.send(tool, args)
	if err != nil {
		return answer{}, err
	}
	return a.receive(pending)
}

// send makes a call and does not wait for the answer.
func (a *agent) send(tool string, args arguments) (*mcptest.Pending, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(args); err != nil {
		return nil, err
	}
	a.cost.calls++
	a.cost.in += len(tool) + len(a.fold(strings.TrimSpace(b.String())))
	return a.client.GoCall(tool, args)
}

func (a *agent) receive(pending *mcptest.Pending) (answer, error) {
	res, err := pending.Result()
	if err != nil {
		return answer{}, err
	}
	var content struct {
		Content []struct{ Type, Text, Data string }
	}
	if err := json.Unmarshal(res.Raw, &content); err != nil {
		return answer{}, err
	}
	got := answer{failed: res.IsError}
	for _, block := range content.Content {
		switch block.Type {
		case "text":
			got.text += a.fold(block.Text)
		case "image":
			got.pictures += len(block.Data)
		default:
			return got, fmt.Errorf("a block of type %s", block.Type)
		}
	}
	a.cost.out += len(got.text)
	a.cost.pictures += got.pictures
	return got, nil
}

// fold shortens the workspace and the folder above it to names of fixed lengths.
func (a *agent) fold(text string) string {
	return strings.NewReplacer(a.dir, "/project", filepath.Dir(a.dir), "/outside").Replace(text)
}

// path returns the absolute path of a file of the workspace.
func (a *agent) path(name string) string { return filepath.Join(a.dir, name) }

// foreign writes a file as another program does.
func (a *agent) foreign(name, text string) error {
	return os.WriteFile(a.path(name), []byte(text), 0o644)
}

// outcome holds the end of a task with one server.
type outcome struct {
	cost  cost
	done  bool
	wrong int    // bytes on the disk that should be there and are not, or the other way round
	note  string // what else to know
}

// measure runs all tasks with one server, each in a workspace of its own.
func measure(temp string, start starter, scriptOf func(task) script) (all []outcome, err error) {
	for i, t := range tasks() {
		o, err := attempt(filepath.Join(temp, fmt.Sprint(i)), start, t, scriptOf(t))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.title, err)
		}
		all = append(all, o)
	}
	return all, nil
}

func attempt(dir string, start starter, t task, play script) (o outcome, err error) {
	a := &agent{dir: filepath.Join(dir, "work")}
	home := filepath.Join(dir, "home")
	for _, d := range []string{a.dir, home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return o, err
		}
	}
	before, err := t.setUp(a.dir)
	if err != nil {
		return o, err
	}
	options := start(t, a.dir, home)
	var stderr bytes.Buffer
	options.Stderr = &stderr
	if a.client, err = mcptest.Start(options); err != nil {
		return o, err
	}
	a.client.Timeout = 2 * time.Minute
	if _, err := a.client.Initialize(mcptest.Latest); err != nil {
		a.client.Kill()
		return o, fmt.Errorf("%w: %.300s", err, stderr.String())
	}
	list, err := a.client.Request("tools/list", arguments{})
	if err != nil {
		a.client.Kill()
		return o, err
	}
	var tools struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(list.Result, &tools); err != nil {
		a.client.Kill()
		return o, err
	}
	a.cost.tools, a.cost.list = len(tools.Tools), len(list.Result)
	seen, err := play(a)
	if err = errors.Join(err, a.client.Close()); err != nil {
		return o, fmt.Errorf("%w: %.300s", err, stderr.String())
	}
	o.cost = a.cost
	want := t.want
	if a.gaveUp {
		want = before
	}
	o.done = !a.gaveUp && (t.saw == nil || t.saw(seen))
	if o.done {
		for _, name := range t.gone {
			if _, err := os.Lstat(a.path(name)); !errors.Is(err, fs.ErrNotExist) {
				o.done, o.note = false, "old files are left"
			}
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(a.path(name))
		if err != nil {
			return o, err
		}
		o.wrong += wrongBytes(text, string(got))
	}
	if t.mode != 0 {
		info, err := os.Stat(a.path(t.file))
		if err != nil {
			return o, err
		}
		if info.Mode().Perm() != t.mode {
			o.done, o.note = false, fmt.Sprintf("mode %o", info.Mode().Perm())
		}
	}
	o.done = o.done && o.wrong == 0
	return o, nil
}

// wrongBytes counts the bytes that lack and those that are too many.
func wrongBytes(want, got string) int {
	for len(want) > 0 && len(got) > 0 && want[0] == got[0] {
		want, got = want[1:], got[1:]
	}
	for len(want) > 0 && len(got) > 0 && want[len(want)-1] == got[len(got)-1] {
		want, got = want[:len(want)-1], got[:len(got)-1]
	}
	if len(want)*len(got) > 1<<26 {
		return len(want) + len(got)
	}
	// The longest common subsequence, row by row.
	row := make([]int, len(got)+1)
	for i := range len(want) {
		diagonal := 0
		for j := range len(got) {
			above := row[j+1]
			if want[i] == got[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return len(want) + len(got) - 2*row[len(got)]
}
