package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/rogpeppe/go-internal/testscript"
)

type driverKey struct{}

// driver holds the state of one script: the running server, the last answer, and the files
// that "another program" has open.
type driver struct {
	work, home, outside string
	asUID               int
	windows             windowsPrograms // nil: the program is that of this system

	options mcptest.Options
	flags   []string
	client  *mcptest.Client
	stderr  *syncBuffer

	last      mcptest.Result
	took      time.Duration // the last call,
	spent     time.Duration // so long of a processor;
	again     func()        // which makes it once more
	calls     int
	openFiles map[string]io.Closer
	cleanups  []func() error
	page      *historyPage      // that browse has open
	ids       map[string]string // of changes, by those that a page of docs has
}

// windowsPrograms are the programs that scripts run under Wine.
type windowsPrograms interface {
	media() (path, compiled string, err error)
	hold(name string) (io.Closer, error)
}

func driverOf(ts *testscript.TestScript) *driver { return ts.Value(driverKey{}).(*driver) }

// serve starts fsmcp and shakes hands. NAME=VALUE words are its environment; --nodir leaves out $WORK as the workspace.
func (d *driver) serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! serve (use exec fsmcp)")
	}
	ts.Check(d.shutDown())
	env := d.environment(ts)
	withDir := true
	d.flags = []string{"serve"}
	for _, a := range args {
		switch {
		case a == "--nodir":
			withDir = false
		case isAssignment(a):
			env = append(env, d.expand(a))
		default:
			d.flags = append(d.flags, d.expand(a))
		}
	}
	if withDir {
		d.flags = append(d.flags, d.work)
	}
	d.options = mcptest.Options{Path: program, Argv0: "fsmcp", Args: d.flags, Dir: ts.MkAbs("."), Env: env, Validate: true}
	if d.asUID != 0 {
		d.options.Attr = credential(d.asUID)
	}
	ts.Check(d.start(ts.Getenv("REVISION"), ts.Getenv("CLIENT")))
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name == strings.ToUpper(name) && !strings.HasPrefix(name, "-")
}

func (d *driver) environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOCOVERDIR", "GORACE", "GOTRACEBACK", wineVariable,
		"SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMP", "PATHEXT", "COMSPEC"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if os.Getenv("GORACE") != "" {
		env = append(env, "GORACE="+os.Getenv("GORACE"))
	}
	return env
}

func (d *driver) start(revision, client string) error {
	if revision == "" {
		revision = mcptest.Latest
	}
	if client == "" {
		client = "mcptest"
	}
	d.stderr = &syncBuffer{}
	d.options.Stderr = d.stderr
	c, err := mcptest.Start(d.options)
	if err != nil {
		return err
	}
	d.client, d.calls = c, 0
	if _, err := c.InitializeAs(revision, client); err != nil {
		return fmt.Errorf("initialize: %w\nstandard error: %s", err, d.stderr)
	}
	return nil
}

// shutDown ends the input and asks for a clean end: exit status 0, and nothing
// on standard output that was no JSON-RPC.
func (d *driver) shutDown() error {
	if d.client == nil {
		return nil
	}
	c := d.client
	d.client = nil
	if err := c.Close(); err != nil {
		return fmt.Errorf("%w\nstandard error: %s", err, d.stderr)
	}
	return nil
}

func (d *driver) cleanUp() error {
	for _, f := range d.openFiles {
		f.Close()
	}
	err := d.shutDown()
	for i := len(d.cleanups) - 1; i >= 0; i-- {
		err = errors.Join(err, d.cleanups[i]())
	}
	return err
}

func (d *driver) restart(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(d.shutDown())
	ts.Check(d.start(ts.Getenv("REVISION"), ts.Getenv("CLIENT")))
}

func (d *driver) running(ts *testscript.TestScript) *mcptest.Client {
	if d.client == nil {
		ts.Fatalf("no server runs: serve first")
	}
	return d.client
}

// expand puts in the three folders a script may name inside JSON and quotes, and
// the server's user id. Nothing else is expanded: $& and $1 are text.
func (d *driver) expand(s string) string {
	return strings.NewReplacer("$WORK", filepath.ToSlash(d.work), "$HOME", filepath.ToSlash(d.home), "$OUTSIDE", filepath.ToSlash(d.outside), "$UID", d.uid()).Replace(s)
}

