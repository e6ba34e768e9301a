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
	return &Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Stamp: fsys.Stamp{Size: size}}, Op: op}}
}

// A change waits for the place of a large file until the one that has it drops it. It takes
// the place once, and does not wait for heavy work meanwhile.
func TestALargeFileHasOnePlace(t *testing.T) {
	ctx := context.Background()
	l := NewLoader(time.Now)
	one, two := sized(perm.Edit, state.InMemory+1), sized(perm.Write, state.InMemory+1)
	for range 2 {
		if err := l.admitLarge(ctx, one, state.InMemory+1); err != nil {
			t.Fatal(err)
		}
	}
	leave, err := l.Admit(ctx, heavyFrom)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	if done, err := l.AdmitChange(ctx, state.InMemory+1); err != nil {
		t.Error(err)
	} else {
		done()
	}
	for name, admit := range map[string]func(context.Context) error{
		"a second large file":       func(ctx context.Context) error { return l.admitLarge(ctx, two, state.InMemory+1) },
		"a file of ordinary memory": func(ctx context.Context) error { _, err := l.AdmitChange(ctx, state.InMemory); return err },
	} {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		if err := admit(ctx); err == nil {
			t.Errorf("%s does not wait", name)
		}
		cancel()
	}
	one.Drop()
	one.Drop()
	if err := l.admitLarge(ctx, two, state.InMemory+1); err != nil {
		t.Fatal(err)
	}
	two.Drop()
}
