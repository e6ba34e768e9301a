package notebook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fixtureDir = "../../testdata/notebooks"

// fixtures are the notebooks of testdata by name.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtureDir, "*.ipynb"))
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d notebooks in testdata, at least 25 wanted (%v)", len(paths), err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".ipynb")] = raw
	}
	return all
}

func fixture(t testing.TB, name string) *Notebook {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(fixtureDir, name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(raw))
}

func mustParse(t testing.TB, raw string) *Notebook {
	t.Helper()
	nb, err := Parse([]byte(raw))
	if err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return nb
}

// wrap is a small notebook around cells.
func wrap(cells string) string {
	return `{"cells": [` + cells + `], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
}

// zeros is randomness that never surprises.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// counting is randomness that counts.
type counting struct{ n uint32 }

func (c *counting) Read(p []byte) (int, error) {
	c.n++
	for i := range p {
		p[i] = byte(c.n >> (8 * (i % 4)))
	}
	return len(p), nil
}

func noMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte(bom)) }
