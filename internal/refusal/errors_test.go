package refusal

import (
	"errors"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/save"
)

// Without a journal the refusal names the way in which the file can be changed.
func TestOfNoJournal(t *testing.T) {
	why, state := errors.New("an open file cannot be replaced here"), &save.StateError{}
	for want, e := range map[string]*save.NoJournalError{
		"it can be written in place only (":            {Why: why, State: state},
		"it can be replaced only by two renames, betw": {Renames: true, Why: why, State: state},
	} {
		if got := Of("/a.txt", e).Error(); !strings.Contains(got, want) || strings.Contains(got, "in place only") == e.Renames {
			t.Errorf("%s", got)
		}
	}
}
