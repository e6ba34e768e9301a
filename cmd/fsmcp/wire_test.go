//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// TestWire replays testdata/wire: raw lines to the server and raw lines back.
//
//	# words            what the transcript promises
//	$ FLAGS            starts the server, with $WORK as its workspace
//	+ NAME TEXT        makes a file
//	> LINE             sends a line
//	>| TEXT            sends bytes without a newline after them
//	< PATTERN          the next message; "*" stands for any value, a key "..."
//	                   for keys that are not listed
//	<? PATTERN         one of the next messages: neighbours come in any order
//	.                  ends the input: exit status 0 and nothing more is said
func TestWire(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "wire", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			replay(t, string(text))
		})
	}
}

type transcript struct {
	t      *testing.T
	d      *driver
	client *mcptest.Client
}

func replay(t *testing.T, text string) {
	work := t.TempDir()
	tr := &transcript{t: t, d: &driver{work: work, home: work + ".home", outside: work + ".outside"}}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		mark, rest, _ := strings.Cut(lines[i], " ")
		rest = tr.d.expand(rest)
		switch mark {
		case "#", "":
		case "$":
			tr.start(strings.Fields(rest))
		case "+":
			name, body, _ := strings.Cut(rest, " ")
			if err := os.WriteFile(filepath.Join(work, name), []byte(body+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		case ">":
			tr.check(i, tr.client.Send([]byte(rest)))
		case ">|":
			tr.check(i, tr.client.SendRaw([]byte(rest)))
		case "<":
			tr.want(i, []string{rest})
		case "<?":
			group := []string{rest}
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "<? ") {
				i++
				group = append(group, tr.d.expand(lines[i][3:]))
			}
			tr.want(i, group)
		case ".":
			tr.end(i)
		default:
			t.Fatalf("line %d: what is %q?", i+1, mark)
		}
	}
	if tr.client != nil {
		tr.end(len(lines))
	}
}

func (tr *transcript) start(flags []string) {
	env := append(os.Environ(), "HOME="+tr.t.TempDir(), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
	var err error
	tr.client, err = mcptest.Start(mcptest.Options{Path: program, Env: env, Dir: tr.d.work, Validate: true,
		Args: append(append([]string{"serve"}, flags...), tr.d.work)})
	if err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *transcript) check(line int, err error) {
	tr.t.Helper()
	if err != nil {
		tr.t.Fatalf("line %d: %v", line+1, err)
	}
}

func (tr *transcript) want(line int, patterns []string) {
	tr.t.Helper()
	for len(patterns) > 0 {
		m, err := tr.client.Loose(20 * time.Second)
		if err != nil {
			tr.t.Fatalf("line %d: %v; still wanted: %s", line+1, err, strings.Join(patterns, "\n"))
		}
		found := -1
		for i, p := range patterns {
			if matches(tr.t, p, m.Raw) {
				found = i
				break
			}
		}
		if found < 0 {
			tr.t.Fatalf("line %d: got\n%s\nwanted\n%s", line+1, tr.d.fold(string(m.Raw)), strings.Join(patterns, "\n"))
		}
		patterns = append(patterns[:found:found], patterns[found+1:]...)
	}
}

func (tr *transcript) end(line int) {
	tr.t.Helper()
	c := tr.client
	tr.client = nil
	if err := c.Close(); err != nil {
		tr.t.Fatalf("line %d: at the end of input: %v", line+1, err)
	}
	if m, err := c.Loose(time.Millisecond); err == nil {
		tr.t.Fatalf("line %d: a message that the transcript does not have: %s", line+1, m.Raw)
	}
}

// matches compares with numbers kept as they are written.
func matches(t *testing.T, pattern string, got []byte) bool {
	t.Helper()
	want, err := decodeNumbers([]byte(pattern))
	if err != nil {
		t.Fatalf("the pattern is no JSON: %v: %s", err, pattern)
	}
	have, err := decodeNumbers(got)
	return err == nil && agree(want, have)
}

func decodeNumbers(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func agree(want, have any) bool {
	switch w := want.(type) {
	case string:
		if w == "*" {
			return true
		}
		s, ok := have.(string)
		return ok && (s == w || strings.HasSuffix(w, "…") && strings.HasPrefix(s, strings.TrimSuffix(w, "…")))
	case map[string]any:
		h, ok := have.(map[string]any)
		return ok && agreeObjects(w, h)
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !agree(w[i], h[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, have)
}

func agreeObjects(want, have map[string]any) bool {
	_, open := want["..."]
	for k, v := range want {
		h, ok := have[k]
		if k != "..." && (!ok || !agree(v, h)) {
			return false
		}
	}
	for k := range have {
		if _, ok := want[k]; !ok && !open {
			return false
		}
	}
	return true
}

// TestWirePatterns holds the comparison itself to its word: a transcript that
// agrees with everything would prove nothing.
func TestWirePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, got string
		want         bool
	}{
		{`{"id":1,"result":{}}`, `{"id":1,"result":{}}`, true},
		{`{"id":1,"result":{}}`, `{"id":1,"result":{"x":1}}`, false},
		{`{"id":1,"...":0}`, `{"id":1,"result":{"x":1}}`, true},
		{`{"id":1,"...":0}`, `{"id":"1","result":{}}`, false},
		{`{"id":9007199254740993}`, `{"id":9007199254740992}`, false},
		{`{"a":["*",2]}`, `{"a":[{"b":1},2]}`, true},
		{`{"a":["*",2]}`, `{"a":[1,3]}`, false},
		{`{"a":"one…"}`, `{"a":"one two"}`, true},
		{`{"a":"one…"}`, `{"a":"two"}`, false},
	} {
		if got := matches(t, c.pattern, []byte(c.got)); got != c.want {
			t.Errorf("%s", fmt.Sprintf("matches(%s, %s) = %v", c.pattern, c.got, got))
		}
	}
}
