package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// planRestore reverses the change from before to after in the current content. nil stands
// for no file.
func planRestore(before, after, now []byte) (u tools.RestorePlan, err error) {
	switch {
	case before == nil && now == nil:
		return u, nil
	case before == nil && bytes.Equal(now, after):
		return tools.RestorePlan{Remove: true}, nil
	case before == nil:
		return u, &conflict{"the change created it, and it was changed since"}
	case after == nil && now == nil:
		return tools.RestorePlan{Splices: []span.Splice{{New: before}}}, nil
	case after == nil && bytes.Equal(now, before):
		return u, nil
	case after == nil:
		return u, &conflict{"another file is there by now"}
	case now == nil:
		return u, &conflict{"it is not there any more"}
	}
	splices, conflicts := history.Merge(after, now, before)
	if conflicts != nil {
		return u, &conflict{"the same place was changed since (" + places(conflicts) + ")"}
	}
	return tools.RestorePlan{Splices: splices}, nil
}

// places lists the first conflicts.
func places(conflicts []history.Conflict) string {
	const most = 5
	var parts []string
	for _, c := range conflicts[:min(len(conflicts), most)] {
		switch {
		case c.Last > c.First:
			parts = append(parts, fmt.Sprintf("lines %d to %d", c.First, c.Last))
		case c.Last == c.First:
			parts = append(parts, fmt.Sprintf("line %d", c.First))
		default:
			parts = append(parts, fmt.Sprintf("before line %d", c.First))
		}
	}
	if len(conflicts) > most {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// planPlaces plans the restore of a change whose history holds only the changed places.
func (h *historySession) planPlaces(e history.Entry, old *fsys.File) (u tools.RestorePlan, err error) {
	if old == nil {
		return u, &conflict{"it is not there any more"}
	}
	// The changes up to now, read under the lock.
	archive, err := h.openHistory()
	if err != nil {
		return u, err
	}
	defer archive.Close()
	entries, _ := archive.Entries(func(path string) bool { return path == e.Path })
	at := slices.IndexFunc(entries, func(o history.Entry) bool { return o.ID == e.ID })
	if at < 0 {
		return u, history.ErrUnknown
	}
	later := slices.Clone(entries[:at])
	slices.Reverse(later)
	splices, err := archive.RestorePlaces(entries[at], later, old)
	if no := (*history.ConflictError)(nil); errors.As(err, &no) {
		return u, &conflict{no.Error()}
	}
	return tools.RestorePlan{Splices: splices}, err
}
