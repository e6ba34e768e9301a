package schedule

// registry holds the live jobs: waiting, running, slow and parked.
type registry struct {
	jobs  map[*Job]struct{}
	byKey map[string]*Job
	bytes int
	empty chan struct{} // closed when there is no job; nil until a goroutine waits for that
}

func (r *registry) add(j *Job) {
	r.jobs[j] = struct{}{}
	r.byKey[j.Key] = j
	r.bytes += j.Size
}

// remove does nothing to a job that was removed before.
func (r *registry) remove(j *Job) {
	if _, ok := r.jobs[j]; ok {
		delete(r.jobs, j)
		r.bytes -= j.Size
	}
	if r.byKey[j.Key] == j {
		delete(r.byKey, j.Key)
	}
	r.tellEmpty()
}

// whenEmpty returns a channel that is closed when there is no job.
func (r *registry) whenEmpty() <-chan struct{} {
	if r.empty == nil {
		r.empty = make(chan struct{})
	}
	defer r.tellEmpty()
	return r.empty
}

// tellEmpty closes the channel of whenEmpty if there is no job.
func (r *registry) tellEmpty() {
	if r.empty != nil && len(r.jobs) == 0 {
		close(r.empty)
		r.empty = nil
	}
}
