//go:build unix

package hooks

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func showing(dir string) *Runner {
	return New(Options{Dir: func(context.Context) (string, error) { return dir, nil }})
}

// left are the names below the folder of what is shown.
func left(t *testing.T, state string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(state, Folder))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return list
}

func TestOldBytesAreShown(t *testing.T) {
	state, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	r := showing(state)
	defer r.Close()
	h := sh(`read -r line; f=${line##*'"before":"'}; f=${f%'"}'}; cp "$f" ` + out + `; ls -l "$f" | cut -c1-10 >>` + out + `; basename "$f" >>` + out)
	round := Round{Hooks: List{h, h}, Event: HookInput{Event: AfterEdit, Path: "/p/a b.go"}, Dir: t.TempDir(), Old: []byte("old\n")}
	all, err := r.After(t.Context(), round)
	if err != nil || all[0].Ending != Passed || all[1].Ending != Passed {
		t.Fatalf("%+v, %v", all, err)
	}
	got, err := os.ReadFile(out)
	if want := "old\n-rw-------\na b.go\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if l := left(t, state); len(l) != 0 {
		t.Errorf("left behind: %v", l)
	}
}

// Bytes are shown where there are some, and an empty file is a file.
func TestNoOldBytes(t *testing.T) {
	state := t.TempDir()
	r := showing(state)
	defer r.Close()
	round := Round{Hooks: List{sh(`read -r line; case $line in *before\"*) exit 1;; esac`)}, Event: HookInput{Path: "/p/a"}, Dir: "/"}
	if all, err := r.After(t.Context(), round); err != nil || all[0].Ending != Passed || len(left(t, state)) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	round.Old = []byte{}
	if all, err := r.After(t.Context(), round); err != nil || all[0].Ending != Failed {
		t.Errorf("%+v, %v", all, err)
	}
}

// The process may end as soon as Close has returned: nothing is shown any more.
func TestCloseWaitsForWhatIsShown(t *testing.T) {
	state, reached, release := t.TempDir(), make(chan struct{}), make(chan struct{})
	r := New(Options{Dir: func(context.Context) (string, error) {
		close(reached)
		<-release
		return state, nil
	}})
	go r.After(t.Context(), Round{Hooks: List{sh("exit 0")}, Event: HookInput{Path: "/p/a"}, Dir: "/", Old: []byte("x")})
	<-reached
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.Close()
	}()
	select {
	case <-closed:
		t.Error("closed while old bytes were about to be shown")
	case <-time.After(100 * time.Millisecond):
	}
	close(release)
	<-closed
	if l := left(t, state); len(l) != 0 {
		t.Errorf("left behind: %v", l)
	}
}

// Old bytes that cannot be shown keep no command from running.
func TestNoRoomToShow(t *testing.T) {
	state := t.TempDir()
	if err := os.Symlink("/tmp", filepath.Join(state, Folder)); err != nil {
		t.Fatal(err)
	}
	r := showing(state)
	defer r.Close()
	all, err := r.After(t.Context(), Round{Hooks: List{sh("exit 0")}, Event: HookInput{Path: "/p/a"}, Dir: "/", Old: []byte("x")})
	if err == nil || len(all) != 1 || all[0].Ending != Passed {
		t.Errorf("%+v, %v", all, err)
	}
}

// Sweeping takes what a dead process left and spares what a living one shows. Both
// are as young as the other: to go by age would take both or none.
func TestSweep(t *testing.T) {
	state := t.TempDir()
	r := showing(state)
	living, err := r.copyOld(t.Context(), "/p/living", []byte("living"))
	if err != nil {
		t.Fatal(err)
	}
	defer living.remove()
	dead, err := r.copyOld(t.Context(), "/p/dead", []byte("dead"))
	if err != nil {
		t.Fatal(err)
	}
	dead.file.Close() // as the end of its process does
	dead.root.Close()
	empty := filepath.Join(state, Folder, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{living.name, dead.name} {
		info, err := os.Stat(name)
		if err != nil || time.Since(info.ModTime()) > time.Minute {
			t.Fatalf("%s: %v", name, err) // both are as young
		}
	}
	Sweep(filepath.Join(state, "nothing"))
	Sweep(state)
	if _, err := os.Stat(living.name); err != nil {
		t.Errorf("what a living process shows was swept: %v", err)
	}
	if l := left(t, state); len(l) != 1 {
		t.Errorf("left: %v", l)
	}
	if b, err := os.ReadFile(living.name); err != nil || string(b) != "living" {
		t.Errorf("%q, %v", b, err)
	}
}

// A file that was taken for a dead process's before its maker came to lock it is not
// shown any more, also as long as it is still there.
func TestWhatIsSweptIsNotShown(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	e := &oldCopy{root: root}
	if e.file, err = root.Create("a"); err != nil {
		t.Fatal(err)
	}
	defer e.file.Close()
	info, err := e.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	lock := claim(root, "a", info)
	if lock == nil {
		t.Fatal("an unlocked file is not claimed")
	}
	if e.locked("a") {
		t.Error("it is shown while it is being swept")
	}
	if err := root.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if lock.Close(); e.locked("a") {
		t.Error("it is shown after it was swept")
	}
}

// A sweep takes no copy from makers that run at the same time.
func TestSweepBesideShowing(t *testing.T) {
	state := t.TempDir()
	r := showing(state)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 500 {
			Sweep(state)
		}
	}()
	for shown := 0; ; shown++ {
		e, err := r.copyOld(t.Context(), "/p/a", []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(e.name); err != nil {
			t.Fatalf("number %d: %v", shown, err)
		}
		e.remove()
		select {
		case <-stop:
			return
		default:
		}
	}
}
