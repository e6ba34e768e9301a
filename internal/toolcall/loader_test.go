package toolcall

import (
	"context"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/state"
)

// sized is the target of a call for a file of a size.
func sized(op perm.Op, size int64) *Target {
	return &Target{File: &access.File{Target: &fsys.Target{Stamp: fsys.Stamp{Size: size}}, Op: op}}
}

// One change of a large file is admitted at a time; others wait for none.
func TestAdmitChange(t *testing.T) {
	l := NewLoader(time.Now)
	leave, err := l.AdmitChange(context.Background(), sized(perm.Edit, state.InMemory+1))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		target *Target
		waits  bool
	}{
		"a large file":            {target: sized(perm.Write, state.InMemory+1), waits: true},
		"a file that is refused":  {target: sized(perm.Edit, MaxEditBytes+1)},
		"a file in memory":        {target: sized(perm.Edit, state.InMemory)},
		"a notebook is not large": {target: sized(perm.NotebookEdit, state.InMemory+1)},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		done, err := l.AdmitChange(ctx, c.target)
		if cancel(); (err != nil) != c.waits {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			done()
		}
	}
	leave()
	next, err := l.AdmitChange(context.Background(), sized(perm.Edit, state.InMemory+1))
	if err != nil {
		t.Fatal(err)
	}
	next()
}
