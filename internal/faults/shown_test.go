//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// TestNothingUnseenIsReplaced reads, searches, edits, writes and restores files of all kinds at
// random, as clients of all names, while another program and a hook change them too. It keeps
// what the answers held, as text (transcript), and knows nothing of the server's records.
//
//   - When a change succeeds, all text that it replaced was in an answer before, or was sent by
//     the caller. Many calls try for text just beside what an answer showed.
//   - Text in a line that an answer showed whole can be edited, a file that was read in full can
//     be overwritten, and a call that a refusal invites again passes, so that a server which
//     refuses everything fails too.
//
// In the control arm the transcript leaves out answers. The test must then find replaced text
// that was in no answer.
//
// A failure names its seed and world: FSMCP_SHOWN_SEED and FSMCP_SHOWN_WORLD make that world
// again, with the count of steps that the run had, and FSMCP_SHOWN_TRACE=1 prints its calls and
// answers.
func TestNothingUnseenIsReplaced(t *testing.T) {
	steps := count(t, "FSMCP_SHOWN", 800)
	seed := uint64(count(t, "FSMCP_SHOWN_SEED", int(time.Now().UnixNano()%1e9)+1))
	large := steps > 10_000
	first := count(t, "FSMCP_SHOWN_WORLD", 0)
	if first > 0 {
		steps = (first + 1) * stepsInWorld
	}
	begin := time.Now()
	var mu sync.Mutex
	seen, worlds := map[string]int{}, 0
	t.Run("worlds", func(t *testing.T) {
		const shards = 2
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for world := first + shard; world*stepsInWorld < steps && !t.Failed(); world += shards {
					w := newShownWalk(t, seed, world, large)
					w.run()
					if len(w.faults) > 0 {
						t.Errorf("seed %d, world %d, client %q, settings %s:\n%s\nthe last steps on that file:\n%s", seed, world, w.client, w.settings,
							strings.Join(w.faults, "\n"), w.story())
					}
					mu.Lock()
					for k, v := range w.counts {
						seen[k] += v
					}
					worlds++
					mu.Unlock()
				}
			})
		}
	})
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		counts = append(counts, fmt.Sprintf("%s %d", k, seen[k]))
	}
	report(t, "%d worlds in %v, seed %d: %s", worlds, time.Since(begin).Round(time.Millisecond), seed, strings.Join(counts, ", "))
	if t.Failed() {
		return
	}
	for _, k := range happens {
		if seen[k] == 0 && (large || slices.Contains(often, k)) {
			t.Errorf("nothing of this happened: %s", k)
		}
	}

	const control, least = 10, 3
	caught, tried := 0, 0
	for i := range control {
		if caught == least && !large {
			break
		}
		tried++
		w := newShownWalk(t, seed, 1_000_000+i, false)
		w.forget = true
		if w.run(); len(w.faults) > 0 {
			caught++
		}
	}
	if caught < least {
		t.Errorf("control arm: only %d of %d transcripts without all answers were caught", caught, tried)
	}
	report(t, "control arm: %d of %d transcripts without all answers were caught", caught, tried)
}

// often lists what a short run must come to as well. Each happens at least some twenty times in it.
var often = []string{"Edit passed", "Edit refused", "Edit of unseen text refused", "Edit of seen text passed"}

// happens lists what a long run must come to.
var happens = []string{
	"Edit passed", "Edit refused", "Write passed", "Write refused", "NotebookEdit passed", "NotebookEdit refused",
	"Edit of unseen text refused", "Edit of seen text passed", "Edit by line passed", "NotebookEdit of unseen text refused", "NotebookEdit of a seen cell passed",
	"Write over unseen text refused", "Write over a file read in full passed",
	"repeated call passed", "restored", "cancelled", "changed outside", "changed by a hook", "changed notebook refused",
}

// stepsInWorld is the number of steps on one set of files, by one session.
const stepsInWorld = 80

