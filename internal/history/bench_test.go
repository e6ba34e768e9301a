package history

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

// BenchmarkKeep measures the added cost for an edit of a file of 20 KB: in the course
// of a session, after another program's change, and the first time.
func BenchmarkKeep(b *testing.B) {
	lines := make([]string, 500)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tx%d := compute(%d) // and so on\n", i*i*7919%1000, i*104729)
	}
	old := text(lines)
	for _, mode := range []string{"next", "foreign", "first"} {
		b.Run(mode, func(b *testing.B) {
			s := openStore(b, b.TempDir())
			i := 0
			var was *Sum
			now := bytes.Clone(old)
			for b.Loop() {
				i++
				path := "/w/a.go"
				switch mode {
				case "first":
					path = fmt.Sprintf("/w/%d.go", i)
					copy(now, fmt.Sprintf("%08d", i))
					was = nil
				case "foreign":
					copy(now[100:], fmt.Sprintf("%08d", i))
					was = nil
				}
				put := fmt.Appendf(nil, "%08d", i)
				c := PendingChange{Names: []string{path}, Session: "abc", Tool: "Edit", Call: "12", Old: bytes.NewReader(now), Size: int64(len(now)), From: now, Was: was,
					Splices: []span.Splice{{Start: 5000, End: 5008, New: put}}}
				next := bytes.Clone(now)
				copy(next[5000:], put)
				sum := sumOr(nil, next) // an edit has it anyway
				c.Is = &sum
				m, err := s.Keep(context.Background(), c)
				if err != nil {
					b.Fatal(err)
				}
				m.Done()
				now, was = next, &sum
			}
		})
	}
}
