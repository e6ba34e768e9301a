package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Marks notes which of some files were touched, for callers that ask from time to time. It
// watches the files' folders and, within Below, the folders above them. If a folder is
// moved or removed, Marks forgets it and reports its followed files as touched, so that
// the caller follows them again. The zero value is ready; it watches nothing before the
// first Follow.
type Marks struct {
	// Below returns folders, by names without links: everything between one of them and a
	// followed file is watched as well, since a folder gets no event when one above it is
	// moved. On Windows each of them is watched with everything below it. nil: only the
	// folders of the files are watched.
	Below func() []string
	// newNotifier makes the notifier; nil means the system's. For tests.
	newNotifier func() (notifier, error)

	// arming is held while the notifier is given folders. The notifier may then wait for
	// its events to be taken, so mu must not be held.
	arming   sync.Mutex
	notifier notifier
	broken   error
	running  sync.WaitGroup

	mu      sync.Mutex
	folders map[string]map[string]bool // watched, with the files followed in each
	lost    map[string]bool            // were watched, and may have moved away with their watch
	touched map[string]bool
}

// Follow watches a file from now on, by its absolute name without links. It reports
// whether its folder was not watched before: changes until now may have been missed then.
// An error is ErrBlind: the file cannot be watched.
func (m *Marks) Follow(name string) (fresh bool, err error) {
	dir := filepath.Dir(name)
	if m.followed(dir, name) {
		return false, nil
	}
	m.arming.Lock()
	defer m.arming.Unlock()
	if m.followed(dir, name) {
		return false, nil
	}
	if err := m.start(); err != nil {
		return false, err
	}
	m.removeLost()
	if err := m.watch(dir); err != nil {
		return false, blind(err)
	}
	for _, up := range m.above(dir) {
		_ = m.watch(up) // Below is not above it: moves there are missed
	}
	m.followed(dir, name)
	return true, nil
}

// followed adds a file, if its folder is watched.
func (m *Marks) followed(dir, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	files, ok := m.folders[dir]
	if !ok {
		return false
	}
	if files == nil { // it was watched for folders below it
		files = make(map[string]bool)
		m.folders[dir] = files
	}
	files[name] = true
	return true
}

func (m *Marks) start() error {
	if m.notifier != nil || m.broken != nil {
		return m.broken
	}
	if m.newNotifier == nil {
		m.newNotifier = newForest
	}
	n, err := m.newNotifier()
	if err != nil {
		m.broken = blind(err)
		return m.broken
	}
	m.notifier = n
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folders, m.lost, m.touched = make(map[string]map[string]bool), make(map[string]bool), make(map[string]bool)
	m.running.Go(func() {
		drain(n, m.note, func(error) { // the queue ran over: any folder may have moved
			m.mu.Lock()
			defer m.mu.Unlock()
			m.forget(func(string) bool { return true })
		})
	})
	return nil
}

// removeLost removes watches from the notifier whose names may be another folder's now.
func (m *Marks) removeLost() {
	m.mu.Lock()
	lost := m.lost
	m.lost = make(map[string]bool)
	m.mu.Unlock()
	for dir := range lost {
		_ = m.notifier.Remove(dir) // it may be gone already
	}
}

// watch watches a folder, unless it is watched already.
func (m *Marks) watch(dir string) error {
	m.mu.Lock()
	_, known := m.folders[dir]
	m.mu.Unlock()
	if known {
		return nil
	}
	if err := m.add(dir); err != nil {
		return err
	}
	if !m.notifier.has(dir) { // its events would come under its other name
		return fmt.Errorf("%s: %w", dir, errOtherName)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folders[dir] = nil
	return nil
}

// forest is a notifier that can watch a folder with everything below it.
type forest interface{ AddTree(top string) error }

// add has the notifier watch a folder, or the one of Below that it lies in. A folder that is
// not there cannot be watched.
func (m *Marks) add(dir string) error {
	trees, ok := m.notifier.(forest)
	if !ok || m.Below == nil {
		return m.notifier.Add(dir)
	}
	for _, top := range m.Below() {
		if !within(dir, top) || trees.AddTree(top) != nil {
			continue
		}
		_, err := os.Lstat(dir)
		return err
	}
	return m.notifier.Add(dir)
}

// within reports whether a folder is another one, or lies in it.
func within(dir, top string) bool {
	const separator = string(filepath.Separator)
	return dir == top || strings.HasPrefix(dir, strings.TrimSuffix(top, separator)+separator)
}

// above returns the folders above one, the nearest first, up to one of Below. On macOS it
// returns none: a watched folder costs a descriptor for each file in it there.
func (m *Marks) above(dir string) (out []string) {
	if _, trees := m.notifier.(forest); m.Below == nil || runtime.GOOS != "linux" && !trees {
		return nil
	}
	for _, top := range m.Below() {
		for up := filepath.Dir(dir); within(up, top); up = filepath.Dir(up) {
			out = append(out, up)
			if up == top {
				break // the root is its own parent
			}
		}
	}
	return out
}

func (m *Marks) note(e fsnotify.Event) {
	if e.Op&^fsnotify.Chmod == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := filepath.Clean(e.Name)
	if m.folders[filepath.Dir(name)][name] {
		m.touched[name] = true
	}
	if _, ok := m.folders[name]; ok && e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 {
		below := strings.TrimSuffix(name, string(filepath.Separator)) + string(filepath.Separator)
		m.forget(func(dir string) bool { return dir == name || strings.HasPrefix(dir, below) })
	}
}

// forget stops the watch of each folder for which moved is true: its name may lead to another
// folder now.
func (m *Marks) forget(moved func(dir string) bool) {
	for dir, files := range m.folders {
		if !moved(dir) {
			continue
		}
		for f := range files {
			m.touched[f] = true
		}
		delete(m.folders, dir)
		m.lost[dir] = true
	}
}

// Touched returns the files that were touched since its last call.
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

// Close ends the watch.
func (m *Marks) Close() {
	m.arming.Lock()
	defer m.arming.Unlock()
	if m.notifier != nil {
		_ = m.notifier.Close()
		m.running.Wait()
	}
}