// shownFile is one file of the walk.
type shownFile struct {
	path string
	kind string
	enc  encoding.Encoding // nil: UTF-8 as it stands
	text string            // of the file as it was last looked at, decoded; of a notebook its JSON
	size int
	// rows are numbers of lines that answers showed whole, of the file as it is.
	rows map[int]bool
	// lines are such lines by their text: they stay seen when own edits move them.
	lines map[string]bool
	// cells are the ids of a notebook's cells that a Read showed whole.
	cells map[string]bool
	near  int // the place of the last edit, or of a line of the last answer
	// untold: another program has changed the notebook, and no answer since then was of it as it
	// is. searched: a search has shown lines of it, which prove only themselves.
	untold, searched bool
	// moved: another program has changed the file, and no Edit of it passed since then.
	moved bool
	// hooked: a hook changes the file after each change.
	hooked bool
	// restorable: the last change was a call's, and the history can take it back.
	restorable bool
}

// shownWalk is a server, its files and what was seen of them.
type shownWalk struct {
	t        *testing.T
	p        place
	c        *mcptest.Client
	rng      *rand.Rand
	client   string
	settings string
	full     bool // the setting edit.gate
	forget   bool // the control arm
	names    bool // the walk has MultiEdit, Move and Delete, too
	files    []*shownFile
	said     *transcript
	counts   map[string]int
	log      []string
	faults   []string
	serial   int
	again    func() // what the next step may do: a call that a refusal invited, or one that goes on from an answer

	mu       sync.Mutex
	received [][]byte
	old      map[string]string // old_string by the id of the call
}

func newShownWalk(t *testing.T, seed uint64, world int, large bool) *shownWalk {
	w := &shownWalk{t: t, p: newPlace(t), rng: rand.New(rand.NewPCG(seed, uint64(world))), said: newTranscript(),
		counts: map[string]int{}, old: map[string]string{}}
	w.client = walkClients[w.rng.IntN(len(walkClients))]
	gate := "shown"
	if w.full = w.rng.IntN(8) == 0; w.full {
		gate = "full"
	}
	when := []string{"apply", "apply", "apply", "refuse"}[w.rng.IntN(4)]
	script := w.p.file("../home/hook.sh")
	must(t, os.WriteFile(script, []byte(hookScript), 0o755))
	w.settings = fmt.Sprintf(`{"edit": {"gate": %q, "whenChanged": %q}, "hooks": {"afterFileEdited": [{"glob": "hooked*", "command": ["sh", %q]}, {"glob": "**", "command": ["sh", %[3]q, "loud"]}]}}`, gate, when, script)
	w.p.settings(t, w.settings)
	kinds := []string{"lf", "lf", "long", "long", "crlf", "mixed", "bom", "utf16le", "utf16be", "latin", "stray", "cr", "hooked", "notebook", "300K"}
	if w.rng.IntN(3) == 0 {
		kinds = append(kinds, "1200K")
	}
	if large && w.rng.IntN(5) == 0 {
		kinds = append(kinds, []string{"5M", "9M"}[w.rng.IntN(2)])
	}
	if large && w.rng.IntN(40) == 0 {
		kinds = append(kinds, "65M")
	}
	w.rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for i, kind := range append(kinds[:5:5], "notebook") {
		w.files = append(w.files, w.newFile(i, kind))
	}
	w.start()
	if w.rng.IntN(2) == 0 { // reminders tell of changes in files that were read in full
		for _, f := range w.files {
			w.read(f, args{"file_path": f.path})
		}
	}
	return w
}

// hookScript is a hook that puts random words in front of some lines, or fails now and then and
// says a lot.
const hookScript = `if [ "$1" = loud ]; then
	[ $(od -An -N1 -tu1 /dev/urandom) -gt 40 ] && exit 0
	head -c 3000 /dev/urandom | base32 >&2
	exit 1
fi
p=$(sed 's/.*"path":"\([^"]*\)".*/\1/')
n=$(( $(od -An -N2 -tu2 /dev/urandom) % 50 + 1 ))
m=$(( $(od -An -N1 -tu1 /dev/urandom) % 70 ))
[ $m -gt 60 ] || m=0
sed -i "$n,$((n+m))s/^/$(head -c 40 /dev/urandom | base32 -w0) /" "$p"
`

