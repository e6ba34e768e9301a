package crashstates

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

var root = ID{0, 1}

func name(n string) Name { return Name{root, n} }

// twoFiles is a folder with the files a and b.
func twoFiles() World {
	return World{
		root:   {Mode: fs.ModeDir | 0o755, Names: map[string]ID{"a": {0, 2}, "b": {0, 3}}},
		{0, 2}: {Mode: 0o644, Data: []byte("old a")},
		{0, 3}: {Mode: 0o644, Data: []byte("old b")},
	}
}

// replaceA writes new bytes to a temporary file and gives it the name a.
func replaceA() Log {
	return Log{
		{Kind: Create, Ino: ID{0, 4}, At: name("t"), Mode: 0o600, Call: "create t"},
		{Kind: Write, Ino: ID{0, 4}, Data: []byte("new a"), Call: "write t"},
		{Kind: Rename, At: name("t"), To: name("a"), Call: "rename t a"},
	}
}

// sync appends a sync of all that is in the log.
func (l Log) sync(id ID) Log { return append(l, Op{Kind: Sync, Ino: id, Before: len(l), Call: "sync"}) }

// spelled lists all states, each as its files and their bytes.
func spelled(l Log, start World, m Model) (all []string) {
	l.States(start, m, Default, func(s State) bool {
		text := ""
		for _, n := range slices.Sorted(func(yield func(string) bool) {
			for n := range s.World[root].Names {
				if !yield(n) {
					return
				}
			}
		}) {
			text += fmt.Sprintf("%s=%s ", n, s.World[s.World[root].Names[n]].Data)
		}
		if s.Answered > 0 {
			text += "answered"
		}
		all = append(all, strings.TrimSpace(text))
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// TestTextbookStates compares the models with what is known of the file systems.
func TestTextbookStates(t *testing.T) {
	renameB := append(replaceA().sync(ID{0, 4}), Op{Kind: Rename, At: name("b"), To: name("c"), Call: "rename b c"})
	first := Log{{Kind: Rename, At: name("b"), To: name("c"), Call: "rename b c"}}
	first = append(first, replaceA()...)
	overwrite := Log{{Kind: Write, Ino: ID{0, 2}, Data: []byte("NEW"), Call: "write a"}, {Kind: Truncate, Ino: ID{0, 2}, Size: 3, Call: "truncate a"}}
	for _, c := range []struct {
		what  string
		log   Log
		model Model
		state string
		may   bool
	}{
		{"a rename without a sync leaves an empty file", replaceA(), Ordered, "a= b=old b", true},
		{"it leaves an empty file", replaceA(), Btrfs, "a= b=old b", true},
		{"it leaves stale bytes", replaceA(), Writeback, "a=\xdb\xdb\xdb\xdb\xdb b=old b", true},
		{"no stale bytes where data comes first", replaceA(), Ordered, "a=\xdb\xdb\xdb\xdb\xdb b=old b", false},
		{"zeros", replaceA(), Weakest, "a=\x00\x00\x00\x00\x00 b=old b", true},
		{"the sync of the file before the rename mends it", replaceA()[:2].sync(ID{0, 4}).with(replaceA()[2]), Weakest, "a= b=old b", false},
		{"it does not make the rename last", replaceA()[:2].sync(ID{0, 4}).with(replaceA()[2], Op{Kind: Answer}), Ordered, "a=old a b=old b t=new a answered", true},
		{"the sync of the folder does", replaceA()[:2].sync(ID{0, 4}).with(replaceA()[2]).sync(root).with(Op{Kind: Answer}), Weakest, "a=old a b=old b t=new a answered", false},
		{"a sync of the file brings its name along in a journal", replaceA().sync(ID{0, 4}).with(Op{Kind: Answer}), Btrfs, "a=old a b=old b answered", false},
		{"POSIX does not say so", replaceA().sync(ID{0, 4}).with(Op{Kind: Answer}), Weakest, "a=old a b=old b answered", true},
		{"and earlier names", first.sync(ID{0, 4}).with(Op{Kind: Answer}), Ordered, "a=new a b=old b answered", false},
		{"but not on btrfs", first.sync(ID{0, 4}).with(Op{Kind: Answer}), Btrfs, "a=new a b=old b answered", true},
		{"names last in their order", first, Ordered, "a=new a b=old b", false},
		{"POSIX has none", first, Weakest, "a=new a b=old b", true},
		{"a later name is not covered", renameB.with(Op{Kind: Answer}), Ordered, "a=new a b=old b answered", true},
		{"a file that is cut before its sector is written", overwrite, Ordered, "a=old b=old b", true},
		{"and the other way round", overwrite, Ordered, "a=NEW a b=old b", true},
	} {
		all := spelled(c.log, twoFiles(), c.model)
		if slices.Contains(all, c.state) != c.may {
			t.Errorf("%s (%s): %q: %v\nin %q", c.what, c.model.Name, c.state, !c.may, all)
		}
	}
}

func (l Log) with(more ...Op) Log { return append(slices.Clone(l), more...) }

// TestEveryStateOfWeakest compares the enumeration with all subsets, tried one by one: within the
// bounds nothing is left out.
func TestEveryStateOfWeakest(t *testing.T) {
	l := replaceA().sync(ID{0, 4}).with(Op{Kind: Link, Ino: ID{0, 3}, At: name("l")}, Op{Kind: Remove, At: name("b")})
	for _, m := range Models {
		plain := make(map[[32]byte]bool)
		effects, _ := l.effects(twoFiles())
		e := &enumeration{log: l, model: m, effects: effects}
		e.relate()
		for calls := range len(l) + 1 {
			synced := set{}
			if calls > 3 {
				synced = e.covered(l[3])
			}
		subsets:
			for subset := range 1 << len(effects) {
				w, s := l.made(twoFiles()), set{uint64(subset)}
				for i, a := range effects {
					missing := !s.has(i) && synced.has(i)
					if missing || s.has(i) && (a.op >= calls || !synced.has(i) && !e.needs[i].within(s)) {
						continue subsets
					}
				}
				for i, a := range effects {
					if s.has(i) {
						a.do(w)
					}
				}
				w.settle(m.stale)
				plain[w.Sum()] = true
			}
		}
		l.States(twoFiles(), m, Default, func(s State) bool {
			if !plain[s.Sum] {
				t.Errorf("%s: a state that it does not allow: lost are %q", m.Name, s.Lost)
			}
			delete(plain, s.Sum)
			return true
		})
		if len(plain) > 0 {
			t.Errorf("%s: %d states are left out", m.Name, len(plain))
		}
	}
}
