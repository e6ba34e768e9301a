package main

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An upgrade takes the programs away while a server runs: pictures are decoded all
// the same, before and after the first.
func TestPicturesOutliveAnUpgrade(t *testing.T) {
	t.Parallel()
	media, err := companion()
	if err != nil {
		t.Fatal(err)
	}
	f := newFort(t)
	var b bytes.Buffer
	f.check(png.Encode(&b, drawn(2100, 20, false)))
	f.put("a.png", b.String())
	f.serve()
	shown := func() {
		t.Helper()
		if res := f.call("Read", map[string]any{"file_path": f.abs("a.png")}); res.IsError || !strings.Contains(res.Text, "displayed at 2000x") {
			t.Error(clipText(res.Text))
		}
	}
	for _, before := range []bool{true, false} {
		f.close()
		dir := t.TempDir()
		f.check(exec.Command("cp", program, filepath.Join(dir, "fsmcp")).Run())
		f.check(os.Symlink(media, filepath.Join(dir, "fsmcp-media")))
		f.options.Path = filepath.Join(dir, "fsmcp")
		f.start()
		if !before {
			shown()
		}
		f.check(os.RemoveAll(dir))
		for _, pid := range workersOf(f.client.PID()) {
			f.check(syscall.Kill(pid, syscall.SIGKILL))
		}
		shown()
	}
}

// A variable names a program as a shell would: by its path, or by its name.
func TestProgramsAreFoundByTheirNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "decoder")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho it is me\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for given, want := range map[string]string{"": "", path: path, "decoder": path, "/nowhere/at/all": "/nowhere/at/all", "no-such-decoder": "no-such-decoder"} {
		t.Setenv("FSMCP_MEDIA", given)
		if got := findMedia(); got != want {
			t.Errorf("%q: %q", given, got)
		}
	}
	t.Setenv("FSMCP_VIPS", "decoder")
	if got := findVips(); got != path {
		t.Error(got)
	}
}
