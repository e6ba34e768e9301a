//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestPagesLead checks that the links of README.md, docs and ARCHITECTURE.md lead to
// files and headings that exist, and that README.md leads to every page of docs.
func TestPagesLead(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, _ := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	readme := filepath.Join(root, "README.md")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if !strings.Contains(string(text), "(docs/"+filepath.Base(page)+")") {
			t.Errorf("README.md does not lead to %s", page)
		}
	}
	link := regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)
	for _, page := range append(pages, readme, filepath.Join(root, "ARCHITECTURE.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
			if strings.HasPrefix(m[1], "https://") {
				continue
			}
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			there, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: %v", page, err)
			} else if m[2] != "" && !headings(string(there))[m[2]] {
				t.Errorf("%s: %s has no heading %s", page, target, m[2])
			}
		}
	}
}

// headings returns the anchors of a page's headings, as hosts of Markdown make them.
func headings(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		word := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all["#"+strings.ReplaceAll(word, " ", "-")] = true
	}
	return all
}

// TestArchitecturePicture checks that the packages in docs/architecture.svg exist.
func TestArchitecturePicture(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.svg"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`internal/[a-z]+`).FindAllString(string(text), -1)
	if len(names) < 5 {
		t.Errorf("the picture names %q", names)
	}
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || !info.IsDir() {
			t.Errorf("the picture has %s, which is no package", name)
		}
	}
}

// TestReadmeIsShort bounds what a new user reads first.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(fence.ReplaceAllString(string(text), ""))); n > 750 {
		t.Errorf("README.md has %d words beside its examples, more than 750", n)
	}
}

// TestDocumentsAreShort bounds what README.md, ARCHITECTURE.md and docs have together, as
// wc -w counts it: a user finds an answer in a minute only if there is little to look through.
func TestDocumentsAreShort(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	all := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "ARCHITECTURE.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		n := len(strings.Fields(string(text)))
		t.Logf("%6d %s", n, filepath.Base(page))
		all += n
	}
	if all > 18000 {
		t.Errorf("the documents have %d words, more than 18,000: shorten another part", all)
	}
}

// TestCommandsPage checks that docs/commands.md has every command and, with its
// environment twin, every flag of fsmcp serve.
func TestCommandsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, cmd := range commands(process{}, subcommands()).Commands() {
		if !cmd.Hidden && !strings.Contains(page, "| `fsmcp "+cmd.Name()) {
			t.Errorf("docs/commands.md lacks fsmcp %s", cmd.Name())
		}
	}
	flags := serveCommand(process{}).Flags()
	twin := regexp.MustCompile(`FSMCP_[A-Z_]+`)
	seen := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		seen++
		placeholder, _ := pflag.UnquoteUsage(f)
		variable := "–" // a flag only
		if name := twin.FindString(f.Usage); name != "" {
			variable = "`" + name + "`"
		}
		row := "| `" + strings.TrimSpace("--"+f.Name+" "+placeholder) + "` | " + variable
		if !strings.Contains(page, row) {
			t.Errorf("docs/commands.md lacks the row %s", row)
		}
	})
	if seen < 10 {
		t.Errorf("fsmcp serve has %d flags", seen)
	}
	for _, name := range twin.FindAllString(serveCommand(process{}).Long, -1) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/commands.md lacks %s", name)
		}
	}
}
