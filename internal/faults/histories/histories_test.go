package histories

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const long = time.Minute

// at returns a step with its interval.
func at(begin, end int64, op Op) Op {
	op.Begin, op.End = begin, end
	if op.Name == "" {
		op.Name = "f"
	}
	return op
}

// The steps of tests. Lines are letters.
func text(lines string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(string(l) + "\n")
	}
	return b.String()
}

func read(session int, lines string) Op { return Op{Kind: Read, Session: session, Text: text(lines)} }
func edit(session int, old, now string) Op {
	return Op{Kind: Edit, Session: session, Old: text(old), Text: text(now)}
}
func write(session int, lines string) Op {
	return Op{Kind: Write, Session: session, Text: text(lines)}
}
func foreign(k Kind, lines string) Op { return Op{Kind: k, Session: Outside, Text: text(lines)} }
func ended(op Op, r Result, why string) Op {
	op.Result, op.Why = r, why
	return op
}

// unread is an Edit that is refused and shows all lines of the file.
func unread(lines string) Op {
	op := ended(edit(0, "b", "c"), Refused, "not_read")
	for i, l := range linesOf(text(lines)) {
		op.Rows = append(op.Rows, Row{i + 1, l})
	}
	return op
}

// TestLegalAndIllegal has histories of file f, which holds "ab" at first.
func TestLegalAndIllegal(t *testing.T) {
	end := func(lines string) Op { return at(1000, 1001, read(Outside, lines)) }
	kept := func(lines string) Op {
		return at(1000, 1001, Op{Kind: Kept, Session: Outside, Shown: linesOf(text(lines))})
	}
	gone := at(1000, 1001, ended(read(Outside, ""), Refused, "not_found"))
	for _, c := range []struct {
		name  string
		legal bool
		ops   []Op
	}{
		{"edit", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), end("acb")}},
		{"edit lost", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), end("ab")}},
		{"edit made twice", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), end("accb")}},
		{"edits at once", true, []Op{at(1, 2, read(0, "ab")), at(1, 2, read(1, "ab")), at(3, 6, edit(0, "b", "cb")), at(4, 5, edit(1, "b", "db")), end("acdb")}},
		{"edits at once, one lost", false, []Op{at(1, 2, read(0, "ab")), at(1, 2, read(1, "ab")), at(3, 6, edit(0, "b", "cb")), at(4, 5, edit(1, "b", "db")), end("acb")}},
		{"edits in the wrong order", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, edit(0, "b", "db")), end("adcb")}},
		{"edit of an unseen line", false, []Op{at(1, 2, edit(0, "b", "c")), end("ac")}},
		{"edit after a refusal that showed the line", true, []Op{at(1, 2, Op{Kind: Edit, Result: Refused, Why: "not_read", Old: text("b"), Text: text("c"), Rows: []Row{{2, "b"}}}), at(3, 4, edit(0, "b", "c")), end("ac")}},
		{"refusal shows another line", false, []Op{at(1, 2, Op{Kind: Edit, Result: Refused, Why: "not_read", Old: text("b"), Text: text("c"), Rows: []Row{{1, "b"}}}), end("ab")}},
		{"stale read", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "c")), at(5, 6, read(1, "ab")), end("ac")}},
		{"old text read while the edit runs", true, []Op{at(1, 2, read(0, "ab")), at(3, 6, edit(0, "b", "c")), at(4, 5, read(1, "ab")), end("ac")}},
		{"new text, then old text", false, []Op{at(1, 2, read(0, "ab")), at(3, 10, edit(0, "b", "c")), at(4, 5, read(1, "ac")), at(6, 7, read(1, "ab")), end("ac")}},
		{"torn read", false, []Op{at(1, 2, read(0, "ab")), at(3, 6, write(0, "cd")), at(4, 5, read(1, "ad")), end("cd")}},
		{"refused and yet made", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, ended(edit(0, "b", "c"), Refused, "modified")), end("ac")}},
		{"not found, and it is there", false, []Op{at(1, 2, ended(read(0, ""), Refused, "not_found")), end("ab")}},
		{"no match, and there is one", false, []Op{at(1, 2, ended(edit(0, "b", "c"), Refused, "no_match")), end("ab")}},

		{"write over what was read", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, write(0, "c")), end("c")}},
		{"write over an unseen line", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, foreign(Append, "x")), at(5, 6, write(0, "c")), end("c")}},
		{"write over another session's line", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, read(1, "ab")), at(5, 6, edit(1, "b", "cb")), at(7, 8, write(0, "d")), end("d")}},
		{"write over an own line", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, write(0, "d")), end("d")}},
		{"append of a caller needs no read", true, []Op{at(1, 2, Op{Kind: Append, Text: text("c")}), end("abc")}},
		{"wrong hash", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, Op{Kind: Edit, Old: text("b"), Text: text("c"), Hash: strings.Repeat("0", 64)}), end("ac")}},

		{"another program's line lost", false, []Op{at(1, 2, read(0, "ab")), at(3, 6, edit(0, "b", "cb")), at(3, 4, foreign(Open, "")), at(5, 6, foreign(Extend, "x")), at(7, 8, foreign(Close, "")), end("acb")}},
		{"another program's line stays", true, []Op{at(1, 2, read(0, "ab")), at(3, 6, edit(0, "b", "cb")), at(3, 4, foreign(Open, "")), at(5, 6, foreign(Extend, "x")), at(7, 8, foreign(Close, "")), end("acbx")}},
		{"another program replaces an edit", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, foreign(Replace, "x")), end("x")}},
		{"an edit replaces another program's file", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, foreign(Replace, "xb")), at(5, 6, edit(0, "b", "cb")), end("acb")}},
		{"rewrite in place", true, []Op{at(1, 2, foreign(Open, "")), at(1, 2, foreign(Overwrite, "")), at(3, 4, read(0, "")), at(5, 6, foreign(Overwrite, "xy")), at(7, 8, foreign(Close, "")), end("xy")}},

		{"shows and is taken back", true, []Op{at(1, 2, read(0, "ab")), at(3, 10, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, read(Outside, "ac")), at(6, 7, read(Outside, "ab")), end("ab")}},
		{"shows, taken back, and shows again", false, []Op{at(1, 2, read(0, "ab")), at(3, 20, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, read(Outside, "ac")), at(6, 7, read(Outside, "ab")), at(8, 9, read(Outside, "ac")), end("ab")}},
		{"shows, and was never taken back", false, []Op{at(1, 2, read(0, "ab")), at(3, 10, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, read(Outside, "ac")), end("ac")}},
		{"line put into a change that is taken back", true, []Op{at(1, 2, read(0, "ab")), at(3, 20, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, read(Outside, "ac")), at(6, 7, foreign(Append, "x")), at(8, 9, read(Outside, "acx")), end("ab"), kept("x")}},
		{"the same, not kept", false, []Op{at(1, 2, read(0, "ab")), at(3, 20, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, read(Outside, "ac")), at(6, 7, foreign(Append, "x")), at(8, 9, read(Outside, "acx")), end("ab"), kept("")}},
		{"a change on what another program replaced shows for a moment", true, []Op{at(1, 2, read(0, "ab")), at(3, 20, ended(edit(0, "b", "c"), Refused, "modified")), at(4, 5, foreign(Replace, "x")), at(6, 7, read(Outside, "x")), at(8, 9, read(Outside, "ac")), end("x")}},

		{"a crash, made", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, ended(edit(0, "b", "c"), Unknown, "")), end("ac")}},
		{"a crash, not made", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, ended(edit(0, "b", "c"), Unknown, "")), end("ab")}},
		{"a crash, made later", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, ended(edit(0, "b", "c"), Unknown, "")), at(5, 6, read(Outside, "ab")), end("ac")}},
		{"a crash, half made", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, ended(write(0, "cd"), Unknown, "")), end("cb")}},
		{"a crash, and another program's line in the old file", true, []Op{at(1, 2, read(0, "ab")), at(3, 10, ended(edit(0, "b", "c"), Unknown, "")), at(4, 5, foreign(Open, "")), at(6, 7, foreign(Extend, "x")), at(8, 9, foreign(Close, "")), end("ac"), kept("x")}},
		{"the same, not kept", false, []Op{at(1, 2, read(0, "ab")), at(3, 10, ended(edit(0, "b", "c"), Unknown, "")), at(4, 5, foreign(Open, "")), at(6, 7, foreign(Extend, "x")), at(8, 9, foreign(Close, "")), end("ac"), kept("")}},

		{"no match in a file that is moved and emptied meanwhile", true, []Op{at(1, 2, read(0, "ab")), at(3, 20, ended(edit(0, "b", "c"), Refused, "no_match")), at(4, 5, Op{Kind: Move, Session: 1, To: "g"}), at(6, 7, Op{Kind: Replace, Session: Outside, Name: "g"}), gone}},
		{"a refusal shows a file that is moved and changed meanwhile", true, []Op{at(1, 2, foreign(Open, "")), at(3, 20, unread("abx")), at(4, 5, Op{Kind: Move, Session: 1, To: "g"}), at(6, 7, foreign(Extend, "x")), gone}},
		{"a refusal shows a file that was moved before", false, []Op{at(1, 2, foreign(Open, "")), at(3, 4, Op{Kind: Move, Session: 1, To: "g"}), at(5, 6, foreign(Extend, "x")), at(7, 20, unread("abx")), gone}},
		{"a refusal shows a file that is moved meanwhile, and what never was in it", false, []Op{at(1, 2, foreign(Open, "")), at(3, 20, unread("aby")), at(4, 5, Op{Kind: Move, Session: 1, To: "g"}), at(6, 7, foreign(Extend, "x")), gone}},
		{"a read of a file that is moved and changed meanwhile", true, []Op{at(1, 2, foreign(Open, "")), at(3, 20, read(0, "abx")), at(4, 5, Op{Kind: Move, Session: 1, To: "g"}), at(6, 7, foreign(Extend, "x")), gone}},
		{"a read of a file that is deleted and changed meanwhile", true, []Op{at(1, 2, foreign(Open, "")), at(3, 20, read(0, "abx")), at(4, 5, Op{Kind: Delete, Session: 1}), at(6, 7, foreign(Extend, "x")), gone}},
		{"a read of a file that was deleted before", false, []Op{at(1, 2, foreign(Open, "")), at(3, 4, Op{Kind: Delete, Session: 1}), at(5, 6, foreign(Extend, "x")), at(7, 20, read(0, "abx")), gone}},
		{"delete", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, Op{Kind: Delete}), gone}},
		{"delete of what was never shown", true, []Op{at(3, 4, Op{Kind: Delete}), gone}},
		{"delete of what changed since it was shown", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, foreign(Append, "x")), at(5, 6, Op{Kind: Delete}), gone}},
		{"delete, and it is there", false, []Op{at(3, 4, Op{Kind: Delete}), end("ab")}},
		{"delete while another program writes", false, []Op{at(1, 2, foreign(Open, "")), at(3, 4, Op{Kind: Delete}), at(5, 6, foreign(Extend, "x")), gone, kept("")}},
		{"a refusal shows what the session deleted", true, []Op{at(1, 2, Op{Kind: Delete}), at(3, 4, Op{Kind: Write, Result: Refused, Why: "deleted", Text: text("c"), Rows: []Row{{1, "a"}, {2, "b"}}}), gone}},
		{"a refusal shows what was never there", false, []Op{at(1, 2, Op{Kind: Delete}), at(3, 4, Op{Kind: Write, Result: Refused, Why: "deleted", Text: text("c"), Rows: []Row{{1, "x"}}}), gone}},
		{"delete of what came after the session was told that there is none", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, foreign(Remove, "")), at(5, 6, ended(read(0, ""), Refused, "not_found")), at(7, 8, foreign(Append, "x")), at(9, 10, Op{Kind: Delete}), gone}},
		{"delete of an unshown file that was moved to a name that was shown", true, []Op{at(1, 2, Op{Kind: Write, Session: 1, Name: "g", Text: text("m")}), at(3, 4, Op{Kind: Read, Name: "g", Text: text("m")}), at(5, 6, Op{Kind: Delete, Session: 1, Name: "g"}), at(7, 8, Op{Kind: Move, To: "g"}), at(9, 10, Op{Kind: Delete, Name: "g"}), gone}},
		{"move", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, Op{Kind: Move, To: "g"}), gone, at(1000, 1001, Op{Kind: Read, Session: Outside, Name: "g", Text: text("ab")})}},
		{"an open file moves along", true, []Op{at(1, 2, foreign(Open, "")), at(3, 4, Op{Kind: Move, To: "g"}), at(5, 6, foreign(Extend, "x")), gone, at(1000, 1001, Op{Kind: Read, Session: Outside, Name: "g", Text: text("abx")})}},
		{"moved for a moment, and another program removes the new name", true, []Op{at(1, 20, ended(Op{Kind: Move, To: "g"}, Refused, "not_found")), at(2, 3, ended(read(Outside, ""), Refused, "not_found")), at(4, 5, Op{Kind: Remove, Session: Outside, Name: "g"}), gone}},
		{"a refused move loses the file", false, []Op{at(1, 20, ended(Op{Kind: Move, To: "g"}, Refused, "not_found")), gone}},
		{"moved, and both names are there", false, []Op{at(3, 4, Op{Kind: Move, To: "g"}), end("ab")}},
		{"moved over a file", false, []Op{at(1, 2, Op{Kind: Write, Name: "g", Text: text("c")}), at(3, 4, Op{Kind: Move, To: "g"}), gone}},
		{"restore of an edit leaves later changes", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, foreign(Append, "x")), at(7, 8, Op{Kind: Restore, Session: Outside, Old: text("c")}), end("abx")}},
		{"restore loses a later change", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, foreign(Append, "x")), at(7, 8, Op{Kind: Restore, Session: Outside, Old: text("c")}), end("ab")}},
		{"restore of an edit that is not in the file any more", true, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(5, 6, write(0, "x")), at(7, 8, ended(Op{Kind: Restore, Session: Outside, Old: text("c")}, Refused, "not_in_it")), end("x")}},
		{"a restore that says so while it is in the file", false, []Op{at(1, 2, read(0, "ab")), at(3, 4, edit(0, "b", "cb")), at(7, 8, ended(Op{Kind: Restore, Session: Outside, Old: text("c")}, Refused, "not_in_it")), end("acb")}},
		{"restore of a delete", true, []Op{at(1, 2, Op{Kind: Delete}), at(3, 4, Op{Kind: Recreate, Session: Outside, Text: text("ab")}), end("ab")}},
		{"a hook's line comes after the edit", false, []Op{at(1, 2, read(0, "ab")), at(3, 10, edit(0, "b", "c")), {Kind: Append, Session: Outside, Name: "f", Text: text("x"), Begin: 3, End: 10, After: 2}, at(4, 5, read(1, "abx")), end("acx")}},
		{"a hook's line goes into a file that another program replaces", true, []Op{at(1, 2, read(0, "ab")), at(3, 10, edit(0, "b", "c")), {Kind: Append, Session: Outside, Name: "f", Text: text("x"), Begin: 3, End: 10, After: 2}, at(5, 6, foreign(Replace, "y")), end("y")}},
		{"a hook makes a file that another program removed", true, []Op{at(1, 2, read(0, "ab")), at(3, 20, edit(0, "b", "c")), at(4, 5, foreign(Remove, "")), {Kind: Touch, Session: Outside, Name: "f", Begin: 3, End: 20, After: 2}, {Kind: Append, Session: Outside, Name: "f", Text: text("x"), Begin: 3, End: 20, After: 4}, at(6, 7, read(Outside, "")), end("x")}},
		{"a hook's line is lost before another program replaces the file", false, []Op{at(1, 2, read(0, "ab")), at(3, 6, edit(0, "b", "c")), {Kind: Append, Session: Outside, Name: "f", Text: text("x"), Begin: 3, End: 6, After: 2}, at(7, 8, read(Outside, "ac")), at(9, 10, foreign(Replace, "y")), end("y")}},
		{"a hook's line is in the answer", true, []Op{at(1, 2, read(0, "ab")), at(3, 10, edit(0, "b", "c")), {Kind: Append, Session: Outside, Name: "f", Text: text("x"), Begin: 3, End: 10, After: 2},
			{Kind: Look, Session: Outside, Name: "f", Begin: 3, End: 10, After: 3}, end("acx")}},
	} {
		if i := slices.IndexFunc(c.ops, func(op Op) bool { return op.Kind == Look }); i >= 0 {
			c.ops[i].Hash = (&model{hashes: map[string]string{}}).hash(text("acx"))
		}
		h := History{Start: map[string]string{"f": text("ab")}, Ops: c.ops}
		v, err := Check(h, long)
		if err != nil || v.Undecided {
			t.Errorf("%s: %v, undecided: %v", c.name, err, v.Undecided)
		}
		if v.Legal != c.legal {
			t.Errorf("%s: legal: %v\n%s", c.name, v.Legal, h.Timeline(v))
		}
		if !c.legal && !v.Legal {
			s := Shrink(h, long)
			if v, _ := Check(s, long); v.Legal || len(s.Ops) > len(h.Ops) {
				t.Errorf("%s: shrunk to a legal history:\n%s", c.name, s.Timeline(v))
			}
		}
	}
}

