package fsys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// swapTime bounds a swap race; FSMCP_SWAP_RACE=60s makes it long.
func swapTime(t *testing.T) time.Duration {
	if given := os.Getenv("FSMCP_SWAP_RACE"); given != "" {
		long, err := time.ParseDuration(given)
		if err != nil {
			t.Fatal(err)
		}
		return long
	}
	if testing.Short() {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// swap exchanges two pairs of names without pause until stop is called: a
// folder with a link to a folder outside, and a file with a link to the file
// outside. At every moment all four names exist.
func swap(y yard) (stop func() (swaps int)) {
	y.file("ws/d/f", "inside")
	y.file("ws/g", "inside")
	y.file("out/f", "outside")
	y.link("ws/dl", y.at("out"))
	y.link("ws/gl", "../out/f")
	var running sync.WaitGroup
	quit, swaps := make(chan struct{}), 0
	running.Add(1)
	go func() {
		defer running.Done()
		for {
			select {
			case <-quit:
				return
			default:
			}
			for _, pair := range [][2]string{{"ws/d", "ws/dl"}, {"ws/g", "ws/gl"}} {
				err := unix.Renameat2(unix.AT_FDCWD, y.at(pair[0]), unix.AT_FDCWD, y.at(pair[1]), unix.RENAME_EXCHANGE)
				if err != nil {
					y.t.Error(err)
					return
				}
				swaps++
			}
		}
	}()
	stop = sync.OnceValue(func() int { close(quit); running.Wait(); return swaps })
	y.t.Cleanup(func() { stop() })
	return stop
}

var swapped = []string{"ws/d/f", "ws/dl/f", "ws/g", "ws/gl"}

// TestSwapRace: files are read only when all their names lie in the workspace,
// while a program exchanges folders and files for links that lead out. Nothing
// from outside may ever come.
func TestSwapRace(t *testing.T) {
	if portable {
		t.Skip("!!! NOT TESTED: it is claimed of Linux's own way to resolve alone !!!")
	}
	everyWay(t, func(t *testing.T, r *Resolver) {
		y := newYard(t)
		stop := swap(y)
		var read, refused, moved, parents int
		// On a busy machine it goes on until each of them has come about.
		begun := time.Now()
		for some := false; !some && time.Since(begun) < time.Minute || time.Since(begun) < swapTime(t)/4; some = read > 0 && refused > 0 && parents > 0 {
			for _, name := range swapped {
				switch got, hasParent, err := guardedRead(y, r, name); {
				case err == nil && got != "inside":
					t.Fatalf("ESCAPE: %s gave %q", name, got)
				case err == nil:
					read++
					if hasParent {
						parents++
					}
				case errors.Is(err, errOutside):
					refused++
				case errors.Is(err, ErrMoved), errors.Is(err, ErrUnstable):
					moved++
				default:
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		swaps := stop()
		t.Logf("%d swaps, %d read, %d refused, %d missed, %d parents proven, 0 escapes", swaps, read, refused, moved, parents)
		if read == 0 || refused == 0 || parents == 0 {
			t.Error("the race proved nothing")
		}
	})
}

var errOutside = errors.New("outside")

// guardedRead decides on the names and then reads, as a tool does. It also looks
// whether a proven parent really lies inside.
func guardedRead(y yard, r *Resolver, name string) (content string, hasParent bool, err error) {
	target, err := r.Resolve(y.path(name))
	defer func() { target.Close() }() // also beside an error
	if err != nil {
		return "", false, err
	}
	for _, name := range target.Names {
		if !strings.HasPrefix(name, y.at("ws")+"/") {
			return "", false, errOutside
		}
	}
	if dev, ino, err := target.ParentID(); err == nil {
		var out unix.Stat_t
		y.must(unix.Stat(y.at("out"), &out))
		if uint64(out.Dev) == dev && out.Ino == ino {
			y.t.Fatalf("ESCAPE: the parent of %s is outside", name)
		}
		hasParent = true
	}
	content, err = y.read(target)
	return content, hasParent, err
}

// TestSwapRaceControl is the control arm: a path that is checked as a string
// and then opened by name lets the outside file through.
func TestSwapRaceControl(t *testing.T) {
	y := newYard(t)
	swap(y)
	checked, escapes := 0, 0
	for end := time.Now().Add(time.Minute); escapes == 0 && time.Now().Before(end); {
		for _, name := range swapped {
			real, err := filepath.EvalSymlinks(y.at(name))
			if err != nil || !strings.HasPrefix(real, y.at("ws")+"/") {
				continue
			}
			checked++
			if content, err := os.ReadFile(y.at(name)); err == nil && string(content) == "outside" {
				escapes++
			}
		}
	}
	t.Logf("%d escapes in %d checked reads", escapes, checked)
	if escapes == 0 {
		t.Error("the control arm held: the race is too slow to prove anything")
	}
}

// TestConcurrentUse is for the race detector: one resolver, many callers.
func TestConcurrentUse(t *testing.T) {
	everyWay(t, func(t *testing.T, r *Resolver) {
		y := newYard(t)
		y.file("ws/a", "x")
		y.link("ws/l", "a")
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 20 {
					for _, name := range []string{"ws/a", "ws/l", "ws/new"} {
						target, err := r.Resolve(y.path(name))
						if err != nil {
							t.Error(err)
						}
						if target.Kind == Regular {
							if got, err := y.read(target); got != "x" {
								t.Error(got, err)
							}
						}
						target.Close()
					}
				}
			})
		}
		callers.Wait()
	})
}
