package commit

import (
	"context"
	"testing"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// unwanted are hooks that concern no file.
type unwanted struct{ Hooks }

func (unwanted) Wanted([]string) (before, after bool) { return false, false }

// Where no hooks are wanted, nothing is made for them.
func TestNoHooksCostNothing(t *testing.T) {
	for name, hooks := range map[string]Hooks{"none": nil, "unwanted": unwanted{}} {
		s := &toolcall.Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Path: "/w/a.txt", Names: []string{"/w/a.txt"}}}}
		w := committing{by: &Committer{Hooks: hooks}, call: toolcall.Call{Session: &toolcall.Session{}}, op: perm.Edit}
		m := applied{change: &Plan{}}
		ctx := context.Background()
		fewest := 1.0 // what else runs in the process is counted, too
		for range 10 {
			fewest = min(fewest, testing.AllocsPerRun(100, func() {
				w.hooksPassed, w.faults = "", nil
				if err := w.beforeHooks(ctx, s, &Plan{}); err != nil {
					t.Error(err)
				}
				w.afterHooks(ctx, s, &m)
			}))
		}
		if fewest != 0 {
			t.Errorf("%s: %v allocations", name, fewest)
		}
	}
}
