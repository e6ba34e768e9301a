package commit

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// What stays beside a file is called by what it is.
func TestRemarkNamesWhatStays(t *testing.T) {
	for _, c := range []struct {
		out  save.Outcome
		want string
	}{
		{save.Outcome{Left: []string{"/a/.f.tmp"}}, "old text could not be removed and lies in /a/.f.tmp"},
		{save.Outcome{Saved: []string{"/a/f.fsmcp-saved"}}, "another program wrote meanwhile was kept as /a/f.fsmcp-saved"},
	} {
		r := &toolcall.Result{Blocks: []toolcall.Block{{Text: "done"}}, Meta: map[string]any{}}
		text := remark(r, c.out, nil).Blocks[0].Text
		if !strings.Contains(text, c.want) || len(c.out.Saved) == 0 && strings.Contains(text, "another program") {
			t.Errorf("%q, want %q", text, c.want)
		}
	}
}
