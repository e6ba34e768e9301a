package history

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
)

// drawnLine draws a line with any of its members.
func drawnLine(rng *rand.Rand) line {
	coin := func() bool { return rng.IntN(2) == 0 }
	text := func() string {
		texts := []string{"", "/w/plain name", "a\"b", `a\b`, "<&>", "ä", "\x01\n\t", "\u2028", "a\xffb", "\x7f", "~"}
		return texts[rng.IntN(len(texts))]
	}
	some := func() *object {
		if coin() {
			return nil
		}
		o := &object{Thinned: rng.IntN(5) == 0}
		for range rng.IntN(3) {
			o.Chunks = append(o.Chunks, chunk{rng.Int64N(1 << 40), rng.Int64N(9), rng.Uint32()})
		}
		if rng.IntN(4) > 0 {
			o.Sum = &Sum{byte(rng.Uint32()), 31: byte(rng.Uint32())}
		}
		if rng.IntN(5) == 0 {
			o.Base = []chunk{{1, 2, 3}}
		}
		return o
	}
	l := line{
		Version: rng.IntN(4), Number: rng.IntN(3), Time: rng.Int64N(3) - 1, Session: text(), Tool: text(), Call: text(), Group: text(),
		Path: text(), To: text(), Old: some(), New: some(), Places: some(), NewDirs: rng.IntN(2), Operation: Operation(text()),
		Ino: rng.Uint64() * uint64(rng.IntN(2)), Pending: coin(), Void: rng.IntN(2),
	}
	if coin() {
		l.Raw, l.RawTo, l.Made = []byte(text()), []byte(text()), make([]int, rng.IntN(3))
	}
	if coin() {
		l.Meta = &save.Meta{Kind: fsys.Kind(rng.IntN(5)), Mode: rng.Uint32(), UID: rng.Uint32N(2), GID: rng.Uint32N(2), Mtime: rng.Int64() - 1<<62, Flags: rng.Uint32N(2)}
		if rng.IntN(3) == 0 {
			l.Meta.Attrs = map[string][]byte{text(): []byte(text())}
		}
		if rng.IntN(3) == 0 {
			l.Meta.Link = []byte(text())
		}
	}
	if coin() {
		l.Deposit, l.Copied = &deposited{text(), 1, 2}, &deposited{text(), 0, -1}
	}
	return l
}

// A line is written as encoding/json writes it, whatever members it has.
func TestLineAsTheJSONPackageWritesIt(t *testing.T) {
	for seed := range uint64(3000) {
		l := drawnLine(rand.New(rand.NewPCG(seed, 1)))
		want, err := json.Marshal(l)
		got, failed := l.appendJSON([]byte("before "))
		if err != nil || failed != nil || string(got) != "before "+string(want) {
			t.Fatalf("seed %d: %v %v\nwritten %s\nwanted  %s", seed, err, failed, got, want)
		}
	}
}

// The test above draws each member: one that is added to line has to be added there and to
// appendJSON.
func TestDrawnLineHasEachMember(t *testing.T) {
	drawn := make(map[string]bool)
	for seed := range uint64(200) {
		l := reflect.ValueOf(drawnLine(rand.New(rand.NewPCG(seed, 1))))
		for i := range l.NumField() {
			if !l.Field(i).IsZero() {
				drawn[l.Type().Field(i).Name] = true
			}
		}
	}
	for i := range reflect.TypeFor[line]().NumField() {
		if name := reflect.TypeFor[line]().Field(i).Name; !drawn[name] {
			t.Errorf("%s was never drawn", name)
		}
	}
}
