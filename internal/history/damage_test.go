package history

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestDamage flips bytes, cuts files short and puts strange lines into journals:
// what is read is then what was kept, or told to be damaged.
func TestDamage(t *testing.T) {
	rng := seeded(t, 4)
	damages := map[string]func(b []byte) []byte{
		"flip":  func(b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b },
		"cut":   func(b []byte) []byte { return b[:rng.IntN(len(b))] },
		"zeros": func(b []byte) []byte { at := rng.IntN(len(b)); clear(b[at:min(len(b), at+100)]); return b },
		"line":  func(b []byte) []byte { return append(b, "0000 what is this\n"...) },
	}
	lost, times := 0, shortrun.Count(t, 60, 8, "damages of each kind")
	for _, name := range slices.Sorted(maps.Keys(damages)) { // a seed means the same each time
		damage := damages[name]
		for range times {
			dir := t.TempDir()
			s := openStore(t, dir)
			var old []byte
			versions := map[Sum][]byte{}
			for range 12 {
				now := changed(rng, old)
				keep(t, s, "/w/a", old, now)
				versions[sumOr(nil, now)] = now
				old = now
			}
			s.Close()
			files, _ := filepath.Glob(filepath.Join(dir, Folder, "*-*"))
			file := files[rng.IntN(len(files))]
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b = damage(b)
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			// A last line without an end is of a process that died, and not told.
			torn := strings.HasSuffix(file, journalExt) && !bytes.HasSuffix(b, []byte{'\n'})
			a := open(t, dir)
			entries, bad := a.Entries(nil)
			if len(entries) < 12 && len(bad) == 0 && !torn && name != "cut" {
				t.Fatalf("%s of %s: %d entries, and no damage is told", name, file, len(entries))
			}
			lost += 12 - len(entries)
			for _, e := range entries {
				for _, load := range []func(Entry) ([]byte, error){a.Before, a.After} {
					b, err := load(e)
					if err != nil {
						t.Fatalf("%s: %s is listed and cannot be read: %v", name, e.ID, err)
					}
					if b != nil && !bytes.Equal(b, versions[sumOr(nil, b)]) {
						t.Fatalf("%s: %s gives bytes that never were", name, e.ID)
					}
				}
			}
			for _, d := range bad {
				if !errors.Is(d, errDamaged) && !errors.Is(d, os.ErrNotExist) {
					t.Errorf("%s: %v", name, d)
				}
			}
			a.Close()
		}
	}
	if lost == 0 {
		t.Error("nothing was ever lost: the damages did none")
	}
}

// TestTornEnd: a process that died over its last line has not made its change.
func TestTornEnd(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", []byte("1"), []byte("2"))
	keep(t, s, "/a", []byte("2"), []byte("3"))
	s.Close()
	journals, _ := filepath.Glob(filepath.Join(dir, Folder, "*"+journalExt))
	b, err := os.ReadFile(journals[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n")) // each entry, and that its change was made
	first := len(lines[0]) + len(lines[1])
	second := first + len(lines[2])
	for n := len(b) - 1; n > first; n-- {
		want := 1
		if n >= second {
			want = 2
		}
		if err := os.WriteFile(journals[0], b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if entries, bad := open(t, dir).Entries(nil); len(entries) != want || bad != nil {
			t.Fatalf("cut at %d: %d entries, %v", n, len(entries), bad)
		}
	}
}

// TestDamageIsReportedByName: a person has to find what is meant.
func TestDamageIsReportedByName(t *testing.T) {
	for want, d := range map[string]Damage{
		"x.journal:3: ": {File: "x.journal", Line: 3, Err: damaged("a")},
		"x.pack: ":      {File: "x.pack", Err: damaged("a")},
		"the entry k-1": {File: "x.pack", ID: "k-1", Err: damaged("a")},
	} {
		if got := fmt.Sprint(d); !strings.HasPrefix(got, want) {
			t.Errorf("%q", got)
		}
	}
}