func (w *shownWalk) start() {
	c, err := mcptest.Start(mcptest.Options{Path: fsmcp, Args: []string{"serve", w.p.ws}, Dir: w.p.ws,
		Env: w.p.env("FSMCP_TOOLS=all"), Stderr: &stderrOf{t: w.t}})
	must(w.t, err)
	c.OnLine = func(line []byte) {
		w.mu.Lock()
		w.received = append(w.received, slices.Clone(line))
		w.mu.Unlock()
	}
	_, err = c.InitializeAs(mcptest.Latest, w.client)
	must(w.t, err)
	w.c = c
}

// run takes the steps, up to the first fault.
func (w *shownWalk) run() {
	defer func() { w.c.Kill() }()
	for n := 0; n < stepsInWorld && len(w.faults) == 0 && !w.t.Failed(); n++ {
		w.step()
	}
	for _, err := range w.c.Violations() {
		w.fault("%v", err)
	}
	must(w.t, os.RemoveAll(filepath.Dir(w.p.ws)))
}

func (w *shownWalk) note(format string, a ...any) {
	w.log = append(w.log, clip(fmt.Sprintf(format, a...)))
}

// story returns the last steps on the file of the first fault.
func (w *shownWalk) story() string {
	base := regexp.MustCompile(`[a-zA-Z0-9]+\.(txt|ipynb)`).FindString(strings.Join(w.faults, " "))
	all := slices.DeleteFunc(slices.Clone(w.log), func(s string) bool { return !strings.Contains(s, base) })
	return strings.Join(all[max(0, len(all)-12):], "\n")
}

func (w *shownWalk) fault(format string, a ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, a...))
}

func (w *shownWalk) step() {
	if again := w.again; again != nil && w.rng.IntN(3) > 0 {
		w.again = nil
		again()
		return
	}
	w.again = nil
	f := w.files[w.rng.IntN(len(w.files))]
	if w.names && w.rng.IntN(3) == 0 {
		w.nameStep(f)
		return
	}
	switch n := w.rng.IntN(100); {
	case n < 22:
		w.read(f, w.readArgs(f))
	case n < 42:
		w.grep(f)
	case n < 78:
		w.edit(f)
	case n < 88:
		w.write(f)
	case n < 94:
		for w.outside(f); w.rng.IntN(2) == 0; w.outside(f) {
			f = w.files[w.rng.IntN(len(w.files))]
		}
	case n < 95:
		w.restore(f)
	case n < 97:
		w.cancelled(f)
	default:
		w.both(f)
	}
}

// call makes a call, and returns its answer before that is added to the transcript: seen does
// that.
func (w *shownWalk) call(tool string, a args) (res mcptest.Result, seen func()) {
	p, err := w.c.GoCall(tool, a)
	must(w.t, err)
	return w.answer(p, tool, a)
}

func (w *shownWalk) answer(p *mcptest.Pending, tool string, a args) (res mcptest.Result, seen func()) {
	old, _ := a["old_string"].(string)
	w.old[p.ID] = old
	res, err := p.Result()
	must(w.t, err)
	w.hear(p.ID)
	outcome := " passed"
	if res.IsError {
		outcome = " refused"
	}
	w.counts[tool+outcome]++
	w.tell(tool, a, res)
	w.note("%s %s -> %d %s %q", tool, brief(a), res.Code, res.Slug, clip(res.Text))
	if os.Getenv("FSMCP_SHOWN_TRACE") != "" {
		fmt.Fprintf(os.Stderr, "%s %v\n%s\n", tool, a, res.Text)
	}
	return res, func() { w.hear("") }
}

