package watch

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Marks notes which of some files were touched, for callers who ask from time to
// time. It watches the files' folders, never waits, and knows nothing of what
// leads to a folder. The zero value is ready; nothing is watched before the first
// Follow.
type Marks struct {
	// fresh makes the notifier; nil is the system's. For tests.
	fresh func() (notifier, error)

	mu       sync.Mutex
	notifier notifier
	broken   error
	folders  map[string]map[string]bool // watched, with the files followed in each
	touched  map[string]bool
	running  sync.WaitGroup
}

// Follow has a file looked after from now on, by its absolute name without links.
// It reports whether its folder was not watched before: then changes until now may
// have gone unseen. An error is ErrBlind: the file cannot be looked after.
func (m *Marks) Follow(name string) (fresh bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := filepath.Dir(name)
	if files, ok := m.folders[dir]; ok {
		files[name] = true
		return false, nil
	}
	if err := m.start(); err != nil {
		return false, err
	}
	if err := m.notifier.Add(dir); err != nil {
		return false, blind(err)
	}
	m.folders[dir] = map[string]bool{name: true}
	return true, nil
}

func (m *Marks) start() error {
	if m.notifier != nil || m.broken != nil {
		return m.broken
	}
	fresh := m.fresh
	if fresh == nil {
		fresh = func() (notifier, error) {
			w, err := fsnotify.NewWatcher()
			return system{w}, err
		}
	}
	n, err := fresh()
	if err != nil {
		m.broken = blind(err)
		return m.broken
	}
	m.notifier = n
	m.folders, m.touched = make(map[string]map[string]bool), make(map[string]bool)
	m.running.Go(func() { m.drain(n) })
	return nil
}

// drain empties the notifier.
func (m *Marks) drain(n notifier) {
	for {
		select {
		case e, ok := <-n.events():
			if !ok {
				return
			}
			m.note(e)
		case _, ok := <-n.failures():
			if !ok {
				return
			}
			m.all() // the queue ran over: anything may have happened
		}
	}
}

func (m *Marks) note(e fsnotify.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := filepath.Clean(e.Name)
	if files, ok := m.folders[name]; ok { // the folder itself
		if e.Op&(fsnotify.Remove|fsnotify.Rename) == 0 {
			return
		}
		for f := range files {
			m.touched[f] = true
		}
		delete(m.folders, name) // followed anew, it is watched anew
		return
	}
	if e.Op != fsnotify.Chmod && m.folders[filepath.Dir(name)][name] {
		m.touched[name] = true
	}
}

func (m *Marks) all() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, files := range m.folders {
		for f := range files {
			m.touched[f] = true
		}
	}
}

// Touched are the files that were touched since it was last asked.
func (m *Marks) Touched() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.touched) == 0 {
		return nil
	}
	for name := range m.touched {
		names = append(names, name)
	}
	clear(m.touched)
	return names
}

// Close ends watching.
func (m *Marks) Close() {
	m.mu.Lock()
	n := m.notifier
	m.mu.Unlock()
	if n != nil {
		_ = n.Close()
		m.running.Wait()
	}
}
