package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWatcher(t *testing.T) {
	dir, limits := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		watches, instances string
		want               Status
		word               string
	}{
		{"8192\n", "128\n", OK, "8192 watches"},
		{"8191\n", "128\n", Warn, "max_user_watches=524288"},
		{"8192\n", "127\n", Warn, "max_user_instances=512"},
		{"x\n", "128\n", OK, "cannot be read"},
	} {
		for name, text := range map[string]string{"max_user_watches": c.watches, "max_user_instances": c.instances} {
			if err := os.WriteFile(filepath.Join(limits, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		says(t, Watcher(dir, limits), c.want, c.word)
	}
	says(t, Watcher(filepath.Join(dir, "missing"), limits), Warn, "cannot be watched", "--dir DIR")
}
