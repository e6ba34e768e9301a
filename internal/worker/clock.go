package worker

import "time"

// usage describes what a process uses.
type usage struct {
	resident int64         // memory in bytes
	cpu      time.Duration // processor time of all threads since the start
	stopped  bool          // by a signal
}

// clock measures the time of a job. The time for which its worker waits for a processor
// does not count.
type clock struct {
	took     time.Duration // since the job began
	runnable time.Duration // of that, the time in which a thread ran or waited for a processor
	cpu      time.Duration // processor time used since begin
	begin    time.Duration // processor time at the first look
}

const (
	// maxDeadlines bounds a job whose worker waits for a processor: it is over so many
	// deadlines after it began.
	maxDeadlines = 3
	// threadsEvery is the number of looks at a worker for one at its threads, which takes
	// half a millisecond.
	threadsEvery = 5
)

// add adds the time since the last look at the worker. cpu is the processor time that the
// process has used since its start.
func (c *clock) add(since, cpu time.Duration, runnable bool) {
	if c.took == 0 {
		c.begin = cpu
	}
	c.took += since
	c.cpu = max(c.cpu, cpu-c.begin)
	if runnable {
		c.runnable += since
	}
}

// over reports whether the time of the job is over.
func (c *clock) over(deadline time.Duration) bool {
	waited := max(c.runnable-c.cpu, 0)
	return c.took-waited >= deadline || c.took >= maxDeadlines*deadline
}
