package toolcall

import (
	"strings"
	"testing"
)

// What is added to an answer has room only up to what the client passes on, of an error as of
// any answer; an answer beyond that is not passed on.
func TestRoomEndsWhereAClientCuts(t *testing.T) {
	for name, limits := range map[string]ClientLimits{
		"characters": {Chars: 9_000}, "characters of an error": {Chars: 200_000, Errors: 9_000}, "an answer": {Answer: 9_000},
	} {
		r := &Result{IsError: true, Blocks: []Block{{Text: strings.Repeat("x", 5_000)}}}
		room := limits.Room(r)
		if room <= 0 || room > 4_000 || !limits.Passes(r) {
			t.Errorf("%s: room for %d bytes, passes: %v", name, room, limits.Passes(r))
		}
		r.Blocks = append(r.Blocks, Block{Text: strings.Repeat("x", room)})
		if !limits.Passes(r) {
			t.Errorf("%s: what has room is not passed on", name)
		}
		r.Blocks = append(r.Blocks, Block{Text: strings.Repeat("x", 4_001)})
		if limits.Passes(r) {
			t.Errorf("%s: an answer of %d bytes is passed on", name, 9_001+room)
		}
	}
	if limits := (ClientLimits{Chars: 200_000, Errors: 9_000}); limits.Room(&Result{Blocks: []Block{{Text: "x"}}}) < 100_000 {
		t.Error("the limit of errors holds for other answers")
	}
}
