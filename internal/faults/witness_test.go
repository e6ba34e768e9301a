//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/faults/histories"
	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// witness makes one history in a folder of its own, and writes down what each caller, each other
// program and each observer did and saw.
type witness struct {
	t     *testing.T
	rng   *rand.Rand // of the plan; each actor has one of its own
	dir   string
	names []string
	hooks string // the log of hooks; "" if none run
	clock atomic.Int64
	line  atomic.Int64

	mu     sync.Mutex
	h      histories.History
	lines  []string // that any actor knows of
	calls  map[string]int
	faults []string
	made   chan change // to be taken back
}

// change is an Edit or a Delete that was made: 1 + the index of its step, and its group.
type change struct {
	step  int
	group string
}

// lastLine ends each file at first. Edits insert lines before it.
const lastLine = "@end0\n"

// tick is the time: a number that no other call gets.
func (w *witness) tick() int64 { return w.clock.Add(1) }

// newLine is a line that no other step writes.
func (w *witness) newLine(who string) string {
	l := fmt.Sprintf("@%s%d\n", who, w.line.Add(1))
	w.mu.Lock()
	w.lines = append(w.lines, l)
	w.mu.Unlock()
	return l
}

// add notes a step, which ends now unless it has an end, and returns 1 + its index.
func (w *witness) add(op histories.Op) int {
	if op.End == 0 {
		op.End = w.tick()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.h.Ops = append(w.h.Ops, op)
	return len(w.h.Ops)
}

func (w *witness) fault(format string, a ...any) {
	w.mu.Lock()
	w.faults = append(w.faults, fmt.Sprintf(format, a...))
	w.mu.Unlock()
}

func (w *witness) path(name string) string { return filepath.Join(w.dir, name) }

// conversation is a client of a server, with some calls at a time.
type conversation struct {
	*witness
	c       *mcptest.Client
	session int
	server  int // its number among the servers, which hooks are told
	killed  bool

	mu    sync.Mutex
	views map[string]string // files as they were last read whole
}

// call plans, makes and notes one call. It returns false when the server is gone.
func (a *conversation) call(r *rand.Rand, moves bool) bool {
	op, tool, arguments := a.plan(r, moves)
	op.Session, op.Begin = a.session, a.tick()
	p, err := a.c.GoCall(tool, arguments)
	var res mcptest.Result
	if err == nil {
		res, err = p.Result()
	}
	op.End = a.tick()
	if err != nil {
		op.Result = histories.Unknown
		if !a.killed {
			a.t.Errorf("%s: %v", op, err)
		}
		if op.Kind != histories.Read {
			a.add(op)
		}
		return false
	}
	a.hear(&op, res)
	i := a.add(op)
	if op.Result == histories.Done && a.hooks != "" {
		a.noteHook(op, i, p.ID, res)
	} else if op.Result == histories.Done && (op.Kind == histories.Edit || op.Kind == histories.Delete) {
		var meta struct {
			Group string `json:"fsmcp/group"`
		}
		json.Unmarshal(res.Meta, &meta)
		select {
		case a.made <- change{i, meta.Group}:
		default:
		}
	}
	a.witness.mu.Lock()
	a.calls[strings.TrimSpace(op.Kind.String()+" "+op.Why)]++
	a.witness.mu.Unlock()
	return true
}

// plan chooses a call.
func (a *conversation) plan(r *rand.Rand, moves bool) (op histories.Op, tool string, arguments args) {
	name := a.names[0]
	if r.IntN(5) == 0 {
		name = a.names[1]
	}
	op.Name = name
	file := args{"file_path": a.path(name)}
	edit := func(old, now string) (histories.Op, string, args) {
		op.Kind, op.Old, op.Text = histories.Edit, old, now
		return op, "Edit", args{"file_path": a.path(name), "old_string": old, "new_string": now}
	}
	switch n := r.IntN(100); {
	case n < 26:
		op.Kind = histories.Read
		return op, "Read", file
	case n < 34 && moves:
		op.Kind, op.To = histories.Move, a.names[1]
		if name == op.To {
			op.To = a.names[0]
		}
		return op, "Move", args{"from": a.path(name), "to": a.path(op.To)}
	case n < 39 && moves:
		op.Kind = histories.Delete
		return op, "Delete", args{"paths": []string{a.path(name)}}
	case n < 50:
		op.Kind, op.Text = histories.Write, a.rewritten(r, name)
		return op, "Write", args{"file_path": a.path(name), "content": op.Text}
	case n < 57:
		op.Kind, op.Text = histories.Append, a.newLine("p")
		return op, "Write", args{"file_path": a.path(name), "content": op.Text, "append": true}
	case n < 63: // a line of anybody, seen or not
		a.witness.mu.Lock()
		old := a.lines[r.IntN(len(a.lines))]
		a.witness.mu.Unlock()
		return edit(old, a.newLine("r"))
	case n < 75:
		if old := a.known(r, name); old != "" {
			return edit(old, a.newLine("r"))
		}
	}
	return edit(lastLine, a.newLine("e")+lastLine)
}

// rewritten is the file as it was last read, with a line more and maybe one less.
func (a *conversation) rewritten(r *rand.Rand, name string) string {
	a.mu.Lock()
	lines := strings.SplitAfter(a.views[name], "\n")
	a.mu.Unlock()
	lines = lines[:len(lines)-1]
	if len(lines) > 2 && r.IntN(2) == 0 {
		lines = slices.Delete(lines, 0, 1)
	}
	return a.newLine("w") + strings.Join(lines, "")
}

// known is a line of the file as it was last read, "" if there is none but the last.
func (a *conversation) known(r *rand.Rand, name string) string {
	a.mu.Lock()
	lines := strings.SplitAfter(a.views[name], "\n")
	a.mu.Unlock()
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" || l == lastLine })
	if len(lines) == 0 {
		return ""
	}
	return lines[r.IntN(len(lines))]
}

var (
	lineOfTest = regexp.MustCompile(`@[a-z]+[0-9]+`)
	rowOfTest  = regexp.MustCompile(`(?m)^([0-9]+)\t(@[a-z]+[0-9]+)$`)
)

// hear takes into a step what its answer says.
func (a *conversation) hear(op *histories.Op, res mcptest.Result) {
	for _, m := range rowOfTest.FindAllStringSubmatch(res.First, -1) {
		n, _ := strconv.Atoi(m[1])
		op.Rows = append(op.Rows, histories.Row{Number: n, Text: m[2]})
	}
	op.Shown = lineOfTest.FindAllString(res.Text, -1)
	if res.IsError {
		op.Result, op.Why = histories.Refused, res.Slug
		if strings.Contains(res.First, "was deleted in this conversation") {
			op.Why = "deleted"
		}
		if op.Why == "no_match" { // which repeats old_string
			op.Shown = slices.DeleteFunc(op.Shown, func(l string) bool { return l+"\n" == op.Old })
		}
		if !slices.Contains([]string{"not_found", "not_read", "partly_read", "modified", "no_match", "busy", "exists"}, res.Slug) {
			a.fault("%s was refused as %s: %s", op, res.Slug, clip(res.Text))
		}
		return
	}
	var meta struct {
		Hash string `json:"fsmcp/hash"`
	}
	json.Unmarshal(res.Meta, &meta)
	if op.Hash = meta.Hash; op.Hash == "" && !lostAfterHook(res) && (op.Kind == histories.Edit || op.Kind == histories.Write || op.Kind == histories.Append) {
		a.fault("%s: the answer has no hash: %s", op, res.Raw)
	}
	if op.Kind == histories.Read {
		for i, r := range op.Rows {
			if r.Number != i+1 {
				a.fault("%s: the lines have other numbers: %s", op, res.Raw)
			}
			op.Text += r.Text + "\n"
		}
		if len(op.Rows) == 0 && !strings.Contains(res.Text, "the contents are empty") {
			a.fault("%s: the answer cannot be read: %s", op, res.Raw)
		}
		op.Rows = nil
	}
	if op.Kind == histories.Read || op.Kind == histories.Write {
		a.mu.Lock()
		a.views[op.Name] = op.Text
		a.mu.Unlock()
	}
}

// historyHook adds a line to the file that was changed, in place, or by a rename of a new file if
// "too" is in its name, after it has said which line. The content of a new file is in a file
// beside the log.
const historyHook = `read -r j
p=${j#*'"path":"'}; p=${p%%'"'*}
c=${j#*'"call":"'}; c=${c%%'"'*}
case $p in
*too*)
	{ cat "$p"; echo "@h$$"; } > "$1.$$" 2>/dev/null
	echo "$FAULTS_SERVER $c $p @h$$ $1.$$" >> "$1"
	cp "$1.$$" "$p.hook$$"
	mv "$p.hook$$" "$p";;
*)
	echo "$FAULTS_SERVER $c $p @h$$ -" >> "$1"
	echo "@h$$" >> "$p";;
esac
`

// lostAfterHook reports whether an answer says that the file was gone after hooks.
func lostAfterHook(res mcptest.Result) bool {
	return strings.Contains(res.Text, "After the user's hooks the file is not there any more")
}

// noteHook adds what a hook wrote after a change, and what the answer says of the file after
// that.
func (a *conversation) noteHook(op histories.Op, i int, id string, res mcptest.Result) {
	if op.Kind == histories.Read {
		return
	}
	b, _ := os.ReadFile(a.hooks)
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] != fmt.Sprint(a.server) || f[1] != id || f[2] != a.path(op.Name) {
			continue
		}
		hook := histories.Op{Kind: histories.Replace, Session: histories.Outside, Name: op.Name, Begin: op.Begin, End: op.End, After: i}
		if f[4] == "-" { // the file may be empty for a moment
			hook.Kind = histories.Touch
			hook.After = a.add(hook)
			hook.Kind, hook.Text = histories.Append, f[3]+"\n"
		} else {
			hook.Text = string(read(a.t, f[4]))
		}
		wrote := a.add(hook)
		look := histories.Op{Kind: histories.Look, Session: histories.Outside, Name: op.Name, Hash: op.Hash, Begin: op.Begin, End: op.End, After: wrote}
		if lostAfterHook(res) {
			look.Result, look.Why = histories.Refused, "not_found"
		}
		a.add(look)
		a.witness.mu.Lock()
		a.h.Ops[i-1].Hash = "" // it is that of the file after the hook
		a.calls["hook "+hook.Kind.String()]++
		a.witness.mu.Unlock()
		return
	}
	a.fault("no hook ran after %s: %s", op, clip(res.Text))
}

