package commit

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// hooked is a name that hooks are told of.
type hooked struct {
	names []string // the last one is resolved
	to    string
}

// namesHooks runs the user's hooks around a call that changes names.
type namesHooks struct{ n *naming }

// edited is the change of a name as hooks are told of it.
func (w namesHooks) edited(h hooked) Edited {
	n := w.n
	return Edited{
		Names: h.names, Tool: n.tool(), Session: n.call.Session.ID, Call: n.call.ID,
		Operation: string(n.Operation), To: h.to,
	}
}

// before runs the hooks before the change of each old and new name, and of each file
// below a folder that hooks name.
func (w namesHooks) before(ctx context.Context) error {
	n := w.n
	if n.by.Hooks == nil {
		return nil
	}
	var all []hooked
	for _, s := range n.steps {
		names, err := w.concerned(s)
		if err != nil {
			return err
		}
		all = append(all, names...)
	}
	if len(all) == 0 {
		return nil
	}
	defer n.call.Rest()()
	defer n.call.Session.Reminders.OwnChanges()()
	for _, h := range all {
		faults, stop, err := n.by.Hooks.Before(ctx, w.edited(h))
		switch {
		case err != nil:
			return err
		case stop != nil:
			return refusal.HookRefusal(*stop, fsys.InSentence(h.names[len(h.names)-1]))
		}
		n.faults = append(n.faults, faults...)
	}
	return nil
}

// concerned returns the names of a step that hooks before a change concern.
func (w namesHooks) concerned(s *nameStep) (all []hooked, err error) {
	n := w.n
	add := func(names []string, to string) {
		if before, _ := n.by.Hooks.Wanted(names); before {
			all = append(all, hooked{names, to})
		}
	}
	to := ""
	if s.to != nil {
		to = s.to.Path
	}
	if n.Operation != history.OpCopy {
		add(s.from.Names, to)
	}
	if s.to != nil {
		add(s.to.Names, to)
	}
	own := len(all)
	for _, path := range s.below.Files {
		now := newPath(s, path)
		if n.Operation != history.OpCopy {
			add([]string{path}, now)
		}
		if now != "" {
			add([]string{now}, now)
		}
		if len(all)-own > mostHooked {
			return nil, refusal.New(refusal.TooManyHooked, mostHooked, fsys.InSentence(s.From.String()))
		}
	}
	return all, nil
}

// newPath is the new name of what lies at path, at or below the old name of a step; "" if it
// has none.
func newPath(s *nameStep, path string) string {
	if s.to == nil {
		return ""
	}
	rest, _ := fsys.Below(s.from.Path, path)
	if rest == "" {
		return s.to.Path
	}
	return fsys.Join(s.to.Path, rest)
}

// after runs the hooks after the change of each name that is there now.
func (w namesHooks) after(ctx context.Context) {
	n := w.n
	defer func() {
		if len(n.faults) > 0 {
			n.out.Note(refusal.HookFaults(n.faults))
		}
	}()
	if n.by.Hooks == nil || n.Operation == history.OpDelete {
		return
	}
	var all []hooked
	add := func(now string) {
		if _, wanted := n.by.Hooks.Wanted([]string{now}); wanted && len(all) < mostHooked {
			all = append(all, hooked{[]string{now}, now})
		}
	}
	for _, s := range n.steps {
		switch {
		case !s.made:
		case s.kind == fsys.Regular:
			add(s.to.Path)
		default:
			for _, path := range s.below.Files {
				add(newPath(s, path))
			}
		}
	}
	if len(all) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	defer n.call.Rest()()
	defer n.call.Session.Reminders.OwnChanges()()
	for _, h := range all {
		n.faults = append(n.faults, n.by.Hooks.After(ctx, w.edited(h))...)
	}
}