// uid is the user that the server runs as, as the name of its folder in the temporary one
// has it. Wine's user has the same number everywhere.
func (d *driver) uid() string {
	switch {
	case d.asUID != 0:
		return strconv.Itoa(d.asUID)
	case d.windows != nil:
		return "S-1-5-21-0-0-0-1000"
	}
	return strconv.Itoa(os.Geteuid())
}

// fold is the other way round, so that what is expected can be written down. Names that
// Windows spells with "\", which JSON doubles, get "/".
func (d *driver) fold(s string) string {
	var pairs []string
	for _, dir := range []struct{ name, short string }{{d.home, "$HOME"}, {d.outside, "$OUTSIDE"}, {d.work, "$WORK"}} {
		for _, spelled := range []string{strings.ReplaceAll(dir.name, `\`, `\\`), dir.name, filepath.ToSlash(dir.name)} {
			pairs = append(pairs, spelled, dir.short)
		}
	}
	s = strings.NewReplacer(pairs...).Replace(s)
	if filepath.Separator == '/' {
		return s
	}
	s = foldedName.ReplaceAllStringFunc(s, func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(name, `\\`, "/"), `\`, "/")
	})
	return strings.ReplaceAll(s, "%USERPROFILE%/", "~/")
}

// foldedName matches a name below one of the folders of a script, or as advice spells it.
var foldedName = regexp.MustCompile(`(\$(WORK|HOME|OUTSIDE)|%USERPROFILE%)(\\{1,2}[^\\\s"'<>|:*?]+)+`)

// arguments are given inline as JSON or as a file that holds them.
func (d *driver) arguments(ts *testscript.TestScript, s string) json.RawMessage {
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		s = ts.ReadFile(s)
	}
	return json.RawMessage(strings.TrimSpace(d.expand(s)))
}

func (d *driver) call(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] call TOOL ARGUMENTS")
	}
	res, err := d.timed(ts, args[0], d.arguments(ts, args[1]))
	d.calls++
	if err != nil {
		ts.Fatalf("call %s: %v\nstandard error: %s", args[0], err, d.stderr)
	}
	d.keep(ts, res)
	if res.IsError != neg {
		ts.Fatalf("call %s: isError is %v (%d %s):\n%s", args[0], res.IsError, res.Code, res.Slug, clipText(d.fold(res.Text)))
	}
	if res.IsError && (res.Code == 0 || res.Slug == "") {
		ts.Fatalf("a tool error without fsmcp/errorCode or fsmcp/error: %s", res.Raw)
	}
	d.checkShape(ts, res)
}

// callUntilReady makes a call again while what reads PDFs is being compiled, as the answers
// ask for. It keeps the text of each.
func (d *driver) callUntilReady(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "call-until-ready TOOL ARGUMENTS")
	texts := ""
	for range 10 {
		res, err := d.timed(ts, args[0], d.arguments(ts, args[1]))
		ts.Check(err)
		texts += res.Text
		if res.Slug == "busy" {
			continue
		}
		res.Text = texts
		d.keep(ts, res)
		return
	}
	ts.Fatalf("it is not ready yet: %s", d.fold(texts))
}

// timed makes a call, and notes what it was and how long it took.
func (d *driver) timed(ts *testscript.TestScript, tool string, arguments json.RawMessage) (mcptest.Result, error) {
	c := d.running(ts)
	d.again = func() {
		_, err := d.timed(ts, tool, arguments)
		ts.Check(err)
	}
	used := processorTime(c.PID())
	begin := time.Now()
	res, err := c.Call(tool, arguments)
	d.took = time.Since(begin)
	d.spent = processorTime(c.PID()) - used
	return res, err
}

// processorTime returns the CPU time that a process has used, and 0 where the system does
// not report it.
func processorTime(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var user, system int64 // in hundredths of a second
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// residentAtMost bounds the memory (K, M, G) that the server has had at its most.
func (d *driver) residentAtMost(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "resident-at-most SIZE")
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.running(ts).PID()))
	ts.Check(err)
	_, peak, _ := strings.Cut(string(b), "VmHWM:")
	var kilobytes int64
	fmt.Sscan(peak, &kilobytes)
	if bound := bytesOf(ts, args[0]); kilobytes == 0 || kilobytes<<10 > bound {
		ts.Fatalf("the server took %d MB, more than %s", kilobytes>>10, args[0])
	}
	ts.Logf("the server took %d MB", kilobytes>>10)
}

