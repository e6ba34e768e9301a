package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

// padded is a file that says that it is above WholeLimit and is not: only its
// first bytes are looked at.
const padded = WholeLimit + 1

// keepPlaces notes a change of a large file and gives its new bytes.
func keepPlaces(t *testing.T, s *Store, old []byte, splices ...span.Splice) []byte {
	t.Helper()
	m, err := s.Keep(context.Background(), PendingChange{Names: []string{"/big"}, Old: bytes.NewReader(old), Size: padded, Splices: splices})
	if err != nil {
		t.Fatal(err)
	}
	m.Done()
	return span.Apply(old, splices)
}

// A place has changed when the bytes before or behind it are gone, at the ends of the file too.
func TestPlaceBesideRemovedBytes(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	first := keepPlaces(t, s, make([]byte, 100), span.Splice{Start: 10, End: 12, New: []byte("x")})
	second := keepPlaces(t, s, first, span.Splice{End: 9})
	a := open(t, dir)
	entries, bad := a.Entries(nil)
	if bad != nil || len(entries) != 2 {
		t.Fatal(len(entries), bad)
	}
	_, before := a.RestorePlaces(entries[1], entries[:1], bytes.NewReader(second))
	_, behind := a.RestorePlaces(entries[1], nil, bytes.NewReader(first[:12]))
	for _, err := range []error{before, behind} {
		if no := (*ConflictError)(nil); !errors.As(err, &no) {
			t.Error(err)
		}
	}
}

// TestPlacesComeBack takes back the last and middle changes of a large file at
// random places, and compares with the file that never had them.
func TestPlacesComeBack(t *testing.T) {
	rng := seeded(t, 5)
	back, conflicts := 0, 0
	for range 150 {
		dir := t.TempDir()
		s := openStore(t, dir)
		var all [][]span.Splice
		old := noise(40_000)
		files := [][]byte{old}
		for range 1 + rng.IntN(4) {
			var splices []span.Splice
			at := 0
			for range 1 + rng.IntN(3) {
				at += rng.IntN(len(old) / 4)
				end := min(len(old), at+rng.IntN(300))
				splices = append(splices, span.Splice{Start: int64(at), End: int64(end), New: []byte(fmt.Sprint(rng.Uint64()))[:rng.IntN(9)]})
				at = end + 1
				if at >= len(old) {
					break
				}
			}
			all = append(all, splices)
			old = keepPlaces(t, s, old, splices...)
			files = append(files, old)
		}
		a := open(t, dir)
		entries, bad := a.Entries(nil)
		if bad != nil || len(entries) != len(all) {
			t.Fatal(len(entries), bad)
		}
		k := rng.IntN(len(all))
		e := entries[len(all)-1-k]
		var later []Entry
		for i := k + 1; i < len(all); i++ {
			later = append(later, entries[len(all)-1-i])
		}
		splices, err := a.RestorePlaces(e, later, bytes.NewReader(old))
		no := (*ConflictError)(nil)
		if errors.As(err, &no) {
			conflicts++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := span.Apply(old, splices)
		if k == len(all)-1 && !bytes.Equal(got, files[k]) {
			t.Fatal("the last change was taken back to something else")
		}
		// Made again, it gives the file as it is: nothing else was touched.
		if len(got)-len(old) != len(files[k])-len(files[k+1]) {
			t.Fatal("another length than that of the change")
		}
		for i, p := range splices {
			if !bytes.Contains(files[k], append(bytes.Clone(got[max(0, int(p.Start)-8):p.Start]), p.New...)) && i == 0 {
				t.Fatal("the old bytes are not back in their place")
			}
		}
		back++
	}
	if back < 60 || conflicts == 0 {
		t.Errorf("%d taken back, %d conflicts: that shows too little", back, conflicts)
	}
}

// TestPlacesChangedSince: what another program did there is seen by its bytes.
func TestPlacesChangedSince(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	old := noise(1000)
	now := keepPlaces(t, s, old, span.Splice{Start: 500, End: 510, New: []byte("new")})
	a := open(t, dir)
	entries, _ := a.Entries(nil)
	e := entries[0]
	if !e.Partial() || e.Before != nil || e.After != nil {
		t.Errorf("%+v", e)
	}
	if _, err := a.Before(e); !errors.Is(err, ErrPlacesOnly) {
		t.Errorf("before: %v", err)
	}
	grown := append(bytes.Clone(now), "a growing log\n"...)
	if splices, err := a.RestorePlaces(e, nil, bytes.NewReader(grown)); err != nil || !bytes.Equal(span.Apply(grown, splices)[:1000], old) {
		t.Errorf("of a grown file: %v", err)
	}
	for _, at := range []int{500, 502, 499, 504} {
		other := bytes.Clone(now)
		other[at]++
		if _, err := a.RestorePlaces(e, nil, bytes.NewReader(other)); err == nil {
			t.Errorf("a change at %d was not seen", at)
		}
	}
	if _, err := a.RestorePlaces(e, nil, bytes.NewReader(now[:501])); err == nil {
		t.Error("a shorter file was not seen")
	}
	parts, err := a.Parts(e)
	if err != nil || len(parts) != 1 || !bytes.Equal(parts[0].Before, old[436:574]) || !bytes.Contains(parts[0].After, []byte("new")) {
		t.Errorf("parts: %v, %v", parts, err)
	}
}

// TestTooMuchIsNotKept: more than all the room there is, is an error and not a
// silence.
func TestTooMuchIsNotKept(t *testing.T) {
	s := openStore(t, t.TempDir(), func(o *Options) {
		o.Settings = func() Settings { return Settings{Required: true, MaxSize: 1000, MaxAge: testMaxAge} }
	})
	_, err := s.Keep(context.Background(), PendingChange{Names: []string{"/big"}, Old: io.NewSectionReader(nil, 0, 0), Size: padded, Splices: []span.Splice{{End: 2000}}})
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}
