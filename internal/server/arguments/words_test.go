package arguments

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{`Read|{"file_path":"a=b"}`, `Read {"file_path":"a=b"}`},
		{`Read|file_path=a b.txt|limit=5`, `Read {"file_path":"a b.txt","limit":"5"}`},
		{`Grep|pattern=a=b "c"|-i=true|Read|{}|Glob|pattern=`, `Grep {"pattern":"a=b \"c\"","-i":"true"}; Read {}; Glob {"pattern":""}`},
		{`Read|{not json`, `Read {not json`},
		{`Read`, `Read lacks its arguments: call takes a tool and its arguments, as JSON or as NAME=VALUE`},
		{`Read|{}|Grep`, `Grep lacks its arguments: call takes a tool and its arguments, as JSON or as NAME=VALUE`},
	} {
		calls, err := Lines(strings.Split(c.words, "|"))
		var got []string
		for _, call := range calls {
			got = append(got, fmt.Sprintf("%s %s", call.Tool, call.Arguments))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s", c.words, text)
		}
	}
	if _, err := Lines(nil); err == nil {
		t.Error("nothing is a call")
	}
}