// checkShape holds of every answer: no structured part, some content.
func (d *driver) checkShape(ts *testscript.TestScript, res mcptest.Result) {
	var all map[string]json.RawMessage
	ts.Check(json.Unmarshal(res.Raw, &all))
	if _, ok := all["structuredContent"]; ok {
		ts.Fatalf("an answer carries structuredContent, which would hide its text: %s", res.Raw)
	}
	if len(all["content"]) < 4 {
		ts.Fatalf("an answer without content: %s", res.Raw)
	}
}

func (d *driver) keep(ts *testscript.TestScript, res mcptest.Result) {
	d.last = res
	ts.Check(os.WriteFile(filepath.Join(d.work, "result"), []byte(d.fold(res.Text)+"\n"), 0o666))
	meta := []byte("{}")
	if len(res.Meta) > 0 {
		var m map[string]any
		ts.Check(json.Unmarshal(res.Meta, &m))
		meta, _ = json.MarshalIndent(m, "", "  ")
	}
	ts.Check(os.WriteFile(filepath.Join(d.work, "meta"), append(meta, '\n'), 0o666))
}

func clipText(s string) string {
	if len(s) > 2000 {
		return s[:1200] + "\n…\n" + s[len(s)-600:]
	}
	return s
}

var (
	named     = regexp.MustCompile(`\b(offset|limit|column)\b\W{1,6}(\d+)`)
	namedCell = regexp.MustCompile(`\bcell_id=?\W{1,2}([\w-]+)"`)
)

// follow does what an agent does with the call that the last answer named: it
// reads FILE with the offset, limit, column and cell_id that stand there last.
func (d *driver) follow(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "follow FILE")
	call := map[string]any{"file_path": args[0]}
	for _, m := range named.FindAllStringSubmatch(d.last.Text, -1) {
		call[m[1]] = json.Number(m[2])
	}
	if m := namedCell.FindStringSubmatch(d.last.Text); m != nil {
		call["cell_id"] = m[1]
	}
	if len(call) == 1 {
		ts.Fatalf("the last answer names no call to follow:\n%s", clipText(d.fold(d.last.Text)))
	}
	text, err := json.Marshal(call)
	ts.Check(err)
	ts.Logf("follows: Read %s", text)
	d.call(ts, neg, []string{"Read", string(text)})
}

// callAll sends calls without waiting and gathers the answers in the order of
// the requests. Without "!" all must succeed, with it all must fail, and with
// -mixed either will do.
func (d *driver) callAll(ts *testscript.TestScript, neg bool, args []string) {
	mixed := len(args) == 2 && args[0] == "-mixed"
	if mixed {
		args = args[1:]
	}
	if len(args) != 1 {
		ts.Fatalf("usage: [!] calls [-mixed] FILE")
	}
	c := d.running(ts)
	var pending []*mcptest.Pending
	var names []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		tool, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		arguments := json.RawMessage(d.expand(rest))
		if !json.Valid(arguments) {
			ts.Fatalf("not JSON: %s", arguments)
		}
		p, err := c.GoCall(tool, arguments)
		ts.Check(err)
		pending, names = append(pending, p), append(names, tool)
	}
	var out strings.Builder
	for i, p := range pending {
		res, err := p.Result()
		ts.Check(err)
		d.calls++
		if !mixed && res.IsError != neg {
			ts.Fatalf("call %d (%s): isError is %v: %s", i+1, names[i], res.IsError, d.fold(res.Text))
		}
		word := "ok"
		if res.IsError {
			word = fmt.Sprintf("error %d %s", res.Code, res.Slug)
		}
		fmt.Fprintf(&out, "== %d %s %s\n%s\n", i+1, names[i], word, d.fold(res.Text))
	}
	ts.Check(os.WriteFile(filepath.Join(d.work, "result"), []byte(out.String()), 0o666))
}

