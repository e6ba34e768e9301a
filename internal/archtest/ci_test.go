package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow has the parts of a workflow of a public host that the tests look at.
type workflow struct {
	Jobs map[string]struct {
		RunsOn   string `yaml:"runs-on"`
		Needs    []string
		Strategy struct{ Matrix struct{ OS []string } }
		Steps    []struct{ Uses, Run, Shell string }
	}
}

// TestWorkflows checks the workflows for a public host: each is YAML, each action has its whole
// version, and the make targets and files that they name exist.
func TestWorkflows(t *testing.T) {
	ci, release := readWorkflow(t, "ci.yml"), readWorkflow(t, "release.yml")
	for _, name := range []string{"check", "linux", "others", "release"} {
		if _, ok := ci.Jobs[name]; !ok {
			t.Errorf("the job %s is missing", name)
		}
	}
	if got := ci.Jobs["others"].Strategy.Matrix.OS; !slices.Equal(got, []string{"macos-latest", "windows-latest"}) {
		t.Errorf("the other systems are %q", got)
	}
	if got := release.Jobs["sign"].Needs; !slices.Equal(got, []string{"build", "again"}) {
		t.Errorf("what is signed needs %q, not two builds", got)
	}
	if n := ci.check(t, "ci.yml"); n < 3 {
		t.Errorf("%d make targets", n)
	}
	if n := release.check(t, "release.yml"); n < 1 {
		t.Errorf("%d make targets", n)
	}
}

func readWorkflow(t *testing.T, name string) (w workflow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// check returns how many make targets a workflow names.
func (w workflow) check(t *testing.T, file string) (targets int) {
	t.Helper()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+\.\d+\.\d+$`)
	target := regexp.MustCompile(`\bmake ([a-z]+)`)
	script := regexp.MustCompile(`\.ci/\w+`)
	for name, job := range w.Jobs {
		name = file + ": the job " + name
		if job.RunsOn == "" || len(job.Steps) == 0 {
			t.Errorf("%s runs nowhere or does nothing", name)
		}
		for _, other := range job.Needs {
			if _, ok := w.Jobs[other]; !ok {
				t.Errorf("%s needs %s, which is missing", name, other)
			}
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("%s uses %s without a whole version", name, step.Uses)
			}
			for _, m := range target.FindAllStringSubmatch(step.Run, -1) {
				targets++
				if !strings.Contains("\n"+string(makefile), "\n"+m[1]+":") {
					t.Errorf("%s runs make %s, which is no target", name, m[1])
				}
			}
			for _, file := range script.FindAllString(step.Run, -1) {
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Error(err)
				}
				if step.Shell != "bash" {
					t.Errorf("%s runs %s, which on Windows needs shell: bash", name, file)
				}
			}
		}
	}
	return targets
}

// TestPureList checks that .ci/pure tests every package that may not call the operating
// system and has tests.
func TestPureList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".ci", "pure"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "packages=\"")
	list, _, _ = strings.Cut(list, "\"")
	listed := strings.Fields(list)
	for dir, p := range packages(t) {
		name, internal := strings.CutPrefix(dir, "internal/")
		pure := slices.Contains(layers[dir].never, noOS) && slices.Contains(layers[dir].never, noProcess)
		want := internal && pure && p.tests > 0 && dir != "internal/media/vips"
		if in := slices.Contains(listed, name); in != want {
			t.Errorf("%s is in .ci/pure: %v, want %v", dir, in, want)
		}
		listed = slices.DeleteFunc(listed, func(s string) bool { return s == name })
	}
	if len(listed) > 0 {
		t.Errorf(".ci/pure tests %q, which do not exist", listed)
	}
}

// TestNothingIsPublished keeps documents from telling readers to install what lies nowhere.
func TestNothingIsPublished(t *testing.T) {
	install := regexp.MustCompile(`go (install|get|run) [a-z]+\.[a-z]+/|(brew|scoop) install|(docker|podman) pull|npx (-y|--yes) fsmcp|github\.com/fsmcp`)
	root := filepath.Join("..", "..")
	for _, pattern := range []string{"*.md", "docs/*.md", "packaging/*.tmpl", "packaging/npm/*", "schemas/*"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files", pattern)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			ours := strings.ReplaceAll(string(text), "go install golang.org/x/tools/gopls@latest", "") // which is published
			for _, found := range install.FindAllString(ours, -1) {
				t.Errorf("%s says %q, but nothing is published", name, found)
			}
		}
	}
}

// TestSlowList checks that .ci/slow names tests of packages, each once.
func TestSlowList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".ci", "slow"))
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func ((Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(source, -1) {
			declared[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for name := range strings.Lines(string(text)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "#") {
			continue
		}
		if !declared[name] || name <= last {
			t.Errorf(".ci/slow has %q behind %q: it has to name tests that exist, in their order", name, last)
		}
		last = name
	}
}
