package commit

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// everything stands for all bytes of a file: a delete replaces them.
var everything gate.Replaced

func gateOf(t *toolcall.Target, budget toolcall.Budget) gate.Gate {
	return gate.Gate{Target: t, Budget: budget}
}

// removalRecorder tells beforehand which removals the history does not keep (history.Store).
type removalRecorder interface {
	WouldKeep(ctx context.Context, list []history.Removed) []int
}

// notKept returns the names that the history will not keep.
func (n *naming) notKept(ctx context.Context) (names []string) {
	var list []history.Removed
	for _, s := range n.steps {
		if len(s.below.Files)+s.below.Folders == 0 {
			list = append(list, history.Removed{Names: s.from.Names, Size: s.stamp.Size})
			continue
		}
		for _, path := range s.below.Files {
			r := history.Removed{Names: []string{path}}
			if t, err := n.by.Opener.Access.EntryAt(path); err == nil {
				r.Size = t.Stamp.Size
				t.Close()
			}
			list = append(list, r)
		}
	}
	recorder, ok := n.by.History.(removalRecorder)
	if !ok {
		return nil
	}
	for _, i := range recorder.WouldKeep(ctx, list) {
		of := list[i].Names
		names = append(names, of[len(of)-1])
	}
	return names
}