// foreign lets a program that knows nothing of fsmcp change a file once.
func (w *witness) foreign(r *rand.Rand) {
	name := w.names[min(1, r.IntN(4)/3)]
	file := w.path(name)
	last := 0 // 1 + the index of the last step
	step := func(k histories.Kind, text string, do func() error) bool {
		op := histories.Op{Kind: k, Session: histories.Outside, Name: name, Text: text, Begin: w.tick()}
		err := do()
		if os.IsNotExist(err) {
			op.Result, op.Why = histories.Refused, "not_found"
		} else if err != nil {
			w.fault("%s: %v", op, err)
		}
		last = w.add(op)
		return err == nil
	}
	var f *os.File
	open := func(flags int) func() error {
		return func() (err error) {
			f, err = os.OpenFile(file, flags, 0)
			return err
		}
	}
	put := func(text string) func() error {
		return func() error { _, err := f.WriteString(text); return err }
	}
	line := w.newLine("f")
	switch n := r.IntN(20); {
	case n < 7:
		if step(histories.Open, "", open(os.O_WRONLY|os.O_APPEND)) {
			linger()
			step(histories.Extend, line, put(line))
			step(histories.Close, "", func() error { return f.Close() })
		}
	case n < 10:
		began := w.tick()
		if step(histories.Open, "", open(os.O_WRONLY|os.O_APPEND|os.O_TRUNC)) { // it may wait before it truncates
			w.add(histories.Op{Kind: histories.Overwrite, Session: histories.Outside, Name: name, Begin: began, After: last})
			linger()
			step(histories.Extend, line+lastLine, put(line+lastLine))
			step(histories.Close, "", func() error { return f.Close() })
		}
	case n < 13:
		if step(histories.Open, "", open(os.O_RDWR|os.O_APPEND)) {
			text := contentOf(f)
			linger()
			step(histories.Overwrite, "", func() error { return f.Truncate(0) })
			linger()
			step(histories.Extend, line+text, put(line+text))
			step(histories.Close, "", func() error { return f.Close() })
		}
	case n < 19:
		text := ""
		if f, err := os.Open(file); err == nil {
			text = contentOf(f)
			f.Close()
		}
		linger()
		must(w.t, os.WriteFile(w.dir+".theirs", []byte(line+text), 0o666))
		step(histories.Replace, line+text, func() error { return os.Rename(w.dir+".theirs", file) })
	default:
		step(histories.Remove, "", func() error { return os.Remove(file) })
	}
	w.mu.Lock()
	w.calls["other program"]++
	w.mu.Unlock()
}

