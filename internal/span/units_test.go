package span

import (
	"bytes"
	"testing"
)

// Characters whose bytes look like those of a line feed are not one.
func TestUnitsFindWholeCharacters(t *testing.T) {
	for u, b := range map[Units][]byte{
		Narrow:     []byte("a\nb\n"),
		WideLittle: []byte("\n\n\n\x00a\x00\x00\n\n\x00"),
		WideBig:    []byte("\n\n\x00\n\x00a\n\x00\x00\n"),
	} {
		var got []int
		for i := u.Index(b, '\n', 0); i >= 0; i = u.Index(b, '\n', i+u.Size()) {
			if !u.Has(b, i, '\n') || !bytes.HasPrefix(b[i:], lineFeed(u)) {
				t.Errorf("units %d: none at %d", u, i)
			}
			got = append(got, i)
		}
		want := []int{u.Size(), len(b) - u.Size()}
		if len(got) != 2 || got[0] != want[0] || got[1] != want[1] || u.Count(b, '\n') != 2 {
			t.Errorf("units %d: %v and %d, want %v", u, got, u.Count(b, '\n'), want)
		}
		if u.Has(b, len(b), '\n') || u.Has(b, -1, '\n') {
			t.Errorf("units %d: one outside", u)
		}
	}
}

// lineFeed is a line feed in units.
func lineFeed(u Units) []byte {
	return map[Units][]byte{Narrow: {'\n'}, WideLittle: {'\n', 0}, WideBig: {0, '\n'}}[u]
}
