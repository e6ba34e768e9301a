package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// installedByNPM installs the packed files into an empty folder, without a network, and uses
// the server as people do: by npx.
func installedByNPM(t *testing.T, dist string) {
	for _, name := range []string{"node", "npm", "npx"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("!!! NOT TESTED: the npm packages: %s is missing !!!", name)
		}
	}
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "npm_config_cache="+filepath.Join(dir, "cache"), "npm_config_update_notifier=false",
		"npm_config_registry=http://127.0.0.1:9", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "FSMCP_MEDIA=")
	run := func(name string, args ...string) (out string, code int) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		text, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	all, err := filepath.Abs(filepath.Join(dist, "npm"))
	if err != nil {
		t.Fatal(err)
	}
	starter, programs := filepath.Join(all, "fsmcp-1.2.3.tgz"), filepath.Join(all, "fsmcp-linux-x64-1.2.3.tgz")
	put(t, filepath.Join(dir, "package.json"), []byte("{}"), 0o644)
	if out, code := run("npm", "install", "--offline", "--no-audit", "--no-fund", starter, programs); code != 0 {
		t.Fatalf("npm install: %d\n%s", code, out)
	}

	if out, code := run("npx", "--offline", "fsmcp", "--version"); code != 0 || out != "fsmcp v1.2.3 (0123abcd), engines: go, pdf\n" {
		t.Errorf("npx fsmcp --version: %d %q", code, out)
	}
	folder := t.TempDir()
	put(t, filepath.Join(folder, "a.txt"), []byte("hello\n"), 0o644)
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcptest.Start(mcptest.Options{Path: npx, Args: []string{"--offline", "fsmcp", "serve", folder}, Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Request("tools/list", struct{}{}); err != nil || !strings.Contains(string(list.Result), `"NotebookEdit"`) {
		t.Errorf("tools/list: %v %s", err, list.Result)
	}
	if r, err := c.Call("Read", map[string]any{"file_path": filepath.Join(folder, "a.txt")}); err != nil || r.IsError || !strings.Contains(r.Text, "1\thello") {
		t.Errorf("Read: %v %v", r, err)
	}

	script := filepath.Join(dir, "node_modules", "fsmcp", "bin", "fsmcp.js")
	if out, code := run("node", script, "explain"); code != 2 || !strings.Contains(out, "PATH is missing") {
		t.Errorf("the exit status of a wrong command line is %d, its text %q", code, out)
	}
	endsBySignal(t, dir, env, script, folder)
	other := `Object.defineProperty(process, "arch", {value: "mips"}); require("./node_modules/fsmcp/bin/fsmcp.js")`
	if out, code := run("node", "-e", other); code != 1 || out != "fsmcp has no program for linux-mips: it runs on linux-x64.\n" {
		t.Errorf("on a system without a program: %d %q", code, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@fsmcp")); err != nil {
		t.Fatal(err)
	}
	if out, code := run("node", script, "version"); code != 1 || out != "fsmcp: the package @fsmcp/linux-x64, which holds the program, is not installed: install fsmcp again with its optional packages.\n" {
		t.Errorf("without the optional package: %d %q", code, out)
	}
}

// endsBySignal checks that a signal to the script ends the server, whose input stays open.
func endsBySignal(t *testing.T, dir string, env []string, script, folder string) {
	cmd := exec.Command("node", script, "serve", folder)
	cmd.Dir, cmd.Env = dir, env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1000)); err != nil { // the server runs
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil { // to its end: the server's, too
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("a server that a signal ends is no success: %v", err)
	}
}
