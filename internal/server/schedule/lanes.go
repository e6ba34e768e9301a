package schedule

// lanes keeps the jobs of each lane in order. A lane exists while its first job is ready or
// runs.
type lanes struct {
	behind   map[string][]*Job        // the jobs behind the first
	followed map[string]chan struct{} // closed when a job waits behind the one that asked
}

// join puts a job at the end of its lane, and reports whether it is the first.
func (l *lanes) join(j *Job) (first bool) {
	behind, taken := l.behind[j.Lane]
	if !taken {
		l.behind[j.Lane] = nil
		return true
	}
	l.behind[j.Lane] = append(behind, j)
	l.tell(j.Lane)
	return false
}

// leave removes the first job of a lane, and returns the next one, nil if there is none.
func (l *lanes) leave(lane string) (next *Job) {
	l.tell(lane)
	behind := l.behind[lane]
	if len(behind) == 0 {
		delete(l.behind, lane)
		return nil
	}
	l.behind[lane] = behind[1:]
	return behind[0]
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