// says looks for words in the last answer, answer compares all of it. Escapes
// are Go's; $WORK, $HOME and $OUTSIDE stand as they are.
func (d *driver) says(ts *testscript.TestScript, neg bool, args []string) {
	for _, a := range args {
		if strings.Contains(d.fold(d.last.Text), unescape(ts, a)) == neg {
			ts.Fatalf("the answer %s hold %q:\n%s", should(neg), unescape(ts, a), clipText(d.fold(d.last.Text)))
		}
	}
}

func (d *driver) answer(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] answer TEXT")
	}
	if got := d.fold(d.last.Text); (got == unescape(ts, args[0])) == neg {
		ts.Fatalf("the answer is\n%q\nand %s be\n%q", clipText(got), should(neg), unescape(ts, args[0]))
	}
}

func (d *driver) code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: code NUMBER SLUG")
	}
	if !d.last.IsError || fmt.Sprint(d.last.Code) != args[0] || d.last.Slug != args[1] {
		ts.Fatalf("the last call answered %d %q (isError %v), not %s %q:\n%s",
			d.last.Code, d.last.Slug, d.last.IsError, args[0], args[1], clipText(d.fold(d.last.Text)))
	}
}

// denies FILE reads a name until a deny rule has it, which came with a change of the
// settings: they hold by then. How soon that has to be TestDenyAddedHolds asks.
func (d *driver) denies(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "denies FILE")
	name := args[0]
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.work, name)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		res, err := d.running(ts).Call("Read", map[string]any{"file_path": name})
		ts.Check(err)
		if res.Slug == "denied" && !strings.Contains(res.Text, "broken settings file") {
			return // a file that is just being written may be taken for a broken one
		}
		if time.Now().After(end) {
			ts.Fatalf("%s is not denied: %s\nstandard error: %s", args[0], d.fold(res.Text), d.stderr)
		}
	}
}

// callsUsed bounds the calls since the server was started.
func (d *driver) callsUsed(ts *testscript.TestScript, neg bool, args []string) {
	n := number(ts, args, 0)
	if d.calls > n {
		ts.Fatalf("%d calls were used, more than %d", d.calls, n)
	}
}

// tookAtMost bounds how long the last call takes. The machine may have held it up:
// then it is made again, a few times, and has to be as quick once.
func (d *driver) tookAtMost(ts *testscript.TestScript, neg bool, args []string) {
	bound, err := time.ParseDuration(args[0])
	ts.Check(err)
	best := d.took
	for tries := 1; best > bound; tries++ {
		if tries == 5 {
			ts.Fatalf("the call took %v at best of %d times, more than %v", best, tries, bound)
		}
		d.again()
		best = min(best, d.took)
	}
}

// spentAtMost bounds the processor time that went by during the last call.
func (d *driver) spentAtMost(ts *testscript.TestScript, neg bool, args []string) {
	bound, err := time.ParseDuration(args[0])
	ts.Check(err)
	if d.spent > bound {
		ts.Fatalf("the call took %v of a processor, more than %v", d.spent, bound)
	}
}

// answerAtMost bounds the size of the last answer's text.
func (d *driver) answerAtMost(ts *testscript.TestScript, neg bool, args []string) {
	if n := number(ts, args, 0); len(d.last.Text) > n {
		ts.Fatalf("the answer has %d bytes, more than %d:\n%s", len(d.last.Text), n, clipText(d.fold(d.last.Text)))
	}
}

// send writes raw lines and gathers as many messages as there are requests in
// them, or as the second argument says. "result" holds them a line each.
func (d *driver) send(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: send FILE [ANSWERS]")
	}
	text := d.expand(ts.ReadFile(args[0]))
	ts.Check(d.running(ts).SendRaw([]byte(text)))
	want := countRequests(text)
	if len(args) == 2 {
		want = number(ts, args, 1)
	}
	d.gather(ts, want)
}

func countRequests(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		messages, err := mcptest.Parse([]byte(strings.TrimSpace(line)))
		if err == nil && len(messages) > 0 && messages[0].ID != "" && messages[0].Method != "" {
			n++
		}
	}
	return n
}

