package history

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/span"
)

// TestOneFileHoldsAQuarter changes one file until it has more than a quarter of the room,
// and others in between. The middle of its changes goes, and nothing else.
func TestOneFileHoldsAQuarter(t *testing.T) {
	const maxSize = 8 << 20
	dir := t.TempDir()
	settings := Settings{Required: true, MaxSize: maxSize, MaxAge: testMaxAge}
	s := openStore(t, dir, func(o *Options) { o.Settings = func() Settings { return settings } })
	state := func(i int) []byte {
		chance := rand.New(rand.NewPCG(uint64(i), 3))
		b := make([]byte, 0, 100_016)
		for len(b) < 100_000 {
			b = binary.LittleEndian.AppendUint64(b, chance.Uint64())
		}
		return fmt.Appendf(b, "state %d", i)
	}
	const edits = 60
	for i := range edits {
		keep(t, s, "/large", state(i), state(i+1))
		if i%10 == 5 {
			keep(t, s, fmt.Sprintf("/copy%d", i), nil, state(i)) // stored for the other file
		}
	}
	s.Close()
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Remove(lockName); err != nil { // else little growth since the last time would not count
		t.Fatal(err)
	}
	early := open(t, dir)                                     // sees the copies that replace its segments
	if err := evict(root, settings, time.Now()); err != nil { // all is younger than an hour
		t.Fatal(err)
	}
	for _, e := range entriesOf(t, early) {
		if e.Thinned {
			t.Errorf("%s was thinned at once", e.ID)
		}
	}
	later := time.Now().Add(2 * spared)
	if err := evict(root, settings, later); err != nil {
		t.Fatal(err)
	}
	check := func(a *Archive) (size int64) {
		t.Helper()
		entries, bad := a.Entries(nil)
		if bad != nil || len(entries) != edits+6 {
			t.Fatalf("%d entries, %v", len(entries), bad)
		}
		at := edits
		marks := ""
		for _, e := range entries {
			if e.Path != "/large" {
				if b, err := a.After(e); err != nil || !strings.HasSuffix(e.Path, strings.TrimPrefix(string(b[100_000:]), "state ")) {
					t.Errorf("%s of another file: %v", e.ID, err)
				}
				continue
			}
			before, err := a.Before(e)
			if e.Thinned {
				marks += "-"
				if err == nil || !strings.Contains(err.Error(), "a quarter of history.maxSize") {
					t.Errorf("%s is thinned: %v", e.ID, err)
				}
			} else {
				marks += "+"
				after, other := a.After(e)
				if err != nil || other != nil || !bytes.Equal(before, state(at-1)) || !bytes.Equal(after, state(at)) {
					t.Errorf("%s, change %d: %v, %v", e.ID, at, err, other)
				}
			}
			if *e.After != sumOr(nil, state(at)) {
				t.Errorf("%s has another hash", e.ID)
			}
			at--
		}
		if ends := strings.Trim(marks, "+"); ends == "" || strings.Trim(ends, "-") != "" || marks[0] != '+' || marks[len(marks)-1] != '+' {
			t.Errorf("the middle should go: %s", marks)
		}
		return folderSize(t, dir)
	}
	// Six states are those of copies, too, and two stand at the ends of the middle.
	size := check(early)
	if size > maxSize/4+8*100_016+100_000 {
		t.Errorf("%d bytes are left", size)
	}
	names, _ := filepath.Glob(filepath.Join(dir, Folder, "*"))
	if err := evict(root, settings, later); err != nil {
		t.Fatal(err)
	}
	if again, _ := filepath.Glob(filepath.Join(dir, Folder, "*")); fmt.Sprint(again) != fmt.Sprint(names) || check(open(t, dir)) != size {
		t.Errorf("it was thinned again: %v, before %v", again, names)
	}
}

