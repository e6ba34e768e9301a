//go:build linux

package faults

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/savemodel"
)

// TestTracesFollowTheModel replays the system calls of an Edit against the model of saving:
// one that succeeds, and one for each of its questions about the lease that fails.
func TestTracesFollowTheModel(t *testing.T) {
	needStrace(t)
	o := newOne(t)
	calls := []string{"-y", "-e", "trace=flock,fcntl,openat,linkat,renameat2,unlinkat"}
	plain := eventsOf(o.change(t, calls...).trace)
	if !accepted(plain) {
		t.Fatalf("the model does not have this order: %v", plain)
	}
	withdrawn, given := 0, 0
	// strace counts the calls of each thread, and threads differ from run to run.
	for try := 0; try < 12 || try < 200 && (withdrawn == 0 || given == 0); try++ {
		o.reset(t)
		fail := fmt.Sprintf("inject=fcntl:error=EIO:when=%d", try%10+1)
		out := o.change(t, append(calls, "-e", fail)...)
		events := eventsOf(out.trace)
		if !slices.Contains(events, "F_GETLEASE") {
			continue // it goes on without a lease, which the model leaves out
		}
		if !accepted(withoutLateError(events)) {
			t.Errorf("%s: the model does not have this order: %v\n%s", fail, events, out.said)
		}
		switch n := strings.Count(strings.Join(events, " "), "RENAME_EXCHANGE"); {
		case n == 2:
			withdrawn++
		case n == 0:
			given++
		}
	}
	if withdrawn == 0 || given == 0 {
		t.Errorf("%d changes were withdrawn after the exchange, %d given up before it", withdrawn, given)
	}
	report(t, "traces: %v; %d withdrawn after the exchange, %d given up before it", plain, withdrawn, given)

	// The control arm: any two neighbours in the other order, or one step left out.
	for i := range plain[1:] {
		swapped := slices.Clone(plain)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		if !slices.Equal(swapped, plain) && accepted(swapped) {
			t.Errorf("the model takes this, too: %v", swapped)
		}
	}
	for i := range plain {
		if left := slices.Delete(slices.Clone(plain), i, i+1); accepted(left) {
			t.Errorf("the model takes this, too: %v", left)
		}
	}
}

// withoutLateError leaves out one of two questions between an exchange and its withdrawal. Another
// program, which is all that the model has, makes the first one fail; an error can be the second's.
func withoutLateError(events []string) []string {
	late := []string{"RENAME_EXCHANGE", "F_GETLEASE", "F_GETLEASE", "RENAME_EXCHANGE"}
	for i := 0; i+len(late) <= len(events); i++ {
		if slices.Equal(events[i:i+len(late)], late) {
			return slices.Delete(slices.Clone(events), i+1, i+2)
		}
	}
	return events
}

func accepted(events []string) bool {
	return (&savemodel.Machine{Rules: savemodel.Fsmcp}).Accepts(events)
}

var leaseCall = regexp.MustCompile(`fcntl\((\d+)[^,]*, F_([SG])ETLEASE(?:, F_(\w+))?`)

// eventsOf returns the system calls of a trace that the model has. The second question about
// a lease, which follows each F_GETLEASE or not, is part of the first.
func eventsOf(trace []byte) (events []string) {
	old := "" // the descriptor of the file that is changed
	for line := range strings.Lines(string(trace)) {
		lease := leaseCall.FindStringSubmatch(line)
		switch {
		case strings.Contains(line, " flock(") && strings.Contains(line, "/locks/") && strings.Contains(line, "LOCK_EX"):
			events = append(events, "flock")
		case strings.Contains(line, "O_TMPFILE"):
			events = append(events, "O_TMPFILE")
		case strings.Contains(line, " linkat(") && strings.Contains(line, ".fsmcp-"):
			events = append(events, "linkat")
		case strings.Contains(line, "RENAME_EXCHANGE"):
			events = append(events, "RENAME_EXCHANGE")
		case strings.Contains(line, " unlinkat(") && strings.Contains(line, ".fsmcp-"):
			events = append(events, "unlinkat")
		case lease == nil:
		case old == "" && lease[3] == "RDLCK":
			old = lease[1]
			events = append(events, "F_SETLEASE")
		case lease[1] == old && lease[2] == "G":
			events = append(events, "F_GETLEASE")
		}
	}
	return events
}
