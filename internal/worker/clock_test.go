package worker

import (
	"testing"
	"time"
)

// Only the time for which a worker waits for a processor does not count, and it counts after
// three deadlines.
func TestClock(t *testing.T) {
	const deadline = 10 * time.Second
	// spends says how a worker spends its time: cpu is the processor time of ten seconds.
	type spends struct {
		runnable bool
		cpu      time.Duration
	}
	hangs, burns, starves := spends{}, spends{true, deadline}, spends{true, 0}
	for _, row := range []struct {
		name        string
		first, then spends // in the first five seconds, and later
		want        time.Duration
	}{
		{"hangs, or is not known", hangs, hangs, deadline},
		{"burns", burns, burns, deadline},
		{"burns on four processors", spends{true, 4 * deadline}, spends{true, 4 * deadline}, deadline},
		{"wakes now and then", spends{false, deadline / 10}, spends{false, deadline / 10}, deadline},
		{"gets no processor", starves, starves, 3 * deadline},
		{"gets a fortieth of one", spends{true, deadline / 40}, spends{true, deadline / 40}, 3 * deadline},
		{"gets half of one", spends{true, deadline / 2}, spends{true, deadline / 2}, 2 * deadline},
		{"gets none, then hangs", starves, hangs, deadline + 5*time.Second},
		{"gets none, then burns", starves, burns, deadline + 5*time.Second},
		{"burns, then gets none", burns, starves, 3 * deadline},
		{"hangs, then gets none", hangs, starves, 3 * deadline},
	} {
		var c clock
		var took time.Duration
		cpu := time.Hour // of earlier jobs
		for ; !c.over(deadline); took += watchEvery {
			now := row.then
			if took < 5*time.Second {
				now = row.first
			}
			cpu += now.cpu * watchEvery / deadline
			c.add(watchEvery, cpu, now.runnable)
		}
		if d := took - row.want; d < -watchEvery || d > 2*watchEvery {
			t.Errorf("%s: over after %v, want %v", row.name, took, row.want)
		}
	}
}
