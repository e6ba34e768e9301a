package arguments

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

type listArgs struct {
	Pairs []listPair `json:"pairs"`
	Names []string   `json:"names"`
}

type listPair struct {
	A string `json:"a"`
	N *int   `json:"n"`
}

func (*listArgs) Target() string { return "" }

func listSpec(t *testing.T) *Spec {
	t.Helper()
	files := fstest.MapFS{"List.md": {Data: []byte("x")}, "List.json": {Data: []byte(`{"type":"object","properties":{
		"pairs":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}},"required":["a"]}},
		"names":{"type":"array","items":{"type":"string"}}},"additionalProperties":false,"x-fsmcp":{"title":"List"}}`)}}
	sp, err := Load(files, tools.Tool{
		Name: "List", Args: func() tools.Args { return &listArgs{} },
		Run: func(context.Context, toolcall.Call, tools.Args) *toolcall.Result { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return sp
}

// A list is decoded as strictly as the arguments themselves; what models write in its place
// is taken: one entry alone, and the list as JSON in a string.
func TestDecodeLists(t *testing.T) {
	one := 1
	for given, want := range map[string]any{
		`{"pairs":[{"a":"x","n":1},{"a":"y"}]}`:        &listArgs{Pairs: []listPair{{"x", &one}, {"y", nil}}},
		`{"pairs":{"a":"x"},"names":"p"}`:              &listArgs{Pairs: []listPair{{"x", nil}}, Names: []string{"p"}},
		`{"pairs":"[{\"a\":\"x\"}]","names":["p",""]}`: &listArgs{Pairs: []listPair{{"x", nil}}, Names: []string{"p", ""}},
		`{"names":"[\"p\",\"q\"]"}`:                    &listArgs{Names: []string{"p", "q"}},
		`{"names":"[p]"}`:                              &listArgs{Names: []string{"[p]"}},
		`{"names":null}`:                               &listArgs{},
		`{"pairs":[{"n":1}]}`:                          "In pairs[0]: a is required.",
		`{"pairs":[{"a":"x"},{"a":"x","b":2}]}`:        `In pairs[1]: There is no argument "b".`,
		`{"pairs":[{"a":"x","a":"y"}]}`:                "In pairs[0]: a was given twice",
		`{"pairs":["x"]}`:                              "pairs[0] must be an object with a, n, not a string.",
		`{"pairs":5}`:                                  "pairs must be an array, each entry an object, not a number.",
		`{"names":[1]}`:                                "names[0] must be a string, not a number.",
		`{"names":{"a":1}}`:                            "names must be an array, each entry a string, not an object.",
		`{"names":["\ud800"]}`:                         "names[0]",
	} {
		v, err := wire.Parse([]byte(given))
		if err != nil {
			t.Fatal(given, err)
		}
		args, _, refused := listSpec(t).Decode(v)
		words, isRefusal := want.(string)
		switch {
		case isRefusal && (refused == nil || !strings.Contains(refused.Blocks[0].Text, words)):
			t.Errorf("%s: %+v, %+v, want %q", given, args, refused, words)
		case !isRefusal && (refused != nil || !reflect.DeepEqual(args, want)):
			t.Errorf("%s: %+v, %+v, want %+v", given, args, refused, want)
		}
	}
}
