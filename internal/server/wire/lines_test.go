package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll returns all lines; a line that was too long as "TOO LONG" and its id.
func readAll(r io.Reader, limit int) (got []string, err error) {
	l := Lines{r: r, Limit: limit}
	for {
		line, err := l.Next()
		switch {
		case errors.Is(err, ErrTooLong):
			got = append(got, "TOO LONG "+string(l.Lost))
		case err != nil:
			return got, err
		default:
			got = append(got, string(line))
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"newlines alone", "\n\r\n\n", nil},
		{"last without newline", "a\nb", []string{"a", "b"}},
		{"byte-order mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"white space around", " a \r\n", []string{"a"}},
		{"as long as may be", long[:50] + "\nb\n", []string{long[:50], "b"}},
		{"too long, and on", "a\n" + long + "\nb\n", []string{"a", "TOO LONG ", "b"}},
		{"too long at the end", long, []string{"TOO LONG "}},
		{"too long with id in front", `{"jsonrpc":"2.0","id":17,"p":"` + long + "\"}\nb", []string{"TOO LONG 17", "b"}},
		{"too long with id behind", `{"p":"` + long + `","jsonrpc":"2.0","id":"x\"y"}` + "\nb", []string{`TOO LONG "x\"y"`, "b"}},
		{"too long with id behind blanks", `{"p": "` + long + `", "id": 5 } ` + "\nb", []string{"TOO LONG 5", "b"}},
		{"an id inside a string is none", `{"p":"` + long + `,\"id\":5}` + "\nb", []string{"TOO LONG ", "b"}},
		{"an id inside another member is none", `{"p":"` + long + `","q":{"id":5}}` + "\nb", []string{"TOO LONG ", "b"}},
		{"an id that breaks off is none", `{"id":` + strings.Repeat("1", 2000) + "}\nb", []string{"TOO LONG ", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":   strings.NewReader(c.in),
				"bytes":   iotest.OneByteReader(strings.NewReader(c.in)),
				"dataerr": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(r, 50)
				if strings.Join(got, "|") != strings.Join(c.want, "|") || err != io.EOF {
					t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
				}
			}
		})
	}
}

// A long line is handed out with the buffer it was read into; what is read
// next must not run into it.
func TestLinesKeepTheirBytes(t *testing.T) {
	var in bytes.Buffer
	var want []string
	for range 300 {
		line := strings.Repeat(string(rune('a'+rand.IntN(26))), 1+rand.IntN(1<<(1+rand.IntN(18))))
		want = append(want, line)
		in.WriteString(line + "\n")
	}
	l := Lines{r: &in, Limit: MaxLine}
	var got [][]byte
	for {
		line, err := l.Next()
		if err != nil {
			break
		}
		got = append(got, line)
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines of %d", len(got), len(want))
	}
	for i := range got {
		if string(got[i]) != want[i] {
			t.Fatalf("line %d of %d bytes was overwritten", i, len(want[i]))
		}
	}
}

func TestReadErrorEndsLines(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 50)
	if strings.Join(got, "|") != "a|b" || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzLines compares with splitting the whole input at once, for any sizes of
// reads.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nbb\r\n"), uint8(1))
	f.Add([]byte("\ufeff{}\n{\"id\":1}"), uint8(3))
	f.Add([]byte(strings.Repeat("y", 40)+"\nz"), uint8(7))
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		const limit = 30
		var want []string
		for _, line := range bytes.Split(bytes.TrimPrefix(in, []byte(byteOrder)), []byte("\n")) {
			switch trimmed := bytes.TrimSpace(line); {
			case len(line) > limit:
				want = append(want, "long")
			case len(trimmed) > 0:
				want = append(want, string(trimmed))
			}
		}
		got, err := readAll(&stepReader{in, int(step) + 1}, limit)
		for i := range got {
			if strings.HasPrefix(got[i], "TOO LONG ") {
				got[i] = "long"
			}
		}
		if err != io.EOF || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q, want %q (%v)", got, want, err)
		}
	})
}

// stepReader reads so many bytes at a time.
type stepReader struct {
	b    []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.step)], r.b)
	r.b = r.b[n:]
	return n, nil
}
