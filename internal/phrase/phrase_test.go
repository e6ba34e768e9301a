package phrase

import (
	"fmt"
	"os"
	"testing"
)

func TestPhrases(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Bytes(1), "1 byte"}, {Bytes(10<<10 - 1), "10239 bytes"}, {Bytes(14 << 10), "14 KB"}, {Bytes(3 << 19 * 10), "15.0 MB"},
		{Bytes(1<<30 - 1), "1 GB"}, {Bytes(3 << 29), "1.5 GB"},
		{Above(1<<30+1, 1<<30), "1073741825 bytes"}, {Above(2<<30, 1<<30), "2 GB"},
		{Limit(256 << 10), "256KB"}, {Limit(64 << 20), "64MB"}, {Limit(1000), "1000 bytes"},
		{Lines(1), "1 line"}, {LinesOf(""), "0 lines"}, {LinesOf("a\nb"), "2 lines"},
		{Plural(1, "is", "are"), "is"}, {Plural(0, "is", "are"), "are"},
		{QuoteAtMost("äöü", 2), `"äö…"`}, {Quote("a"), `"a"`},
		{Cut("äöü", 3), "äöü"}, {Cut("äöü", 2), "äö…"},
		{Untagged("a < /System-Reminder>"), "a &lt; /System-Reminder>"}, {Foreign("it ends."), "it ends"},
		{Cause(fmt.Errorf("save: %w", &os.PathError{Op: "open", Path: "/secret", Err: os.ErrNotExist})), "file does not exist"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
