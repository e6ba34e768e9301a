package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/text/encoding/htmlindex"
)

// scriptCommands are the commands that scripts have beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	cmds := map[string]func(*testscript.TestScript, bool, []string){
		"put": put, "bytes": wantBytes, "size": wantSize, "listing": listing, "mode": wantMode,
		"crlf": crlf, "bom": bom, "trim-newline": trimNewline, "touch-time": touchTime,
		"hex": writeHex, "hexcmp": hexCompare, "enc": transcode,
		"mkfifo": mkfifo, "mksock": mksock, "sparse": sparse, "repeat": repeat, "numbered": numbered,
		"hardlink": hardlink, "foreign": foreign, "fixture": fixture, "pictures": pictures, "image": writeImage, "pdf": writePDF, "office": writeOffice, "drawings": writeDrawings, "scans": writeScans, "media": useMedia, "planted": usePlanted, "cut": cut,
		"change-id": changeID, "spoil": spoil, "audit-lines": auditLines, "forge": forge,
	}
	for name, method := range map[string]func(*driver, *testscript.TestScript, bool, []string){
		"serve": (*driver).serve, "restart": (*driver).restart, "shutdown": (*driver).shutdownCmd,
		"signal": (*driver).signal, "as": (*driver).as,
		"call": (*driver).call, "call-until-ready": (*driver).callUntilReady, "calls": (*driver).callAll, "follow": (*driver).follow, "blocks": (*driver).blocks, "picture": (*driver).picture, "send": (*driver).send, "list-tools": (*driver).list,
		"says": (*driver).says, "answer": (*driver).answer, "code": (*driver).code,
		"denies": (*driver).denies, "calls-used": (*driver).callsUsed, "resident-at-most": (*driver).residentAtMost, "took": (*driver).tookAtMost, "spent": (*driver).spentAtMost, "answer-at-most": (*driver).answerAtMost, "content-at-most": (*driver).contentAtMost,
		"stderr-says": (*driver).stderrSays, "told-of": (*driver).notesOf, "hold-open-for-writing": (*driver).holdOpen, "release": (*driver).release,
		"mount-tmpfs": (*driver).mountTmpfs, "browse": (*driver).browse,
	} {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			method(driverOf(ts), ts, neg, args)
		}
	}
	return cmds
}

// unescape reads Go's escapes (\n \t \xff \u202e) in a script's argument.
func unescape(ts *testscript.TestScript, s string) string {
	var b []byte
	for len(s) > 0 {
		if s[0] != '\\' {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		r, wide, rest, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			ts.Fatalf("bad escape at %q", s)
		}
		if wide {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		s = rest
	}
	return string(b)
}

func number(ts *testscript.TestScript, args []string, i int) int {
	if i >= len(args) {
		ts.Fatalf("a number is missing")
	}
	n, err := strconv.Atoi(args[i])
	ts.Check(err)
	return n
}

func need(ts *testscript.TestScript, args []string, n int, usage string) {
	if len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

// should says what a command demands of an answer; not is its exclamation mark.
func should(not bool) string {
	if not {
		return "should not"
	}
	return "should"
}

// put FILE TEXT... writes exactly these bytes (Go's escapes), and makes the
// folders on the way.
func put(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "put FILE TEXT...")
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	ts.Check(os.WriteFile(name, []byte(unescape(ts, strings.Join(args[1:], ""))), 0o666))
}

// bytes FILE TEXT... compares the whole file on disk.
func wantBytes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "bytes FILE TEXT...")
	got := ts.ReadFile(args[0])
	want := unescape(ts, strings.Join(args[1:], ""))
	if (got == want) == neg {
		ts.Fatalf("%s holds\n%s\nand %s hold\n%s", args[0], clipText(strconv.Quote(got)), should(neg), clipText(strconv.Quote(want)))
	}
}

func wantSize(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "size FILE BYTES")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Size() != int64(number(ts, args, 1)) {
		ts.Fatalf("%s has %d bytes, not %s", args[0], info.Size(), args[1])
	}
}

// listing DIR NAME... names all that is in a folder, hidden names included.
func listing(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "listing DIR NAME...")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := slices.Clone(args[1:])
	sort.Strings(want)
	if !slices.Equal(names, want) {
		ts.Fatalf("%s holds %q, not %q", args[0], names, want)
	}
}

// auditLines holds every line of an audit file against the schema.
func auditLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "audit-lines FILE")
	name, err := filepath.Abs(filepath.Join("..", "..", "schemas", "audit.schema.json"))
	ts.Check(err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	schema, err := compiler.Compile(name)
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if text == "" || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is empty, or ends in half a line", args[0])
	}
	for line := range strings.Lines(text) {
		var v any
		ts.Check(json.Unmarshal([]byte(line), &v))
		if err := schema.Validate(v); err != nil {
			ts.Fatalf("%s: %v", line, err)
		}
	}
}

func rewrite(ts *testscript.TestScript, args []string, change func([]byte) []byte) {
	for _, name := range args {
		b, err := os.ReadFile(ts.MkAbs(name))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), change(b), 0o666))
	}
}

func crlf(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) })
}

func bom(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args, func(b []byte) []byte { return append([]byte("\ufeff"), b...) })
}

func trimNewline(ts *testscript.TestScript, neg bool, args []string) {
	rewrite(ts, args, func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) })
}

// touch-time FILE [+1h] sets the times to now, or to that much from now.
func touchTime(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "touch-time FILE [OFFSET]")
	when := time.Now()
	if len(args) > 1 {
		by, err := time.ParseDuration(args[1])
		ts.Check(err)
		when = when.Add(by)
	}
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), when, when))
}

