//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// newUser is an empty home with a clone of this repository in it.
type newUser struct {
	t                    *testing.T
	home, clone, project string
	env                  []string
}

// TestFirstRun does what README.md says, as a new user does: in an empty home, from a
// clone to the first answer, which it times; run it alone for a figure. Then it runs
// every other command of the README as printed: the lines of its sh blocks, and the
// commands within its text. The command that runs the tests would run this test again:
// it is only compared with what continuous integration runs. The build cache and the downloaded modules are those of this
// machine.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("!!! NOT TESTED: a short run does not build the programs !!!")
	}
	for _, program := range []string{"git", "make", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", program)
		}
	}
	u := newUserOf(t)
	begin := time.Now()
	u.cloneRepository()
	cloned := time.Now()

	page, err := os.ReadFile(filepath.Join(u.clone, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks [][]string
	for _, m := range fence.FindAllStringSubmatch(string(page), -1) {
		if m[1] == "sh" {
			blocks = append(blocks, strings.Split(strings.TrimSpace(m[3]), "\n"))
		}
	}
	if len(blocks) < 4 || len(blocks[0]) != 2 || len(blocks[1]) != 2 {
		t.Fatalf("README.md should begin with two blocks of two commands: %q", blocks)
	}
	u.testedByCI(blocks[0][1])
	u.run(blocks[1][0])
	built := time.Now()
	u.run(blocks[1][1])
	u.firstAnswer(filepath.Join(u.project, ".mcp.json"))
	t.Logf("clone to first answer: %.1f s (clone %.1f, %s %.1f, the rest %.2f)", time.Since(begin).Seconds(),
		cloned.Sub(begin).Seconds(), blocks[1][0], built.Sub(cloned).Seconds(), time.Since(built).Seconds())

	u.rest(blocks)
	if out := u.run("fsmcp version"); !strings.Contains(out, "fsmcp") {
		t.Errorf("the program that was installed says %q", out)
	}
	installed := filepath.Join(u.home, ".local", "bin", "fsmcp")
	if out, err := exec.Command(installed, "version").Output(); err != nil {
		t.Errorf("make install made a program that says %q, %v", out, err)
	}
	u.run("make uninstall PREFIX=~/.local")
	if left, err := os.ReadDir(filepath.Dir(installed)); err != nil || len(left) > 0 {
		t.Errorf("make uninstall left %v, %v", left, err)
	}
	inText := regexp.MustCompile("`((?:make|go|fsmcp|bin/fsmcp) [^`]+)`").FindAllStringSubmatch(fence.ReplaceAllString(string(page), ""), -1)
	if len(inText) == 0 {
		t.Error("README.md has no command in its text")
	}
	var done []string
	for _, m := range inText {
		if command := m[1]; !slices.Contains(done, command) {
			done = append(done, command)
			u.run(command)
		}
	}
}

// rest runs the lines of the blocks that have not run. What links programs once more runs only
// where all is to be tested: then "make build" stands for it.
func (u *newUser) rest(blocks [][]string) {
	u.t.Helper()
	lines := append([]string{blocks[0][0]}, slices.Concat(blocks[2:]...)...)
	for _, command := range lines {
		links := command == "make demo" || strings.HasPrefix(command, "go install ")
		if links && !shortrun.Full() {
			u.t.Logf("!!! NOT TESTED: %s, which links programs once more; make faults runs it !!!", command)
			continue
		}
		u.run(command)
	}
	if !shortrun.Full() { // in the place of go install
		u.run("mkdir -p ~/go/bin && ln -s \"$PWD/bin/fsmcp\" ~/go/bin/fsmcp")
	}
}

func newUserOf(t *testing.T) *newUser {
	home := t.TempDir()
	u := &newUser{t: t, home: home, clone: filepath.Join(home, "fsmcp"), project: filepath.Join(home, "project")}
	if err := os.Mkdir(u.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(u.project, "hello.txt"), []byte("hello, new user\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// Go's own folders are those of this machine, but for the one that go install fills.
	u.env = []string{"HOME=" + home, "PREFIX=" + filepath.Join(home, ".local"), "PATH=" + filepath.Join(home, "go", "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GOFLAGS", "GOTOOLCHAIN"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		u.env = append(u.env, name+"="+strings.TrimSpace(string(out)))
	}
	return u
}

// testedByCI checks that continuous integration runs just this command.
func (u *newUser) testedByCI(command string) {
	u.t.Helper()
	script, err := os.ReadFile(filepath.Join(u.clone, ".ci", "run"))
	if err != nil {
		u.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(script)), "\n")
	if lines[len(lines)-1] != command {
		u.t.Errorf("README.md runs the tests by %q, continuous integration by %q", command, lines[len(lines)-1])
	}
}

// cloneRepository clones this repository, and puts over it what is not committed yet.
func (u *newUser) cloneRepository() {
	u.t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		u.t.Fatal(err)
	}
	if out, err := exec.Command("git", "clone", "-q", root, u.clone).CombinedOutput(); err != nil {
		u.t.Skipf("!!! NOT TESTED: this is no repository that can be cloned: %s !!!", out)
	}
	list := exec.Command("git", "ls-files", "-z", "--modified", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		u.t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		to := filepath.Join(u.clone, name)
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil { // it was removed
			os.Remove(to)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			u.t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o755); err != nil {
			u.t.Fatal(err)
		}
	}
}

// run gives a command to sh in the clone.
func (u *newUser) run(command string) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env = u.clone, u.env
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		u.t.Fatalf("%s: %v\n%s", command, err, out.String())
	}
	return out.String()
}

// firstAnswer starts the server as the client's configuration says, and reads a file.
func (u *newUser) firstAnswer(configuration string) {
	u.t.Helper()
	b, err := os.ReadFile(configuration)
	if err != nil {
		u.t.Fatal(err)
	}
	var c struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &c); err != nil {
		u.t.Fatalf("%s: %v", b, err)
	}
	server := c.Servers["fsmcp"]
	client, err := mcptest.Start(mcptest.Options{Path: server.Command, Args: server.Args, Dir: u.home, Env: u.env, Stderr: os.Stderr})
	if err != nil {
		u.t.Fatal(err)
	}
	if _, err := client.Initialize(mcptest.Latest); err != nil {
		u.t.Fatal(err)
	}
	res, err := client.Call("Read", map[string]string{"file_path": filepath.Join(u.project, "hello.txt")})
	if err != nil || res.IsError || res.Text != "1\thello, new user" {
		u.t.Fatalf("the first answer is %q, %v", res.Text, err)
	}
	if err := client.Close(); err != nil {
		u.t.Error(err)
	}
}