// TestShrinkAndTimeline buries a lost edit among other steps.
func TestShrinkAndTimeline(t *testing.T) {
	h := History{Start: map[string]string{"f": text("ab"), "g": text("m")}}
	h.Ops = []Op{at(1, 2, read(0, "ab")), at(3, 4, read(1, "ab")), at(5, 8, edit(0, "b", "cb")), at(6, 9, edit(1, "b", "db"))}
	for n := int64(0); n < 5; n++ {
		l := string(rune('p' + n))
		h.Ops = append(h.Ops, at(20+10*n, 23+10*n, Op{Kind: Append, Session: Outside, Name: "g", Text: text(l)}),
			at(21+10*n, 25+10*n, Op{Kind: Read, Session: 1, Name: "g", Text: text("mpqrst"[:n+2])}))
	}
	h.Ops = append(h.Ops, at(90, 91, read(Outside, "acb")), at(90, 92, Op{Kind: Read, Session: Outside, Name: "g", Text: text("mpqrst")}))
	s := Shrink(h, long)
	v, err := Check(s, long)
	if err != nil || v.Legal {
		t.Fatalf("shrunk to a legal history: %v", err)
	}
	got := s.Timeline(v)
	want := "f is [b]\n" +
		"  1 ==.. session 1: Edit f [b] -> [d b]\n" +
		"  - ..== another program: Read f [b]\n"
	if got != want {
		t.Errorf("the timeline is\n%s\nnot\n%s", got, want)
	}
}

// TestTooMuch refuses what the model cannot hold.
func TestTooMuch(t *testing.T) {
	if _, err := Check(History{Ops: []Op{{Session: maxSessions}}}, long); err == nil {
		t.Error("a session too many passed")
	}
}
