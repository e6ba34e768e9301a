package tools

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// A text in pieces reads as the same text in one piece.
func TestPiecesReadAsOneText(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 7))
	for range 200 {
		var p pieces
		var whole strings.Builder
		for range r.IntN(6) {
			piece := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(4))
			p.add(piece)
			whole.WriteString(piece)
		}
		plain := strings.NewReader(whole.String())
		if p.size() != plain.Size() {
			t.Fatalf("%q has %d bytes", whole.String(), p.size())
		}
		for at := range whole.Len() + 2 {
			for room := range whole.Len() + 2 {
				got, want := make([]byte, room), make([]byte, room)
				n, err := p.ReadAt(got, int64(at))
				m, wantErr := plain.ReadAt(want, int64(at))
				// The end may be told with the last bytes or after them: io.ReaderAt leaves that open.
				if n != m || string(got) != string(want) || n < room && (err != io.EOF || wantErr != io.EOF) || n == room && err != nil {
					t.Fatalf("%q from %d: %d %v %q, want %d %v %q", whole.String(), at, n, err, got, m, wantErr, want)
				}
			}
		}
	}
}
