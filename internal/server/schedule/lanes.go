package schedule

import "slices"

// lanes keeps the jobs of each lane in order. A lane exists while its first job is ready,
// runs or waits for another of its lanes.
//
// A job joins all of its lanes at once, so that every lane has its jobs in the order in which
// they came: no two jobs wait for each other.
type lanes struct {
	behind   map[string][]*Job        // the jobs behind the first
	followed map[string]chan struct{} // closed when a job waits behind the one that asked
}

// join puts a job at the end of its lanes, and reports whether it is the first in all.
func (l *lanes) join(j *Job) (first bool) {
	j.ahead = 0
	for lane := range j.lanes {
		behind, taken := l.behind[lane]
		if !taken {
			l.behind[lane] = nil
			continue
		}
		j.ahead++
		l.behind[lane] = append(behind, j)
		l.tell(lane)
	}
	return j.ahead == 0
}

// leave removes the first job of its lanes, and calls ready for each job that is the first in
// all of its own then.
func (l *lanes) leave(j *Job, ready func(*Job)) {
	for lane := range j.lanes {
		l.tell(lane)
		behind := l.behind[lane]
		if len(behind) == 0 {
			delete(l.behind, lane)
			continue
		}
		l.behind[lane] = behind[1:]
		if next := behind[0]; next.ahead > 1 {
			next.ahead--
		} else {
			next.ahead = 0
			ready(next)
		}
	}
}

// lanes yields the lanes of a job, each once.
func (j *Job) lanes(yield func(string) bool) {
	if !yield(j.Lane) {
		return
	}
	for _, lane := range j.Others {
		if !yield(lane) {
			return
		}
	}
}

// SetLanes puts a job into lanes by their names, which may hold a name twice.
func (j *Job) SetLanes(names []string) {
	j.Lane, j.Others = "", nil
	if len(names) == 0 {
		return
	}
	others := slices.Clone(names[1:])
	slices.Sort(others)
	j.Lane = names[0]
	j.Others = slices.DeleteFunc(slices.Compact(others), func(n string) bool { return n == j.Lane })
}

// follow returns a channel that is closed when a job waits behind the first of a lane.
func (l *lanes) follow(lane string) <-chan struct{} {
	ch := l.followed[lane]
	if ch == nil {
		ch = make(chan struct{})
		l.followed[lane] = ch
		if len(l.behind[lane]) > 0 {
			l.tell(lane)
		}
	}
	return ch
}

// tell closes the channel of a lane, if a job has asked for it.
func (l *lanes) tell(lane string) {
	if ch := l.followed[lane]; ch != nil {
		close(ch)
		delete(l.followed, lane)
	}
}
