package fsys

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/windows"
)

func resolved(t *testing.T, name string) *Target {
	t.Helper()
	p, err := Lexer{OS: "windows"}.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewResolver().Resolve(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

// shortName returns the 8.3 form of a name.
func shortName(t *testing.T, name string) string {
	t.Helper()
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetShortPathName(wide, &buf[0], uint32(len(buf)))
	if err != nil {
		t.Fatal(err)
	}
	return windows.UTF16ToString(buf[:n])
}

// A file has one true name by whichever spelling it is asked for, and the spelling stays beside it.
func TestTrueName(t *testing.T) {
	top := resolved(t, t.TempDir()).Path
	folder := filepath.Join(top, "A folder with a long name")
	file := filepath.Join(folder, "Case of Letters.text")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	short := shortName(t, file)
	for asked, want := range map[string]string{
		file: file, short: file, filepath.Dir(short): folder,
		filepath.Join(folder, "CASE OF LETTERS.TEXT"):              file,
		filepath.Join(top, "a FOLDER with a long name", "New.txt"): filepath.Join(folder, "New.txt"),
		filepath.Join(filepath.Dir(short), "sub", "New.txt"):       filepath.Join(folder, "sub", "New.txt"),
		filepath.Join(top, "a~1.txt"):                              filepath.Join(top, "a~1.txt"),
	} {
		target := resolved(t, asked)
		if target.Path != want || target.Names[0] != asked || !slices.Contains(target.Names, want) {
			t.Errorf("%s is %s of %q, want %s", asked, target.Path, target.Names, want)
		}
		if target.Kind != Regular {
			continue
		}
		f, err := target.Open()
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if short == file {
		t.Log("short names are NOT TESTED: this volume has none")
	}
	// The steps that serve a volume without final names come to the same.
	if got := bySteps(short, true, longName); got != file {
		t.Errorf("by steps %s is %s", short, got)
	}
}

// RealName, with one call of the system, comes to what following link by link comes to.
func TestRealNameFollowsLikeStepByStep(t *testing.T) {
	top := resolved(t, t.TempDir()).Path
	folder := filepath.Join(top, "A folder with a long name")
	file := filepath.Join(folder, "Case of Letters.text")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(file, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	names := []string{file, folder, shortName(t, file), filepath.Join(top, "a FOLDER with a long name", "CASE of letters.text"),
		filepath.Join(folder, "missing"), filepath.Join(top, "missing", "too"), filepath.Join(file, "below a file"), `C:\`, `Q:\missing`}
	linked := filepath.Join(top, "linked")
	if err := errors.Join(os.Symlink(folder, linked), os.Symlink(filepath.Join(top, "nothing"), filepath.Join(top, "dangling"))); err != nil {
		t.Logf("!!! NOT TESTED: links, which cannot be made here: %v !!!", err)
	} else {
		names = append(names, linked, filepath.Join(linked, "case of letters.text"), filepath.Join(top, "dangling"))
	}
	for _, name := range names {
		want, wantErr := filepath.EvalSymlinks(name)
		if wantErr == nil {
			var err error
			if want, err = systemName(want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := RealName(name); got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s leads to %s, %v; step by step to %s, %v", name, got, err, want, wantErr)
		}
	}
}
