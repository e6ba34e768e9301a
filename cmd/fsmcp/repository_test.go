//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// gitIn runs git in a folder and returns whether it took the folder, or one above
// it up to the workspace, for a repository.
func (f *fort) gitIn(folder string, args ...string) bool {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.abs(folder)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(f.ws))
	return cmd.Run() == nil
}

// runsPlantedCode reports whether git in the folder runs what the config written
// there by planting names.
func (f *fort) runsPlantedCode(folder string) bool {
	f.t.Helper()
	mark := f.abs(folder + "/ran")
	os.Remove(mark)
	f.gitIn(folder, "status")
	_, err := os.Stat(mark)
	return err == nil
}

// planting returns the files that make a folder a repository whose config runs a
// program, by their names in it.
func planting(folder string) map[string]string {
	return map[string]string{
		"HEAD":             "ref: refs/heads/main\n",
		"objects/info/x":   "x\n",
		"refs/heads/x":     "x\n",
		"config":           "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = " + folder + "\n\tfsmonitor = touch " + folder + "/ran; false\n",
		"hooks/pre-commit": "#!/bin/sh\ntouch " + folder + "/ran\n",
	}
}

// orders returns every order of some words.
func orders(words []string) (out [][]string) {
	if len(words) < 2 {
		return [][]string{words}
	}
	for i, first := range words {
		rest := slices.Concat(words[:i], words[i+1:])
		for _, tail := range orders(rest) {
			out = append(out, append([]string{first}, tail...))
		}
	}
	return out
}

func needsGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
}

// TestNoOrderOfWritesMakesARepository makes the files of a repository in every
// order, at the top and below, by Write and by Edit. The control arm makes them
// without the server: git takes each of those folders.
func TestNoOrderOfWritesMakesARepository(t *testing.T) {
	t.Parallel()
	needsGit(t)
	f := newFort(t)
	f.serve()
	names := slices.Sorted(maps.Keys(planting("")))
	all := orders(names)
	step := len(all) / shortrun.Most(t, len(all), 24, "orders")
	for i := 0; i < len(all); i += step {
		order := all[i]
		folder := fmt.Sprintf("a/b%d/c", i)
		files := planting(f.abs(folder))
		refused := 0
		for k, name := range order {
			tool, args := "Write", map[string]any{"file_path": f.abs(folder + "/" + name), "content": files[name]}
			if (i+k)%2 == 1 {
				tool, args = "Edit", map[string]any{"file_path": f.abs(folder + "/" + name), "old_string": "", "new_string": files[name]}
			}
			if res := f.call(tool, args); res.IsError {
				refused++
			}
		}
		if f.gitIn(folder, "rev-parse", "--git-dir") || f.runsPlantedCode(folder) || refused == 0 {
			t.Fatalf("order %q made a repository, %d refused", order, refused)
		}
		control := fmt.Sprintf("control/%d", i)
		for name, text := range planting(f.abs(control)) {
			f.put(control+"/"+name, text)
		}
		if !f.gitIn(control, "rev-parse", "--git-dir") || !f.runsPlantedCode(control) {
			t.Fatalf("git does not take %s: the test proves nothing", control)
		}
	}
}

// TestNoRepositoryThroughCommondir lets a HEAD lead to objects and refs elsewhere:
// in a folder made for it, and in a repository that is already there.
func TestNoRepositoryThroughCommondir(t *testing.T) {
	t.Parallel()
	needsGit(t)
	f := newFort(t)
	f.serve()
	if !f.gitIn("", "init", "-q", "real") {
		t.Fatal("git init failed")
	}
	try := func(folder, library string, extra ...string) {
		files := map[string]string{
			folder + "/HEAD":      "ref: refs/heads/main\n",
			folder + "/commondir": f.abs(library) + "\n",
		}
		for _, name := range extra {
			files[library+"/"+name] = planting(f.abs(folder))[name]
		}
		for i, order := range orders(slices.Sorted(maps.Keys(files))) {
			for _, name := range order {
				f.call("Write", map[string]any{"file_path": f.abs(name), "content": files[name]})
			}
			if f.gitIn(folder, "rev-parse", "--git-dir") {
				t.Fatalf("order %d, %q, made a repository", i, order)
			}
			os.RemoveAll(f.abs(folder))
			if len(extra) > 0 {
				os.RemoveAll(f.abs(library))
			}
		}
		for name, text := range files {
			f.put(name, text)
		}
		if !f.gitIn(folder, "rev-parse", "--git-dir") {
			t.Fatalf("git does not take %s: the test proves nothing", folder)
		}
	}
	try("x", "lib", "objects/info/x", "refs/heads/x", "config")
	try("y", "real/.git")
}

