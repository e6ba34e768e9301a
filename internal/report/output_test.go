package report

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/doctor"
)

// outputs returns an output of each kind, and its text.
func outputs() (b *strings.Builder, plain, terminal, coloured Output) {
	b = new(strings.Builder)
	return b, Output{Writer: b}, Output{Writer: b, Terminal: true}, Output{Writer: b, Terminal: true, Coloured: true}
}

// TestWarnings turns lines of the log into sentences, which cannot steer the terminal.
func TestWarnings(t *testing.T) {
	for line, want := range map[string]string{
		`{"level":"warn","message":"a \u001b[2J b"}`:              "fsmcp: a \\x1b[2J b\n",
		`{"level":"warn","error":"no file","message":"It fails"}`: "fsmcp: It fails: no file\n",
		"plain\n": "plain\n",
		"{}\n":    "{}\n",
	} {
		var b strings.Builder
		if n, err := (Warnings{&b}).Write([]byte(line)); err != nil || n != len(line) || b.String() != want {
			t.Errorf("%s became %q, %d, %v", line, b.String(), n, err)
		}
	}
}

func TestText(t *testing.T) {
	b, plain, terminal, coloured := outputs()
	for _, c := range []struct {
		o        Output
		in, want string
	}{
		{plain, "a\x1b\r\n\xffb", "a\x1b\r\n\xffb"},
		{plain, "", ""},
		{terminal, "a\x1b[2J\tb\n\xff", "a\\x1b[2J\tb\n\\xff\n"},
		{terminal, "ü日本\n", "ü日本\n"},
		{terminal, "", ""},
		{coloured, "ü\x1b\tb\n", "ü\x1b[36m\\x1b\x1b[0m\tb\n"},
		{coloured, "a", "a\x1b[36m\\ no newline at the end\x1b[0m\n"},
		{coloured, "a\u202eb\n", "a\x1b[36m\\u{202e}\x1b[0mb\n"},
	} {
		b.Reset()
		if err := c.o.Text([]byte(c.in)); err != nil || b.String() != c.want {
			t.Errorf("%q is %q, %v, not %q", c.in, b, err, c.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	b, plain, terminal, coloured := outputs()
	for _, c := range []struct {
		o       Output
		refused bool
		in      string
		want    string
	}{
		{plain, true, "a\x1b\nb", "a\x1b\nb\n"},
		{terminal, true, "a\x1b\nb", "a\\x1b\nb\n"},
		{coloured, false, "1\ta\nb\x1b", "1\ta\nb\x1b[36m\\x1b\x1b[0m\n"},
		{coloured, true, "a\n\nb\x1b", "\x1b[31ma\x1b[0m\n\n\x1b[31mb\\x1b\x1b[0m\n"},
	} {
		b.Reset()
		if err := c.o.Answer(c.in, c.refused); err != nil || b.String() != c.want {
			t.Errorf("%q is %q, %v, not %q", c.in, b, err, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	b, plain, terminal, coloured := outputs()
	const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-x\x1b\n+y\n z\n"
	for _, c := range []struct {
		o    Output
		want string
	}{
		{plain, diff},
		{terminal, strings.ReplaceAll(diff, "\x1b", `\x1b`)},
		{coloured, "\x1b[31m--- a\x1b[0m\n\x1b[32m+++ a\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-x\\x1b\x1b[0m\n\x1b[32m+y\x1b[0m\n z\n"},
	} {
		b.Reset()
		if err := c.o.Diff(diff); err != nil || b.String() != c.want {
			t.Errorf("%q, %v, not %q", b, err, c.want)
		}
	}
}

// TestChecks keeps the columns straight, coloured or not, and escapes what checks quote.
func TestChecks(t *testing.T) {
	b, plain, _, coloured := outputs()
	r := doctor.NewReport([]doctor.Check{
		{Name: "a", Status: doctor.OK, Detail: "fine"},
		{Name: "b", Status: doctor.Warn, Detail: "a\x1bb", Remedy: "Do."},
	})
	const want = "ok    a                 fine\nwarn  b                 a\\x1bb\n                        Do.\n\nNo check failed; there is something to look at: 1 warning.\n"
	if err := plain.Checks(r); err != nil || b.String() != want {
		t.Errorf("%s, %v", b, err)
	}
	b.Reset()
	if err := coloured.Checks(r); err != nil || !strings.HasPrefix(b.String(), "\x1b[32mok\x1b[0m    a") {
		t.Errorf("%q, %v", b, err)
	}
}

func TestPaged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	b, plain, terminal, _ := outputs()
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, pager, text, want string }{
		{"a pager", "echo paged; cat", "text", "paged\ntext"},
		{"not found", "no-such-program 2>/dev/null", "text", "text"},
		{"leaves early", "true", long, ""},
		{"fails", "exit 3", long, long},
		{"fails after it has read", "cat >/dev/null; exit 1", "text", "text"},
	} {
		b.Reset()
		err := terminal.Paged(exec.Command("sh", "-c", c.pager), func(o Output) error { return o.Diff(c.text) })
		if got := strings.TrimSpace(b.String()); err != nil || got != c.want {
			t.Errorf("%s: %.100q, %v", c.name, got, err)
		}
	}
	b.Reset()
	err := plain.Paged(exec.Command("sh", "-c", "echo paged; cat"), func(o Output) error { return o.Diff("text") })
	if err != nil || b.String() != "text" {
		t.Errorf("what is piped is paged: %q, %v", b, err)
	}
	b.Reset()
	err = terminal.Paged(exec.Command("/no/such/program"), func(o Output) error { return o.Diff("text") })
	if err != nil || b.String() != "text\n" {
		t.Errorf("without a pager: %q, %v", b, err)
	}
	broken := errors.New("broken")
	if err := terminal.Paged(nil, func(Output) error { return broken }); err != broken {
		t.Error(err)
	}
}
