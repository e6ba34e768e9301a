package history

import (
	"bytes"
	"context"
	"testing"
)

// The changes of one call are one group, in the order in which they were made. A move stores
// its two names, also if they are not UTF-8.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	group := NewGroup()
	var marks []*Mark
	for _, c := range []PendingChange{
		{Names: []string{"/w/a"}, Tool: "MultiEdit", Old: bytes.NewReader([]byte("x")), Size: 1, From: []byte("x"), Gone: true},
		{Names: []string{"/w/b"}, Operation: OpMove, To: "/w/\xffc", NewDirs: 2},
	} {
		c.Group = group
		mark, err := s.Keep(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, mark)
	}
	if err := SyncMarks(append(marks, nil, &Mark{Off: true})); err != nil {
		t.Error(err)
	}
	for _, m := range marks {
		m.Done()
	}
	entries, damages := open(t, dir).Entries(nil)
	if len(entries) != 2 || len(damages) > 0 {
		t.Fatalf("%+v, %v", entries, damages)
	}
	moved, removed := entries[0], entries[1]
	if moved.Group != group || moved.Operation != OpMove || moved.Path != "/w/b" || moved.To != "/w/\xffc" || moved.NewDirs != 2 || moved.Before != nil || moved.After != nil {
		t.Errorf("%+v", moved)
	}
	if removed.Group != group || removed.Operation != OpEdit || removed.To != "" || removed.Before == nil {
		t.Errorf("%+v", removed)
	}
	if NewGroup() == group {
		t.Error("two groups have one name")
	}
}
