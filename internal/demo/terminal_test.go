package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestPicture checks that docs/demo.svg shows what the session prints today.
func TestPicture(t *testing.T) {
	shortrun.Skip(t, "it builds fsmcp")
	if runtime.GOOS == "windows" {
		t.Skip("the picture is of a session on Linux")
	}
	binary := filepath.Join(t.TempDir(), "fsmcp")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "github.com/fsmcp/fsmcp/cmd/fsmcp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var session bytes.Buffer
	if err := show(binary, &session); err != nil {
		t.Fatal(err)
	}
	lines := excerpt(session.String())
	if len(lines) < 30 {
		t.Errorf("the picture has %d lines", len(lines))
	}
	have, err := os.ReadFile("../../docs/demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	if want := drawTerminal(lines); !bytes.Equal(have, want) {
		t.Errorf("docs/demo.svg is not what the demo prints now: run make pictures")
	}
}