// contentOf reads a small file by one call, so that no change comes between two.
func contentOf(f *os.File) string {
	b := make([]byte, 1<<16)
	n, _ := unix.Pread(int(f.Fd()), b, 0)
	return string(b[:max(n, 0)])
}

// observe reads a file as any program does. It reads again when the name leads to another file by
// then: what it read may have changed under another name.
func (w *witness) observe(name string) {
	op := histories.Op{Kind: histories.Read, Session: histories.Outside, Name: name, Begin: w.tick()}
	for again := true; again; {
		f, err := os.Open(w.path(name))
		if err != nil {
			op.Result, op.Why = histories.Refused, "not_found"
			break
		}
		op.Text = contentOf(f)
		was, _ := f.Stat()
		is, err := os.Stat(w.path(name))
		again = err != nil || !os.SameFile(was, is)
		f.Close()
	}
	if op.Result == histories.Refused {
		op.Text = ""
	}
	w.add(op)
}

// restore takes a change back by the command for people.
func (w *witness) restore(p place, c change) {
	w.mu.Lock()
	was := w.h.Ops[c.step-1]
	w.mu.Unlock()
	op := histories.Op{Kind: histories.Restore, Session: histories.Outside, Name: was.Name,
		Old: strings.TrimSuffix(was.Text, lastLine), Text: strings.TrimSuffix(was.Old, lastLine)}
	command := []string{"history", "restore"}
	for _, k := range p.listed(w.t) {
		switch {
		case c.group != "" && k.Group == c.group:
			op.Kind, op.Old, op.Text = histories.Recreate, "", string(p.shown(w.t, k.ID))
			command = append(command, "--group", c.group)
			w.mu.Lock()
			w.h.Ops[c.step-1].Text = op.Text
			w.mu.Unlock()
		case c.group == "" && k.Tool == "Edit" && k.After != nil && *k.After == was.Hash:
			command = append(command, k.ID)
		}
	}
	if len(command) == 2 {
		w.fault("the history does not have %s", was)
		return
	}
	op.Begin = w.tick()
	out, said, err := p.run(w.t, command...)
	if at := slices.IndexFunc(w.names, func(n string) bool { return strings.Contains(string(out), w.path(n)) }); err != nil {
		op.Result = histories.Refused
	} else if at >= 0 {
		op.Name = w.names[at] // a restore follows moves
		if strings.Contains(string(out), "holds nothing of the change") {
			op.Result, op.Why = histories.Refused, "not_in_it"
		}
	} else {
		w.fault("history restore said %s%s", out, said)
	}
	w.add(op)
	w.mu.Lock()
	w.calls[strings.TrimSuffix(fmt.Sprintf("%v %v", op.Kind, map[bool]string{true: "refused"}[op.Result == histories.Refused]), " ")]++
	w.mu.Unlock()
}

