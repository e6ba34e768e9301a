package media

import (
	"encoding/json"
	"testing"
)

func TestJSONLen(t *testing.T) {
	for _, s := range []string{"", "plain", "two\nlines\r\n", `"quoted" \ back`, "tab\tand \x01 and \x1f", "ü世"} {
		b, err := json.Marshal(s)
		if err != nil || JSONLen(s) != len(b)-2 {
			t.Errorf("%q: %d, %s", s, JSONLen(s), b)
		}
	}
}
