package fsys

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFreeMemoryIsKnown(t *testing.T) {
	if free, known := FreeMemory(); !known || free <= 0 {
		t.Errorf("%d, %v", free, known)
	}
}

func TestGroupsLeaveTheLeastOfTheirAncestors(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"a/memory.max": "1000\n", "a/memory.current": "900\n", "a/memory.stat": "anon 300\nactive_file 200\ninactive_file 400\n",
		"a/b/memory.max": "max\n", "a/b/memory.current": "100\n",
		"memory/c/memory.limit_in_bytes": "500\n", "memory/c/memory.usage_in_bytes": "100\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for groups, want := range map[string]int64{
		"":                        unbounded,
		"0::/\n":                  unbounded,
		"0::/a/b\n":               700,
		"5:cpu:/a\n4:memory:/c\n": 400,
	} {
		if got := groupsLeave([]byte(groups), root); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}
