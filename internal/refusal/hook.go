package refusal

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Hook holds the facts on a hook of the user that stopped a change.
type Hook struct {
	Name    string // the command in quotes
	Why     string // the rest of a sentence about it
	Said    string // what it wrote, made safe to show
	Refused bool   // it has stopped the change on purpose
	NotRun  bool   // fsmcp did not, or could not, run it
	// Entry is the settings file in which it stands so that it cannot be run, Line
	// where; "" where it was run.
	Entry string
	Line  int
}

// Refusal words it for a file.
func (h Hook) Refusal(name string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing was changed in %s: ", name)
	switch {
	case h.Entry != "":
		fmt.Fprintf(&b, "the user has a hook that may refuse this call and cannot be run, in line %d of %s: %s. Tell the user; until that is mended, the same call is refused again.", h.Line, fsys.InSentence(h.Entry), h.Why)
	case h.Refused && h.Said == "":
		fmt.Fprintf(&b, "the user's hook %s refused this call and gave no reason. Ask the user before you try it again.", h.Name)
	case h.Refused:
		fmt.Fprintf(&b, "the user's hook %s refused this call. Its reason:\n%s\nDo as it says: without that the same call is refused again.", h.Name, h.Said)
	case h.NotRun:
		fmt.Fprintf(&b, "the user's hook %s, which might refuse it, %s. Tell the user: until that is mended, the same call is refused again.", h.Name, h.Why)
	default:
		fmt.Fprintf(&b, "the user's hook %s, which may refuse it, %s. Make the same call again, and tell the user if it fails again.", h.Name, h.Why)
		if h.Said != "" {
			fmt.Fprintf(&b, " Until then it had said:\n%s", h.Said)
		}
	}
	return refuse(SlugHook, "%s", b.String())
}

// Unanswered refuses a call whose question did not get a yes. why completes "the user
// ...": "declined". path and rule are of the question; path is "" where the question
// is no longer known.
func Unanswered(path, rule, why string) *Refusal {
	const next = "Do not try the same again in another way; ask the user how to go on."
	if path == "" {
		return refuse(SlugDenied, "Nothing was done: consent was needed, and the user %s. %s", why, next)
	}
	return refuse(SlugDenied, "Nothing was done: consent was needed for %s (%s), and the user %s. %s", fsys.InSentence(path), rule, why, next)
}
