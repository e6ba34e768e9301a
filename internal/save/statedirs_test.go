package save

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// A folder in the temp directory that lets others in could hold anything.
func TestStateDirs(t *testing.T) {
	d := newDesk(t)
	if got := d.save.StateDirs(); len(got) != 0 {
		t.Errorf("before anything was made: %q", got)
	}
	if got, err := d.save.StateDir(t.Context()); got != d.state || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	temp := filepath.Join(filepath.Dir(d.state), "fsmcp-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := d.save.StateDirs(); !slices.Equal(got, []string{d.state, temp}) {
		t.Errorf("%q", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := d.save.StateDirs(); !slices.Equal(got, []string{d.state}) {
		t.Errorf("one that is open to others: %q", got)
	}
}
