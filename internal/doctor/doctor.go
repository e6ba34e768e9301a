// Package doctor checks that fsmcp works on this machine: its settings, folders, programs,
// clients, and the server itself.
//
// Each check is a function that returns values of Check. A check that finds a fault names
// the remedy. It promises to change nothing: what it tries, it tries in a temporary folder
// that it removes. The self-test starts a program, and the check of language servers asks those that it finds
// for their versions; both end by a deadline.
//
// It does not read the environment, flags or settings files: callers pass in what those
// say. It does not print.
package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Status is the outcome of a check.
type Status string

// The outcomes. Only a failure makes the whole report fail.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, but not as well as it could
	Skip Status = "skip" // not there, and not needed
	Fail Status = "fail" // does not work
)

// Check is one line of the report.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy"` // "" unless there is something to do
}

// The names of the checks. Several checks may have one name: one for each folder, file or
// program.
const (
	NameVersion   = "version"
	NameWorkspace = "workspace"
	NameSettings  = "settings"
	NameRules     = "rules"
	NameEngines   = "engines"
	NameSandbox   = "sandbox"
	NameLanguages = "language-servers"
	NameHistory   = "history"
	NamePDFCache  = "pdf-cache"
	NameClients   = "clients"
	NameWatcher   = "watcher"
	NameSelfTest  = "self-test"
)

// Report is the result of all checks.
type Report struct {
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
}

// NewReport puts checks together.
func NewReport(checks []Check) Report {
	failed := slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Fail })
	return Report{OK: !failed, Checks: checks}
}

// Count returns how many checks have a status.
func (r Report) Count(status Status) (n int) {
	for _, c := range r.Checks {
		if c.Status == status {
			n++
		}
	}
	return n
}

// Summary is the report in one sentence.
func (r Report) Summary() string {
	failed, warned := r.Count(Fail), r.Count(Warn)
	switch {
	case failed > 0 && warned > 0:
		return fmt.Sprintf("%s failed, with %s besides.", count(failed, "check"), count(warned, "warning"))
	case failed > 0:
		return count(failed, "check") + " failed."
	case warned > 0:
		return fmt.Sprintf("No check failed; there is something to look at: %s.", count(warned, "warning"))
	}
	return "All is well."
}

// Within runs a check that may block, as on a disk that does not answer. After the
// deadline it returns a failure of that name, and the check goes on in the background.
func Within(deadline time.Duration, name string, check func() []Check) []Check {
	done := make(chan []Check, 1)
	go func() { done <- check() }()
	select {
	case checks := <-done:
		return checks
	case <-time.After(deadline):
		return []Check{{name, Fail, fmt.Sprintf("not done after %v", deadline), "A disk or a program does not answer: look for a network mount that hangs."}}
	}
}

// Version names this program.
func Version(words ...string) Check {
	return Check{Name: NameVersion, Status: OK, Detail: strings.Join(words, ", ")}
}

// bytes writes a size for people.
func bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, phrase.Plural(n, noun, noun+"s"))
}
