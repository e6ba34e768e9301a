package app

import (
	"context"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/save"
)

// Sweep cleans up after dead processes, and reports rescued text in the next answer.
func (a *App) Sweep(ctx context.Context) {
	if dir, err := a.saver.FoundStateDir(); err == nil && dir != "" {
		hooks.Sweep(dir)
	}
	swept, err := a.saver.Sweep(ctx)
	a.Service.Notify(sweepNotices(swept)...)
	if err != nil {
		a.log.Warn().Err(err).Msg("clearing up after an earlier process failed")
	}
	for _, e := range swept.Untrusted {
		a.log.Warn().Msg(untrusted(e))
	}
	if swept.Removed > 0 {
		a.log.Info().Int("files", swept.Removed).Msg("temporary files of dead processes were removed")
	}
}

// untrusted returns the warning that a file of fsmcp's own is not used.
func untrusted(err error) string {
	return fmt.Sprintf("fsmcp does not use what another user may have written: %s.", fsys.InSentence(err.Error()))
}

// untrustedRemedy does not name chown: that would make a planted file count.
const untrustedRemedy = " Tell the user to remove it, or to run chmod go-w on it if everything in it is theirs."

func sweepNotices(r save.SweepReport) []string {
	var out []string
	for _, e := range r.Untrusted {
		out = append(out, untrusted(e)+untrustedRemedy)
	}
	for _, found := range []struct {
		names []string
		is    string // a sentence about one of them
	}{
		{r.Replayed, "An earlier write in place of %s was cut short by a crash; it is finished now."},
		{r.Torn, "An earlier write in place of %s was cut short by a crash, and the file was changed since; it was left alone."},
		{r.Rescued, "Text that was found after a crash and is known nowhere else was kept in fsmcp's history; the user gets it back by: fsmcp history show %s"},
		{r.Saved, "Text that was found after a crash and is known nowhere else was kept as %s."},
	} {
		for _, name := range found.names {
			out = append(out, fmt.Sprintf(found.is, fsys.InSentence(name)))
		}
	}
	return out
}

// lateNotice reports text that a program wrote into a file just after that was replaced.
func lateNotice(l save.LateWrite) string {
	name := fsys.InSentence(l.Path)
	switch {
	case l.Merged:
		return fmt.Sprintf("Another program had %s open while it was changed, and wrote to the old text; what it wrote was merged into the file. Read it again before the next Edit.", name)
	case len(l.Saved) > 0:
		return fmt.Sprintf("Another program had %s open while it was changed, and wrote to the old text; its text was kept as %s.", name, fsys.InSentence(l.Saved[0]))
	case len(l.Rescued) > 0:
		return fmt.Sprintf("Another program had %s open while it was changed, and wrote to the old text; its text was kept in fsmcp's history; the user gets it back by: fsmcp history show %s", name, fsys.InSentence(l.Rescued[0]))
	}
	return fmt.Sprintf("Another program had %s open while it was changed, and wrote to the old text; what it wrote is lost: %s.", name, l.Err)
}
