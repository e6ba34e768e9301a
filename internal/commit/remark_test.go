package commit

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/save"
)

// What stays beside a file is called by what it is.
func TestRemarksNameWhatStays(t *testing.T) {
	for _, c := range []struct {
		out  save.Written
		want string
	}{
		{save.Written{Left: []string{"/a/.f.tmp"}}, "old text could not be removed and lies in /a/.f.tmp"},
		{save.Written{Saved: []string{"/a/f.fsmcp-saved"}}, "another program wrote meanwhile was kept as /a/f.fsmcp-saved"},
	} {
		text := strings.Join(remarks(c.out, nil), "\n")
		if !strings.Contains(text, c.want) || len(c.out.Saved) == 0 && strings.Contains(text, "another program") {
			t.Errorf("%q, want %q", text, c.want)
		}
	}
}