func (d *driver) gather(ts *testscript.TestScript, want int) {
	var out bytes.Buffer
	for range want {
		m, err := d.client.Loose(40 * time.Second)
		if err != nil {
			ts.Fatalf("%v; before it came:\n%s\nstandard error: %s", err, out.Bytes(), d.stderr)
		}
		out.WriteString(d.fold(string(m.Raw)) + "\n")
	}
	if m, err := d.client.Loose(50 * time.Millisecond); err == nil {
		ts.Fatalf("one message more than the %d expected: %s", want, m.Raw)
	}
	d.last = mcptest.Result{Text: strings.TrimSuffix(out.String(), "\n")}
	ts.Check(os.WriteFile(filepath.Join(d.work, "result"), out.Bytes(), 0o666))
}

// list leaves the answer to tools/list in "result".
func (d *driver) list(ts *testscript.TestScript, neg bool, args []string) {
	m, err := d.running(ts).Request("tools/list", map[string]any{})
	ts.Check(err)
	d.last = mcptest.Result{Text: string(m.Result)}
	ts.Check(os.WriteFile(filepath.Join(d.work, "result"), append(m.Result, '\n'), 0o666))
}

// shutdownCmd ends the input; the server must end by itself with status 0.
func (d *driver) shutdownCmd(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(d.shutDown())
}

// signal sends INT, TERM or HUP, upon which the server must end with status 0.
func (d *driver) signal(ts *testscript.TestScript, neg bool, args []string) {
	sig, ok := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	if !ok {
		ts.Fatalf("usage: signal INT|TERM|HUP")
	}
	c := d.running(ts)
	d.client = nil
	ts.Check(c.Signal(sig))
	if err := c.Wait(60 * time.Second); err != nil {
		c.Kill()
		ts.Fatalf("after %s: %v\nstandard error: %s", args[0], err, d.stderr)
	}
	ts.Check(errors.Join(c.Violations()...))
}

// stderrSays looks at what the server wrote to standard error. The server may
// write there after it has answered, so that words may take a moment to come.
func (d *driver) stderrSays(ts *testscript.TestScript, neg bool, args []string) {
	for _, a := range args {
		want := unescape(ts, a)
		for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if neg || strings.Contains(d.fold(d.stderr.String()), want) {
				break
			}
		}
		if strings.Contains(d.fold(d.stderr.String()), want) == neg {
			ts.Fatalf("standard error %s hold %q:\n%s", should(neg), a, d.stderr)
		}
	}
}

// as makes the next serve run under another user's id.
func (d *driver) as(ts *testscript.TestScript, neg bool, args []string) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		ts.Fatalf("as needs root: guard it with [root]")
	}
	d.asUID = number(ts, args, 0)
	ts.Setenv("UID", args[0])
	for dir := d.work; dir != "/" && dir != "/tmp"; dir = filepath.Dir(dir) {
		ts.Check(os.Chmod(dir, 0o755))
	}
	for _, dir := range []string{d.home, d.outside, d.work} {
		ts.Check(os.Chown(dir, d.asUID, d.asUID))
	}
}

// notesOf FILES writes another file until the answers have told of so many, which they
// do in one where the machine is not busy; then of nothing more.
func (d *driver) notesOf(ts *testscript.TestScript, neg bool, args []string) {
	want, total := number(ts, args, 0), 0
	write := func() (count int) {
		d.call(ts, false, []string{"Write", fmt.Sprintf(`{"file_path":"$WORK/told-of.txt","content":"%d"}`, d.calls)})
		count = strings.Count(d.last.Text, "<system-reminder>The file ")
		if count > 3 || len(d.last.Text) > 8000 {
			ts.Fatalf("%d files were told of with their lines: %s", count, d.last.Text)
		}
		return count + moreFiles(d.last)
	}
	for begun := time.Now(); total < want && time.Since(begun) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		total += write()
	}
	if total += write(); total != want {
		ts.Fatalf("%d files were told of, not %d", total, want)
	}
}

var moreReminded = regexp.MustCompile(`<system-reminder>(\d+) more files? that you have read`)

// moreFiles returns the number of files that an answer counts beside those it names.
func moreFiles(r mcptest.Result) int {
	m := moreReminded.FindStringSubmatch(r.Text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
