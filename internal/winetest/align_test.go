//go:build linux

package winetest

import (
	"bytes"
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAlignedProgramIsTheSame compares a program as go build makes it with the one that the tests
// run: all sections are loaded to the same places with the same bytes, from whole pages.
func TestAlignedProgramIsTheSame(t *testing.T) {
	name := filepath.Join(t.TempDir(), "helper.exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, "./helper")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	aligned, err := alignSections(built)
	if err != nil {
		t.Fatal(err)
	}
	before, after := parsed(t, built), parsed(t, aligned)
	if len(before.Sections) < 4 || len(before.Sections) != len(after.Sections) {
		t.Fatalf("%d sections, before %d", len(after.Sections), len(before.Sections))
	}
	unaligned := 0
	for i, was := range before.Sections {
		is := after.Sections[i]
		if is.Name != was.Name || is.VirtualAddress != was.VirtualAddress || is.VirtualSize != was.VirtualSize || is.Characteristics != was.Characteristics {
			t.Errorf("section %d: %+v, before %+v", i, is.SectionHeader, was.SectionHeader)
		}
		if was.Offset%pageSize != 0 {
			unaligned++
		}
		if is.Offset%pageSize != 0 || is.Size%pageSize != 0 {
			t.Errorf("section %s: %d bytes at %d", is.Name, is.Size, is.Offset)
		}
		if was.Offset > 0 && !bytes.Equal(loaded(t, is), loaded(t, was)) {
			t.Errorf("section %s has other bytes", is.Name)
		}
	}
	if unaligned == 0 {
		t.Error("go build aligns the sections itself: alignSections is not needed any more")
	}
	h, w := *after.OptionalHeader.(*pe.OptionalHeader64), *before.OptionalHeader.(*pe.OptionalHeader64)
	h.FileAlignment, h.SizeOfHeaders = w.FileAlignment, w.SizeOfHeaders
	if h != w {
		t.Errorf("optional header: %+v, before %+v", h, w)
	}
}

func parsed(t *testing.T, program []byte) *pe.File {
	t.Helper()
	f, err := pe.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loaded returns a section as it is in memory, whole pages of it.
func loaded(t *testing.T, s *pe.Section) []byte {
	t.Helper()
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	size := min(len(b), int(s.VirtualSize))
	return padded(bytes.Clone(b[:size]))
}