// tell finds a change of a notebook that another program had changed, be it only an output, before
// an answer told of that.
func (w *shownWalk) tell(tool string, a args, res mcptest.Result) {
	for _, f := range w.files {
		if f.kind != "notebook" {
			continue
		}
		of, changes := a["file_path"] == f.path || a["notebook_path"] == f.path, tool == "Write" || tool == "NotebookEdit"
		switch {
		case tool == "Grep":
			f.searched = f.searched || strings.Contains(res.Text, filepath.Base(f.path))
		case of && changes && f.untold && !f.searched && !res.IsError:
			w.fault("%s of %s passed after an outside change that no answer told of", tool, f.path)
		case of && changes && f.untold && res.Slug == "modified":
			w.counts["changed notebook refused"]++
			f.untold = false
		case of && tool == "NotebookEdit" && res.Slug == "not_read": // nothing was known of it; what it shows is there now
			f.untold = false
		case of && !res.IsError:
			f.untold = false
			f.searched = f.searched && tool != "Write"
		}
	}
}

func brief(a args) string {
	b, _ := json.Marshal(a)
	return clip(string(b))
}

// hear adds the answers to the transcript that came before that to a call.
func (w *shownWalk) hear(until string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, line := range w.received {
		messages, err := mcptest.Parse(line)
		must(w.t, err)
		for _, m := range messages {
			if m.Method != "" || m.ID == "" {
				continue
			}
			if m.ID == until {
				w.received = w.received[i:]
				return
			}
			res, err := mcptest.ParseResult(m)
			if err != nil || w.forget && w.rng.IntN(2) == 0 {
				continue
			}
			blocks := withoutEchoes(textsOf(res), w.old[m.ID])
			passed := passedOn(w.client, blocks, res.IsError)
			if !slices.Equal(passed, blocks) {
				w.counts["cut by the client"]++
			}
			for _, text := range passed {
				w.said.add(text)
			}
		}
	}
	w.received = nil
}

// look takes a file's bytes anew. moved says that nothing that was seen of it is known to be in
// its place.
func (w *shownWalk) look(f *shownFile, moved bool) {
	raw := read(w.t, f.path)
	f.size, f.text = len(raw), string(raw)
	if f.enc != nil {
		text, err := f.enc.NewDecoder().Bytes(raw)
		must(w.t, err)
		f.text = string(text)
	} else if f.kind == "bom" {
		f.text = strings.TrimPrefix(f.text, "\ufeff")
	}
	f.rows = map[int]bool{}
	if moved {
		f.lines, f.cells = map[string]bool{}, map[string]bool{}
	}
}

// known notes which lines of a file an answer showed whole: rows with a number as Read and
// refusals write them, rows with a name and a number as Grep does.
func (w *shownWalk) known(f *shownFile, text string, grep bool) {
	if f.kind == "notebook" || grep && f.size > 4<<20 {
		return
	}
	all := linesOf(f.text)
	if len(all) == 0 {
		return
	}
	line := func(i int) string { return f.text[all[i].start:all[i].end] }
	same := func(i int, shown string) bool {
		plain, _ := plainOf(line(i))
		got, _ := plainOf(shown)
		return string(plain) == string(got)
	}
	for row := range strings.SplitSeq(text, "\n") {
		m := numberedRow.FindStringSubmatch(row)
		if grep {
			m = grepRow.FindStringSubmatch(strings.TrimPrefix(row, f.path))
		}
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if n >= 1 && n <= len(all) && same(n-1, m[2]) && (!grep || utf8.RuneCountInString(m[2]) <= 400) {
			f.rows[n-1] = true
			f.lines[line(n-1)] = true
		}
	}
}

var (
	numberedRow = regexp.MustCompile(`^\+?([0-9]+)\t((?s).*)$`)
	grepRow     = regexp.MustCompile(`^[^0-9]*[:-]?([0-9]+)[:-]((?s).*)$`)
)
