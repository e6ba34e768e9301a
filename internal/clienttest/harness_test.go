//go:build linux

package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// Versions of the packages. Node is one of them: some clients need a newer one than
// distributions have.
const (
	nodeVersion      = "24.21.0"
	claudeVersion    = "2.1.330"
	codexVersion     = "0.169.0"
	geminiVersion    = "0.61.0"
	opencodeVersion  = "1.18.33"
	inspectorVersion = "2.12.0"
	// An alpha: the newest that is none knows nothing of revision 2026-07-28.
	conformanceVersion = "0.2.0-alpha.12"
)

// TestDocumented checks that docs/clients.md names the versions.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	check(t, err)
	for name, version := range map[string]string{
		"Claude Code": claudeVersion, "Codex": codexVersion, "Gemini CLI": geminiVersion, "opencode": opencodeVersion, "MCP Inspector": inspectorVersion, "official conformance suite": conformanceVersion,
	} {
		if row := "| " + name + " | " + version + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/clients.md lacks %q", row)
		}
	}
}

// arch is the name of this machine's processor in the names of packages.
var arch = map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]

// programs is the folder of fsmcp and its decoder.
var programs string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		return m.Run()
	}
	temp, err := os.MkdirTemp("", "fsmcp-clients-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(temp)
	programs = filepath.Join(temp, "bin")
	for _, name := range []string{"fsmcp", "fsmcp-media"} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(programs, name), "github.com/fsmcp/fsmcp/cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Printf("go build %s: %v\n%s", name, err, out)
			return 1
		}
	}
	return m.Run()
}

// missing is the reason why packages cannot be installed, from the first attempt on.
var missing struct {
	sync.Mutex
	err error
}

// some is the first of the models that a client may be set to, or all of them where everything
// is to be tested.
func some(models ...string) []string {
	if shortrun.Full() {
		return models
	}
	return models[:1]
}

// install returns the folder node_modules that holds a package at a version. A package
// that was installed before needs no network; one that cannot be had skips the test.
//
// It is installed with others, as "NAME@VERSION", that it needs beside it.
func install(t *testing.T, name, version string, others ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a short run starts no clients")
	}
	if arch == "" {
		t.Skipf("!!! NOT TESTED: %s has no program for %s !!!", name, runtime.GOARCH)
	}
	dir := strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + version
	for _, other := range others {
		dir += "-" + strings.ReplaceAll(other, "@", "-")
	}
	dir = cached(dir)
	missing.Lock()
	defer missing.Unlock()
	if _, err := os.Stat(dir); err != nil {
		if missing.err == nil {
			missing.err = complete(dir, func(fresh string) error { return npmInstall(fresh, append(others, name+"@"+version)...) })
		}
		if missing.err != nil {
			t.Skipf("!!! NOT TESTED: npm cannot install %s@%s: %v !!!", name, version, missing.err)
		}
	}
	return filepath.Join(dir, "node_modules")
}

// cached returns the folder of a package, whether it is there or not.
func cached(name string) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "fsmcp-clients", name)
}

// complete has a folder filled beside dir and renames it to dir then.
func complete(dir string, fill func(fresh string) error) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := fill(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, dir)
}

// npmInstall installs packages in a folder. No script of them runs.
func npmInstall(dir string, packages ...string) error {
	return quietly(exec.Command("npm", append([]string{"install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--fetch-retries=1", "--loglevel=error"}, packages...)...))
}

// quietly runs a command. The error holds the beginning of what it wrote.
func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.200s", err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

// sandbox is an empty home with a project in it.
type sandbox struct {
	t       *testing.T
	home    string
	project string
	env     []string
}

func newSandbox(t *testing.T, env ...string) *sandbox {
	t.Helper()
	home := t.TempDir()
	s := &sandbox{t: t, home: home, project: filepath.Join(home, "project")}
	check(t, os.Mkdir(s.project, 0o777))
	s.env = append([]string{
		"HOME=" + home, "TMPDIR=" + t.TempDir(), "TERM=dumb", "LANG=C.UTF-8",
		"PATH=" + filepath.Join(install(t, "node-linux-"+arch, nodeVersion), "node-linux-"+arch, "bin") + ":/usr/bin:/bin",
		// Nothing listens there: what would leave the machine fails at once.
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,localhost",
	}, env...)
	return s
}

// write writes a file of the project and returns its path.
func (s *sandbox) write(name string, content []byte) string {
	s.t.Helper()
	path := filepath.Join(s.project, name)
	check(s.t, os.WriteFile(path, content, 0o666))
	return path
}

// read returns a file of the project.
func (s *sandbox) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.project, name))
	check(s.t, err)
	return string(b)
}

// timeout bounds one run of a client that hangs: on a busy machine one takes more than a minute.
const timeout = 5 * time.Minute

// output holds both streams of a program that has ended.
type output struct {
	stdout, stderr string
	err            error
}

// try runs a program in the project. Whatever it started ends with it.
func (s *sandbox) try(program string, args ...string) output {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = kill
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.Process != nil {
		_ = kill() // an error says that nothing is left
	}
	return output{stdout.String(), stderr.String(), err}
}

// run is try for a program that must succeed; it returns standard output.
func (s *sandbox) run(program string, args ...string) string {
	s.t.Helper()
	out := s.try(program, args...)
	if out.err != nil {
		s.t.Fatalf("%s %q: %v\n%s\n%s", program, args, out.err, out.stdout, out.stderr)
	}
	return out.stdout
}

func (s *sandbox) fsmcp(args ...string) string {
	s.t.Helper()
	return s.run(filepath.Join(programs, "fsmcp"), args...)
}

// configured holds the answer of "fsmcp config" for a client.
type configured struct {
	File    string
	Snippet string
	Command []string
}

func (s *sandbox) config(client string) (c configured) {
	s.t.Helper()
	check(s.t, json.Unmarshal([]byte(s.fsmcp("config", client, "--json", "--dir", s.project)), &c))
	return c
}

// decoders returns a home's cache in which PDFium is compiled already.
var decoders = sync.OnceValues(func() (string, error) {
	home := filepath.Join(filepath.Dir(programs), "home")
	if err := os.Mkdir(home, 0o777); err != nil {
		return "", err
	}
	file := filepath.Join(home, "a.pdf")
	if err := os.WriteFile(file, report(), 0o666); err != nil {
		return "", err
	}
	arguments, err := json.Marshal(map[string]string{"file_path": file})
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(programs, "fsmcp"), "call", "Read", string(arguments))
	cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(home, ".cache"), nil
})

// warm gives the sandbox compiled decoders, which would cost each client seconds.
func (s *sandbox) warm() {
	s.t.Helper()
	cache, err := decoders()
	check(s.t, err)
	out, err := exec.Command("cp", "-a", cache, s.home).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
