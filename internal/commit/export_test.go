package commit

import (
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
)

// SetTogether bounds the names that a call looks at together, until the function that it returns
// is called.
func SetTogether(n int) (reset func()) {
	was := together
	together = n
	return func() { together = was }
}

// SetCareless has calls take every first decision on a file for the one under the locks, and
// SetHasty has it decide on names together that depend on each other. They are wrong, to show
// that tests find it.
func SetCareless() (reset func()) {
	move, deletion := isAsDecided, isDeleteAsDecided
	isAsDecided = func(n *nameMaker, s *nameStep) bool {
		return n.Operation == history.OpMove && s.kind == fsys.Regular && s.from.SharesFolder() && s.to.SharesFolder()
	}
	isDeleteAsDecided = func(_ *nameMaker, s *nameStep) bool { return s.kind == fsys.Regular && s.from.SharesFolder() }
	return func() { isAsDecided, isDeleteAsDecided = move, deletion }
}

// SetHasty is described at SetCareless.
func SetHasty() (reset func()) {
	was := countIndependent
	countIndependent = func(_ *nameMaker, steps []*nameStep) int { return len(steps) }
	return func() { countIndependent = was }
}

// SetStagedTogether bounds the files of a MultiEdit that are saved together, until the function
// that it returns is called.
func SetStagedTogether(n int) (reset func()) {
	was := stagedTogether
	stagedTogether = n
	return func() { stagedTogether = was }
}

// SetReckless has a MultiEdit go on with the files after one that fails. It is wrong, to show that
// tests find it.
func SetReckless() (reset func()) {
	was := takeBack
	takeBack = func(f shownFile) { f.goOn() }
	return func() { takeBack = was }
}