// hex FILE 00ff... writes bytes given in hexadecimal.
func writeHex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "hex FILE DIGITS...")
	b, err := hex.DecodeString(strings.Join(args[1:], ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o666))
}

// hexcmp FILE 00ff... compares the whole file.
func hexCompare(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "hexcmp FILE DIGITS...")
	got := hex.EncodeToString([]byte(ts.ReadFile(args[0])))
	want := strings.ToLower(strings.Join(args[1:], ""))
	if (got == want) == neg {
		ts.Fatalf("%s holds\n%s\nand %s hold\n%s", args[0], got, should(neg), want)
	}
}

// enc CHARSET FILE turns a UTF-8 file into that charset.
func transcode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "enc CHARSET FILE...")
	if strings.HasPrefix(args[0], "utf-16") {
		rewrite(ts, args[1:], func(b []byte) []byte { return utf16Bytes(string(b), args[0] == "utf-16be") })
		return
	}
	enc, err := htmlindex.Get(args[0])
	ts.Check(err)
	rewrite(ts, args[1:], func(b []byte) []byte {
		out, err := enc.NewEncoder().Bytes(b)
		ts.Check(err)
		return out
	})
}

// utf16Bytes encodes with a byte-order mark.
func utf16Bytes(s string, big bool) []byte {
	var out []byte
	unit := func(u uint16) {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	unit(0xfeff)
	for _, r := range s {
		if r > 0xffff {
			r -= 0x10000
			unit(0xd800 + uint16(r>>10))
			unit(0xdc00 + uint16(r&0x3ff))
			continue
		}
		unit(uint16(r))
	}
	return out
}

// sparse FILE SIZE grows a file (K, M, G) without writing data.
func sparse(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "sparse FILE SIZE")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR|os.O_CREATE, 0o666)
	ts.Check(err)
	defer f.Close()
	ts.Check(f.Truncate(bytesOf(ts, args[1])))
}

func bytesOf(ts *testscript.TestScript, s string) int64 {
	unit := int64(1)
	if i := strings.IndexByte("KMG", s[len(s)-1]); i >= 0 {
		unit, s = int64(1)<<(10*(i+1)), s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	ts.Check(err)
	return n * unit
}

// repeat TEXT N FILE appends a text N times.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 3, "repeat TEXT N FILE")
	one := []byte(unescape(ts, args[0]))
	appendTo(ts, args[2], func(w *bytes.Buffer, i int) { w.Write(one) }, number(ts, args, 1))
}

// numbered PREFIX N FILE appends the lines PREFIX1 to PREFIXN.
func numbered(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 3, "numbered PREFIX N FILE")
	prefix := unescape(ts, args[0])
	appendTo(ts, args[2], func(w *bytes.Buffer, i int) {
		w.Write(append(strconv.AppendInt(append(w.AvailableBuffer(), prefix...), int64(i+1), 10), '\n'))
	}, number(ts, args, 1))
}

func appendTo(ts *testscript.TestScript, name string, one func(*bytes.Buffer, int), times int) {
	f, err := os.OpenFile(ts.MkAbs(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	ts.Check(err)
	defer f.Close()
	var buf bytes.Buffer
	for i := range times {
		one(&buf, i)
		if buf.Len() > 1<<20 {
			_, err := buf.WriteTo(f)
			ts.Check(err)
		}
	}
	_, err = buf.WriteTo(f)
	ts.Check(err)
}

func hardlink(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "hardlink OLD NEW")
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// foreign imitates a program that does not know fsmcp: write truncates and writes, append
// appends, rename puts a new file in the old one's place, remove removes, replace swaps
// one text for another.
func foreign(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "foreign write|append|rename|replace|remove FILE [TEXT]...")
	name := ts.MkAbs(args[1])
	var text []byte
	if len(args) > 2 {
		text = []byte(unescape(ts, args[2]))
	}
	switch args[0] {
	case "write":
		ts.Check(os.WriteFile(name, text, 0o666))
	case "append":
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		ts.Check(err)
		_, err = f.Write(text)
		ts.Check(err)
		ts.Check(f.Close())
	case "rename":
		ts.Check(os.WriteFile(name+".foreign", text, 0o666))
		ts.Check(os.Rename(name+".foreign", name))
	case "replace":
		need(ts, args, 4, "foreign replace FILE OLD NEW")
		rewrite(ts, args[1:2], func(b []byte) []byte {
			if !bytes.Contains(b, text) {
				ts.Fatalf("%s does not hold %q", args[1], text)
			}
			return bytes.ReplaceAll(b, text, []byte(unescape(ts, args[3])))
		})
	case "remove":
		ts.Check(os.Remove(name))
	default:
		ts.Fatalf("foreign %s is not known", args[0])
	}
}

// holdOpen opens a file for writing in this process, which is another program to
// the server, until release. A program for Windows sees those for Windows alone.
func (d *driver) holdOpen(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "hold-open-for-writing FILE")
	var f io.Closer
	var err error
	if name := ts.MkAbs(args[0]); d.windows != nil {
		f, err = d.windows.hold(name)
	} else {
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	}
	ts.Check(err)
	if d.openFiles == nil {
		d.openFiles = map[string]io.Closer{}
	}
	d.openFiles[args[0]] = f
}

func (d *driver) release(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "release FILE")
	ts.Check(d.openFiles[args[0]].Close())
	delete(d.openFiles, args[0])
}

// mountTmpfs makes a folder a small file system of its own until the script ends.
func (d *driver) mountTmpfs(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "mount-tmpfs DIR SIZE")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(exec.Command("mount", "-t", "tmpfs", "-o", "size="+args[1], "tmpfs", dir).Run())
	d.cleanups = append(d.cleanups, func() error { return exec.Command("umount", "-l", dir).Run() })
}

// syncBuffer is a buffer that a process may write to while a test reads it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
