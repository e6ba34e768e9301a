package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/settings"
)

func TestLanguageServers(t *testing.T) {
	none := func(lsp.LanguageServer) (string, []string, error) { return "", nil, exec.ErrNotFound }
	cfg, _, err := settings.New(settings.Flags{}, settings.System{Getenv: func(string) string { return "" }}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	off := LanguageServers(cfg, none)
	if len(off) != 1 || off[0].Detail != "off: no answer says what a change broke" {
		t.Errorf("%+v", off)
	}
	says(t, off[0], Skip, `"lsp": "auto"`)
	auto := settings.Config{LSP: settings.LSP{Auto: true}, Workspace: []string{t.TempDir()}}
	if got := LanguageServers(auto, none); len(got) != 1 || got[0].Status != Skip || got[0].Remedy != "" {
		t.Errorf("%+v", got)
	}
}

// A project may lie one folder below the workspace, whose name holds any characters.
func TestMarkerIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a[b]*\c`)
	marker := filepath.Join(dir, "web", "package.json")
	if err := os.MkdirAll(filepath.Dir(marker), 0o755); err != nil {
		t.Skip(err)
	}
	if got := markerIn([]string{dir}, []string{"package.json"}); got != "" {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(marker, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := markerIn([]string{t.TempDir(), dir}, []string{"go.mod", "package.json"}); got != marker {
		t.Errorf("%q", got)
	}
}