// last reads the files once more, when all is over, and the lines that were kept beside them.
func (w *witness) last() {
	for _, name := range w.names {
		w.observe(name)
	}
	op := histories.Op{Kind: histories.Kept, Session: histories.Outside, Begin: w.tick()}
	for _, name := range strays(w.t, w.dir, func(n string) bool { return slices.Contains(w.names, n) }) {
		if strings.Contains(name, ".fsmcp-saved") {
			op.Shown = append(op.Shown, lineOfTest.FindAllString(string(read(w.t, w.path(name))), -1)...)
			w.calls["kept file"]++
		}
	}
	w.add(op)
}

// rescued adds to the last step the lines that the history has kept of other programs.
func (w *witness) rescued(p place) {
	out, _, err := p.run(w.t, "history", "list", "--json", "--all")
	must(w.t, err)
	var list struct {
		Changes []kept
	}
	must(w.t, json.Unmarshal(out, &list))
	last := &w.h.Ops[len(w.h.Ops)-1]
	for _, k := range list.Changes {
		if filepath.Dir(k.Path) == w.dir && !slices.Contains([]string{"Edit", "Write", "Move", "Delete", "restore"}, k.Tool) {
			last.Shown = append(last.Shown, lineOfTest.FindAllString(string(p.shown(w.t, k.ID)), -1)...)
			w.calls["rescued"]++
		}
	}
}

// pause waits for a random part of a time.
func pause(r *rand.Rand, most time.Duration) { time.Sleep(time.Duration(r.Int64N(int64(most)))) }