// TestNoRepositoryByCallsAtOnce makes the parts of a repository at the same time,
// by one server and by two.
func TestNoRepositoryByCallsAtOnce(t *testing.T) {
	t.Parallel()
	needsGit(t)
	f, other := newFort(t), newFort(t)
	other.ws, other.home = f.ws, f.home
	f.serve()
	other.serve()
	made := 0
	const rounds = 60
	for i := range rounds {
		folder := fmt.Sprintf("p%d", i)
		calls := make(map[string]func() bool)
		for k, name := range []string{"HEAD", "objects/info/x", "refs/heads/x"} {
			by := f
			if i%2 == 1 && k > 0 {
				by = other
			}
			p, err := by.client.GoCall("Write", map[string]any{"file_path": f.abs(folder + "/" + name), "content": planting("")[name]})
			f.check(err)
			calls[name] = func() bool {
				res, err := p.Result()
				f.check(err)
				return !res.IsError
			}
		}
		for _, done := range calls {
			if done() {
				made++
			}
		}
		if f.gitIn(folder, "rev-parse", "--git-dir") {
			t.Fatalf("round %d made a repository", i)
		}
	}
	// One of the three, or two neighbours that make none, are made every time.
	if made < rounds {
		t.Errorf("%d files were made in %d rounds", made, rounds)
	}
}

// TestPartsOfARepository asks for what lies in a folder that has two parts, and
// for HEAD at the top, under every name.
func TestPartsOfARepository(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.serve()
	write := func(name string) map[string]any {
		return map[string]any{"file_path": f.abs(name), "content": "[core]\n\tfsmonitor = evil\n"}
	}
	for _, name := range []string{"config", "src/hooks/use.ts", "src/config/a.ts", "src/objects/a.go", "refs/a.txt", "docs/HEAD"} {
		if res := f.call("Write", write(name)); res.IsError {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
	f.guarded("HEAD", "")
	f.needsConsent("Write", write("head"))
	f.lacks("head")
	for _, head := range []struct {
		name string
		make func(folder string)
	}{
		{"a file", func(folder string) { f.put(folder+"/HEAD", "ref: refs/heads/main\n") }},
		{"a link that leads nowhere, which git takes for one", func(folder string) { f.link("refs/heads/main", folder+"/HEAD") }},
		{"a link out of the workspace", func(folder string) {
			f.put(f.outside+"/HEAD", "ref: refs/heads/main\n")
			f.link(f.outside+"/HEAD", folder+"/HEAD")
		}},
	} {
		t.Run(head.name, func(t *testing.T) {
			folder := "in/" + strings.Fields(head.name)[1] + fmt.Sprint(len(head.name))
			head.make(folder)
			f.put(folder+"/refs/heads/old", "x\n")
			f.link(filepath.Base(folder), folder+"-link")
			for _, name := range []string{"config", "hooks/post-checkout", "hooks/new", "objects/new", "refs/heads/new", "Config"} {
				f.needsConsent("Write", write(folder+"/"+name))
				f.needsConsent("Write", write(folder+"-link/"+name))
			}
			f.lacks(folder + "/hooks")
			f.lacks(folder + "/objects")
		})
	}
}
