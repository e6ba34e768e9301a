//go:build linux

package faults

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/winetest"
)

const topSecret = "TOPSECRET-7"

// wineSecrets is a workspace with a secret folder. The history has a change in it.
type wineSecrets struct {
	winePlace
	name   string // of the workspace, on Windows
	change string // its id
}

func newWineSecrets(t *testing.T) (p wineSecrets) {
	p.winePlace = newWinePlace(t)
	p.name = winetest.Name(p.ws)
	p.fill(t)
	must(t, os.WriteFile(p.file("secrets/key.txt"), []byte("old "+topSecret+"\n"), 0o644))
	s := p.serve(t, p.name)
	defer s.end()
	mustCall(t, s.Client, "Read", args{"file_path": p.name + `\secrets\key.txt`})
	mustCall(t, s.Client, "Edit", args{"file_path": p.name + `\secrets\key.txt`, "old_string": "old ", "new_string": ""})
	p.change, _, _ = strings.Cut(p.cli(t, "history", "list", "--dir", p.name), " ")
	return p
}

// cli returns what a command of the program for Windows prints.
func (p winePlace) cli(t *testing.T, words ...string) string {
	t.Helper()
	return wineOutput(p.wine.Command(p.home, p.wine.FSMCP(), words...), p)
}

// wineOutput runs a command in the workspace. Its exit status does not count.
func wineOutput(cmd *exec.Cmd, p winePlace) string {
	cmd.Dir, cmd.Env = p.ws, append(cmd.Env, "XDG_STATE_HOME=", "NO_COLOR=1", "PAGER=")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// leaks returns by which calls the secrets are shown.
func (p wineSecrets) leaks(t *testing.T, flags ...string) (found []string) {
	s, err := p.tryServe(p.name, flags...)
	if err != nil {
		t.Errorf("%q: the server does not start", flags)
		return nil
	}
	defer s.end()
	check := func(what, secret, tool string, a args) {
		res, err := s.Call(tool, a)
		must(t, err)
		if strings.Contains(res.Text, secret) {
			found = append(found, what)
		}
	}
	check("Read", topSecret, "Read", args{"file_path": p.name + `\secrets\key.txt`})
	check("Read in capitals", topSecret, "Read", args{"file_path": p.name + `\SECRETS\SECOND.TXT`})
	check("Glob", "key.txt", "Glob", args{"pattern": "**/*.txt"})
	check("Grep", topSecret, "Grep", args{"pattern": "TOPSECRET", "output_mode": "content"})
	check("hints", "CLAUDE.md", "Read", args{"file_path": p.name + `\open\a.txt`})
	check("names", "key.txt", "Read", args{"file_path": p.name + `\secrets\kex.txt`})
	return append(found, p.changes(t, s)...)
}

// wineChanges are the calls that change something in the secret folder, or take it from there.
func wineChanges(ws string) map[string]struct {
	tool string
	args args
} {
	key, open := ws+`\secrets\key.txt`, ws+`\open\`
	edit := args{"old_string": topSecret, "new_string": topSecret + "8"}
	return map[string]struct {
		tool string
		args args
	}{
		"Edit":               {"Edit", args{"file_path": key, "old_string": topSecret, "new_string": topSecret + "8"}},
		"MultiEdit":          {"MultiEdit", args{"file_path": key, "edits": []args{edit}}},
		"Move away":          {"Move", args{"from": key, "to": open + "moved.txt"}},
		"Move by pattern":    {"Move", args{"from": ws + `\secrets\*.txt`, "to": open}},
		"Move of all":        {"Move", args{"from": ws + `\SECRETS`, "to": ws + `\found`}},
		"Move there":         {"Move", args{"from": open + "a.txt", "to": ws + `\secrets\a.txt`}},
		"copy":               {"Move", args{"from": key, "to": open + "copy.txt", "copy": true}},
		"Delete":             {"Delete", args{"paths": []string{key}}},
		"Delete of all":      {"Delete", args{"paths": []string{ws + `\secrets`}, "recursive": true}},
		"Delete by wildcard": {"Delete", args{"paths": []string{ws + `\secrets\*`}}},
	}
}

// changes returns which of wineChanges are made, or show the secret, and undoes them.
func (p wineSecrets) changes(t *testing.T, s wineServer) (found []string) {
	for what, c := range wineChanges(p.name) {
		res, err := s.Call(c.tool, c.args)
		must(t, err)
		key, _ := os.ReadFile(p.file("secrets/key.txt"))
		second, _ := os.ReadFile(p.file("secrets/second.txt"))
		if !res.IsError || strings.Contains(res.Text, topSecret) || string(key) != topSecret+"\n" || string(second) != topSecret+"\n" {
			found = append(found, what)
		}
		p.fill(t)
	}
	return found
}

// fill puts the files back that a change has taken away.
func (p wineSecrets) fill(t *testing.T) {
	for _, name := range []string{"found", "open/moved.txt", "open/key.txt", "open/second.txt", "open/copy.txt", "secrets/a.txt"} {
		must(t, os.RemoveAll(p.file(name)))
	}
	for file, text := range map[string]string{"secrets/key.txt": topSecret + "\n", "secrets/second.txt": topSecret + "\n", "open/a.txt": "plain\n", "open/CLAUDE.md": "a hint\n"} {
		must(t, os.MkdirAll(p.file(file[:strings.Index(file, "/")]), 0o755))
		if was, err := os.ReadFile(p.file(file)); err != nil || string(was) != text {
			must(t, os.WriteFile(p.file(file), []byte(text), 0o644))
		}
	}
}

// remembers returns by which commands the history shows the secret.
func (p wineSecrets) remembers(t *testing.T) (found []string) {
	for _, command := range []string{"show", "diff"} {
		if strings.Contains(p.cli(t, "history", command, p.change), topSecret) {
			found = append(found, "history "+command)
		}
	}
	return found
}

// TestWineDenyRules denies a folder in eleven spellings, by a flag and by the project's
// settings. No tool and no command shows what is in it; the control arm, without rules, shows
// that each of them would.
func TestWineDenyRules(t *testing.T) {
	t.Parallel()
	p := newWineSecrets(t)
	control := append(p.leaks(t), p.remembers(t)...)
	ways := []string{"Read", "Read in capitals", "Glob", "Grep", "hints", "names", "history show", "history diff"}
	for _, what := range slices.AppendSeq(ways, maps.Keys(wineChanges(p.name))) {
		if !slices.Contains(control, what) {
			t.Errorf("the control arm: %s shows nothing", what)
		}
	}
	slashes := strings.ReplaceAll(p.name, `\`, "/")
	spellings := []string{p.name + `\%s`, `%s`, `.\%s`, `\%s`, slashes + `/%s`, "/z" + slashes[2:] + `/%s`, `~\ws\%s`, `%%USERPROFILE%%\ws\%s`,
		"//z" + slashes[2:] + `/%s`, `\\?\` + p.name + `\%s`, `$env:USERPROFILE\ws\%s`}
	sum := 0
	check := func(rule string, found []string) {
		if sum += len(found); found != nil {
			t.Errorf("%s: shown by %q", rule, found)
		}
	}
	all := os.Getenv("FSMCP_WINE") == "all"
	for i, spelling := range spellings {
		var rules []string
		for _, denied := range []string{`secrets\**`, `open\CLAUDE.md`} {
			rule := fmt.Sprintf(spelling, denied)
			if strings.Contains(spelling, "/") {
				rule = strings.ReplaceAll(rule, `\`, "/")
			}
			rules = append(rules, "Read("+rule+")")
		}
		if all || i%2 == 0 {
			check(rules[0], p.leaks(t, "--deny", rules[0], "--deny", rules[1]))
		}
		if !all && i%2 == 0 {
			continue
		}
		must(t, os.MkdirAll(p.file(".fsmcp"), 0o755))
		text := `{"permissions": {"deny": [` + strconv.Quote(rules[0]) + `, ` + strconv.Quote(rules[1]) + `]}}`
		must(t, os.WriteFile(p.file(".fsmcp/settings.json"), []byte(text), 0o644))
		found := append(p.leaks(t), p.remembers(t)...)
		must(t, os.RemoveAll(p.file(".fsmcp")))
		check(rules[0], found)
	}
	report(t, "%d spellings of a rule, by flag and by the project's file, x %d ways to look: %d shown; without a rule all are", len(spellings), len(control), sum)
}

// TestWineHardLinks denies a file that also has another name. Neither a tool nor the history
// shows it there.
func TestWineHardLinks(t *testing.T) {
	t.Parallel()
	p := newWinePlace(t)
	must(t, os.WriteFile(p.file(".env"), []byte(topSecret+"\n"), 0o644))
	must(t, os.Link(p.file(".env"), p.file("innocent.txt")))
	shown := func(rule string) (found []string) {
		flags := []string{"--deny", rule}
		if rule == "" {
			flags = nil
		}
		s := p.serve(t, winetest.Name(p.ws), flags...)
		defer s.end()
		name := winetest.Name(p.file("innocent.txt"))
		for tool, a := range map[string]args{"Read": {"file_path": name}, "Grep": {"pattern": "TOPSECRET", "output_mode": "content"},
			"Edit": {"file_path": name, "old_string": "TOP", "new_string": "TIP"}} {
			res, err := s.Call(tool, a)
			must(t, err)
			if strings.Contains(res.Text, topSecret[3:]) {
				found = append(found, tool)
			}
		}
		return found
	}
	for _, rule := range []string{"Read(.env)", `Read(.\.env)`, "Read(" + winetest.Name(p.file(".env")) + ")"} {
		if found := shown(rule); found != nil {
			t.Errorf("rule %q: shown by %q", rule, found)
		}
	}
	if listed := p.cli(t, "history", "list", "--dir", winetest.Name(p.ws)); strings.Contains(listed, "innocent") {
		t.Errorf("the history knows it: %s", listed)
	}
	if found := shown(""); len(found) != 3 {
		t.Errorf("the control arm: shown by %q alone", found)
	}
}