// TestUnfinishedCopy: a process died while it copied a segment.
func TestUnfinishedCopy(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	keep(t, s, "/a", nil, []byte("1"))
	s.Close()
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	all, err := segments(root)
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	w, err := newWriter(root, all[0].id, func() time.Time { return time.Now().Add(time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	w.closeFiles()
	if got := left(t, dir); len(got) != 1 {
		t.Errorf("%d entries", len(got))
	}
	if err := evict(root, Settings{MaxSize: testMaxSize, MaxAge: testMaxAge}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if now, _ := segments(root); len(now) != 1 || now[0].stem != all[0].stem || len(left(t, dir)) != 1 {
		t.Errorf("%d segments are left", len(now))
	}
}

// TestStatesHaveOneBase: states above wholeState are stored as changes, and come back.
func TestStatesHaveOneBase(t *testing.T) {
	for size, edits := range map[int]int{40_000: 2*maxChanges + 10, chunkLen + 100_000: 10} {
		dir := t.TempDir()
		s := openStore(t, dir)
		old := noise(size)
		want := map[string][]version{}
		for i := range edits {
			now := bytes.Clone(old)
			copy(now[i*200:], fmt.Sprint("change ", i))
			keep(t, s, "/large", old, now)
			want["/large"] = append(want["/large"], version{"/large", old, now})
			old = now
		}
		if n := folderSize(t, dir); n > int64((1+edits/maxChanges)*size+edits*3000) {
			t.Errorf("%d bytes for %d edits of %d bytes", n, edits, size)
		}
		compare(t, open(t, dir), want)
	}
}

// TestEarlierVersion: what another version of fsmcp stored is neither read nor damage, and
// goes by its age.
func TestEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir, 2*time.Hour, 10)
	journals, _ := filepath.Glob(filepath.Join(dir, Folder, "*"+journalExt))
	const earlier = `{"n":1,"t":1795000000000000000,"path":"/a","after":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806","a":8}`
	if err := os.WriteFile(journals[0], fmt.Appendf(nil, "%08x %s\n", checkOf([]byte(earlier)), earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("%d entries", len(got))
	}
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for i, age := range []time.Duration{testMaxAge - time.Hour, testMaxAge + time.Hour} {
		if err := os.Chtimes(journals[0], time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(strings.TrimSuffix(journals[0], journalExt)+packExt, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		if err := evict(root, Settings{MaxSize: testMaxSize, MaxAge: testMaxAge}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if all, err := segments(root); err != nil || len(all) != 1-i {
			t.Errorf("after %v: %d segments, %v", age, len(all), err)
		}
	}
}

func entriesOf(t *testing.T, a *Archive) []Entry {
	t.Helper()
	entries, bad := a.Entries(nil)
	if bad != nil {
		t.Fatal(bad)
	}
	return entries
}

// TestMiddle: the oldest change stays if it has room beside the newest one, although it is
// larger than half of the room.
func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		want  string // of the times to thin
	}{
		{[]int64{10, 20, 30, 40}, ""},
		{[]int64{30, 30, 30, 20}, "[2]"},
		{[]int64{60, 50, 30, 10}, "[2]"},
		{[]int64{60, 50, 31, 10}, "[2 3]"},
		{[]int64{30, 30, 60}, "[2]"},
		{[]int64{60, 50, 41}, "[1 2]"}, // there is no room for both
		{[]int64{200}, ""},
	} {
		var list []stored
		for i, size := range c.sizes {
			list = append(list, stored{time: int64(i + 1), size: size})
		}
		var times []int64
		for _, s := range middle(list, 100) {
			times = append(times, s.time)
		}
		if got := fmt.Sprint(times); got != c.want && (c.want != "" || times != nil) {
			t.Errorf("%v: %s go, want %s", c.sizes, got, c.want)
		}
	}
}

// TestPlacesStay: a restore of an early change of a large file needs the places of the later
// ones, whatever room they take.
func TestPlacesStay(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	old := noise(40_000)
	now := old
	for i := range 8 {
		at := int64(30_000 - 4000*i)
		now = keepPlaces(t, s, now, span.Splice{Start: at, End: at + 2000, New: fmt.Appendf(nil, "change %d", i)})
	}
	s.Close()
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := evict(root, Settings{MaxSize: 20_000, MaxAge: testMaxAge}, time.Now().Add(2*spared)); err != nil {
		t.Fatal(err)
	}
	a := open(t, dir)
	entries := entriesOf(t, a)
	if len(entries) != 8 {
		t.Fatalf("%d entries", len(entries))
	}
	first, later := entries[7], entries[:7]
	slices.Reverse(later)
	splices, err := a.RestorePlaces(first, later, bytes.NewReader(now))
	if err != nil || len(splices) != 1 || !bytes.Equal(splices[0].New, old[30_000:32_000]) {
		t.Errorf("%v", err)
	}
}

// TestEarlierBuild: segments of another form are not read, and are evicted with the others.
func TestEarlierBuild(t *testing.T) {
	dir := t.TempDir()
	aged(t, dir, 3*time.Hour, 1000)
	root, err := os.OpenRoot(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	then := time.Now().Add(-4 * time.Hour)
	for _, ext := range []string{".journal", ".pack"} {
		name := then.UTC().Format(stemTime) + "-earlier1" + ext
		if err := root.WriteFile(name, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := root.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	a := open(t, dir)
	if len(entriesOf(t, a)) != 1 || !a.Earlier() {
		t.Error("the earlier form was read or overlooked")
	}
	for _, maxSize := range []int64{20_000, 5000} { // the first one is the control
		if err := evict(root, Settings{MaxSize: maxSize, MaxAge: testMaxAge}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if a := open(t, dir); a.Earlier() != (maxSize == 20_000) || len(entriesOf(t, a)) != 1 {
			t.Errorf("%d bytes: earlier %v, %d entries", maxSize, a.Earlier(), len(entriesOf(t, a)))
		}
	}
}
