package server

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/server/arguments"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/schemas"
)

func specs(tb testing.TB) map[string]*arguments.Spec {
	return newFake(tb, &fakes{}, nil).specs
}

func decodeText(sp *arguments.Spec, args string) (tools.Args, *toolcall.Result) {
	v, err := wire.Parse([]byte(args))
	if err != nil {
		panic("not JSON: " + args)
	}
	decoded, _, refused := sp.Decode(v)
	return decoded, refused
}

func TestDecodeRefusals(t *testing.T) {
	all := specs(t)
	for _, c := range []struct{ tool, args, says string }{
		{"Read", `{"file_path":7}`, "file_path must be a string, not a number."},
		{"Read", `{"file_path":true}`, "file_path must be a string, not a boolean."},
		{"Read", `{"file_path":["/f"]}`, "file_path must be a string, not an array (text that is JSON itself must be sent as one string)."},
		{"Read", `{"file_path":"/f","offset":true}`, "offset must be a whole number, not a boolean."},
		{"Read", `{"file_path":"/f","offset":"1.5"}`, `offset must be a whole number, not "1.5".`},
		{"Read", `{"file_path":"/f","offset":" 1"}`, `offset must be a whole number, not " 1".`},
		{"Read", `{"file_path":"/f","offset":"0x10"}`, `offset must be a whole number, not "0x10".`},
		{"Read", `{"file_path":"/f","offset":"1e400"}`, `offset is too large a number: "1e400".`},
		{"Read", `{"file_path":"/f","offset":1e300}`, `offset is too large a number: "1e300".`},
		{"Read", `{"file_path":"/f","offset":9223372036854775808}`, `offset is too large a number`},
		{"Read", `{"file_path":"/f","offset":1,"offset":1}`, "offset was given twice; give it once."},
		{"Read", `{"file_path":"/f","offset":null,"offset":1}`, "offset was given twice; give it once."},
		{"Read", `{"file_path":"/f","encoding":"x"}`, `There is no argument "encoding". Read takes: file_path, offset, limit, column, cell_id, region, pages, allow_large.`},
		{"Read", `{"file_path":"/f","x":1,"x":1}`, `"x" was given twice; give it once.`},
		{"Read", `{"filePath":"/f"}`, `There is no argument "filePath"; did you mean file_path?`},
		{"Read", `{"filename":"/f"}`, `There is no argument "filename"; did you mean file_path?`},
		{"Read", `{"path":"/f","file_path":"/g"}`, `There is no argument "path".`},
		{"Read", `{"path":7}`, "file_path must be a string, not a number."},
		{"Read", `{"path":"/f","path":"/f"}`, `"path" was given twice; give it once.`},
		{"Read", `{"file":"/f"}`, `did you mean file_path?`},
		{"Read", `{"file_path":"/f","limits":1}`, `did you mean limit?`},
		{"Read", `{"file_path":"/f","col":1}`, `did you mean column?`},
		{"Read", `{"":"/f"}`, `There is no argument "". file_path is required.`},
		{"Read", "{\"file_path\":\"/f\xff\"}", "file_path is not valid UTF-8; send the text as UTF-8."},
		{"Read", "{\"\xff\":1}", `is not valid UTF-8.`},
		{"Read", `{"\ud800":1}`, `lone surrogate`},
		{"Write", `{"file_path":"/f","content":"\udc00"}`, "content holds a lone surrogate"},
		{"Write", `{"file_path":"/f","content":"\ud800\u0041"}`, "content holds a lone surrogate"},
		{"Write", `{"file_path":"/f","content":"\ud800\ud800\udc00"}`, "content holds a lone surrogate"},
		{"Write", `{"file_path":"/f","content":"\ud800\\udc00"}`, "content holds a lone surrogate"},
		{"Write", `{"file_path":"/f","content":null}`, "content is required."},
		{"Edit", `{"file_path":"/f","old_string":"a","new_string":"b","replace_all":"yes"}`, `replace_all must be true or false, not "yes".`},
		{"Edit", `{"file_path":"/f","old_string":"a","new_string":"b","replaceAll":true}`, `did you mean replace_all?`},
		{"Write", `[]`, "The arguments of Write must be one JSON object, not an array. It takes: file_path, content, append."},
	} {
		args, refused := decodeText(all[c.tool], c.args)
		if refused == nil {
			t.Errorf("%s %s was taken: %+v", c.tool, c.args, args)
			continue
		}
		text := refused.Blocks[0].Text
		if !strings.Contains(text, c.says) || refused.Facts.ErrorCode != 12 || refused.Facts.Error != "bad_argument" {
			t.Errorf("%s %s says\n%s\nwithout\n%s", c.tool, c.args, text, c.says)
		}
		for _, word := range []string{"Go ", "struct", "int64", "json:", "reflect", "unmarshal"} {
			if strings.Contains(text, word) {
				t.Errorf("%s %s says %q: %s", c.tool, c.args, word, text)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestDecodeAccepts(t *testing.T) {
	all := specs(t)
	for _, c := range []struct {
		tool, args string
		want       tools.Args
	}{
		{"Read", ` { "file_path" : "/f" } `, &readArgs{FilePath: "/f"}},
		{"Read", `{"file_path":"/f","offset":null,"limit":"","column":null,"pages":"","region":null}`, &readArgs{FilePath: "/f"}},
		{"Read", `{"file_path":"/f","offset":"0","limit":-0,"column":"-7"}`, &readArgs{FilePath: "/f", Offset: ptr(0), Limit: ptr(0), Column: ptr(-7)}},
		{"Read", `{"file_path":"/f","offset":10.0,"limit":"10.0","column":1e1}`, &readArgs{FilePath: "/f", Offset: ptr(10), Limit: ptr(10), Column: ptr(10)}},
		{"Read", `{"file_path":"/f","offset":` + strconv.Itoa(math.MaxInt) + `}`, &readArgs{FilePath: "/f", Offset: ptr(math.MaxInt)}},
		{"Read", `{"\u0066ile_path":""}`, &readArgs{}},
		{"Read", `{"file_path":"/f","cell_id":"x"}`, &readArgs{FilePath: "/f", CellID: "x"}},
		{"Read", `{"path":"/f","limit":1}`, &readArgs{FilePath: "/f", Limit: ptr(1)}},
		{"Write", `{"content":"x","path":"/f"}`, &writeArgs{FilePath: "/f", Content: "x"}},
		{"Write", `{"file_path":"/f","content":""}`, &writeArgs{FilePath: "/f"}},
		{"Write", `{"content":"\b\f\n\r\t\"\\\/\u0000\u00e9\ud83d\ude00é😀","file_path":"/f"}`, &writeArgs{FilePath: "/f", Content: "\b\f\n\r\t\"\\/\x00" + "é😀é😀"}},
		{"Edit", `{"file_path":"/f","old_string":"","new_string":"","replace_all":"false"}`, &editArgs{FilePath: "/f"}},
		{"Edit", `{"file_path":"/f","old_string":"$&","new_string":"\\1","replace_all":true}`, &editArgs{"/f", "$&", `\1`, true, 0}},
	} {
		got, refused := decodeText(all[c.tool], c.args)
		if refused != nil {
			t.Errorf("%s %s was refused: %s", c.tool, c.args, refused.Blocks[0].Text)
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s is %+v, not %+v", c.tool, c.args, got, c.want)
		}
	}
}

// FuzzDecode: any arguments are either refused in words or decoded to what
// encoding/json finds in them.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"file_path":"/f","old_string":"a","new_string":"b","replace_all":true}`))
	f.Add([]byte(`{"file_path":"/f","old_string":"\u00e9\\","new_string":"","replace_all":"true"}`))
	f.Add([]byte(`{"file_path":"/f","old_string":"\ud800","new_string":1,"x":[{}],"x":2}`))
	f.Add([]byte(`{"path":null}`))
	f.Add([]byte(`7`))
	sp := specs(f)["Edit"]
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := wire.Parse(in)
		if err != nil {
			return
		}
		args, _, refused := sp.Decode(v)
		if refused != nil {
			if text := refused.Blocks[0].Text; text == "" || len(text) > 4000 || !utf8.ValidString(text) {
				t.Fatalf("%q says %q", in, text)
			}
			return
		}
		var want struct {
			FilePath  string `json:"file_path"`
			OldString string `json:"old_string"`
			NewString string `json:"new_string"`
		}
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatal(err)
		}
		got := args.(*editArgs)
		if got.FilePath != want.FilePath || got.OldString != want.OldString || got.NewString != want.NewString {
			t.Fatalf("%q is %+v, not %+v", in, got, want)
		}
	})
}

// The published list stays within its budget.
func TestListIsSmall(t *testing.T) {
	s := newFake(t, &fakes{}, nil)
	list := s.List()
	if len(list) > 6500 {
		t.Errorf("tools/list has %d bytes", len(list))
	}
	t.Logf("tools/list has %d bytes", len(list))
	for name, sp := range s.specs {
		if len(sp.Description) >= 2000 {
			t.Errorf("%s: description of %d bytes", name, len(sp.Description))
		}
		if bytes.Contains(sp.Published, []byte("x-fsmcp")) || !json.Valid(sp.Published) {
			t.Errorf("%s: published as %s", name, sp.Published)
		}
	}
}

// A schema and an argument struct that do not agree are found at the start.
func TestSpecMustAgree(t *testing.T) {
	for name, args := range map[string]func() tools.Args{
		"a field is missing": func() tools.Args { return new(writeArgs) },
		"a type differs":     func() tools.Args { return new(wrongRead) },
		"a field too many":   func() tools.Args { return new(moreRead) },
	} {
		if _, err := arguments.Load(schemas.Files, tools.Tool{Name: "Read", Args: args}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := arguments.Load(schemas.Files, tools.Tool{Name: "None", Args: nil}); err == nil {
		t.Error("no schema: taken")
	}
}

type wrongRead struct {
	FilePath string `json:"file_path"`
	Offset   string `json:"offset"`
	Limit    *int   `json:"limit"`
	Column   *int   `json:"column"`
}

type moreRead struct {
	readArgs
	More string `json:"more"`
}

func (a *wrongRead) Target() string { return a.FilePath }

func TestInstructions(t *testing.T) {
	one := (Options{Workspace: []string{"/home/me/project"}}).instructions(false)
	if !strings.Contains(one, "workspace: /home/me/project.") {
		t.Error(one)
	}
	many := (Options{Workspace: slices.Repeat([]string{"/" + strings.Repeat("d", 200)}, 50)}).instructions(false)
	if len(many) >= 1500 || !strings.Contains(many, "more.") {
		t.Errorf("%d bytes: %s", len(many), many)
	}
	if long := (Options{Workspace: []string{"/" + strings.Repeat("d", 5000), "/b"}}).instructions(false); len(long) >= 1500 {
		t.Errorf("%d bytes", len(long))
	}
	if odd := (Options{Workspace: []string{"/a\nb\u202e"}}).instructions(false); strings.Contains(odd, "a\nb") || strings.Contains(odd, "\u202e") {
		t.Error(odd)
	}
	if got := (Options{Clipboard: true, Mode: "plan"}).instructions(false); !strings.Contains(got, "not changed.\nRead of clipboard: ") {
		t.Errorf("%q", got)
	}
	if none := (Options{Workspace: nil}).instructions(false); !strings.Contains(none, "No workspace") {
		t.Error(none)
	}
}

// The instructions speak of no tool that is not published.
func TestInstructionsNamePublishedTools(t *testing.T) {
	for list, absent := range map[string][]string{
		"Grep":           {"Glob", "Read ", "Edit", "Write", "writes", "before each change"},
		"Glob":           {"Grep", "Read ", "Edit", "Write", "writes"},
		"Read Glob Grep": {"Edit", "Write", "writes", "before each change"},
		"Read Write":     {"Glob", "Grep"},
		"Read Edit Grep": {"Glob"},
	} {
		var o Options
		for name := range strings.FieldsSeq(list) {
			o.Tools = append(o.Tools, tools.Tool{Name: name})
		}
		got := o.instructions(false)
		for name := range strings.FieldsSeq(list) {
			if name != "Read" && name != "Write" && !strings.Contains(got, name) {
				t.Errorf("%s: without %s: %s", list, name, got)
			}
		}
		for _, word := range absent {
			if strings.Contains(got, word) {
				t.Errorf("%s: %q stands in: %s", list, word, got)
			}
		}
	}
}

// TestInstructionsTellTheMode: what the mode means, the plan file by its name, and
// still the workspace, within the bound.
func TestInstructionsTellTheMode(t *testing.T) {
	dirs := []string{"/home/me/project", "/" + strings.Repeat("d", 300)}
	for _, c := range []struct{ mode, plan, want string }{
		{"acceptEdits", "/p.md", ""},
		{"default", "/p.md", "asked before each change"},
		{"plan", "", "files are read and not changed."},
		{"plan", "/home/me/plans/the \"plan\".md", `except the plan file "/home/me/plans/the \"plan\".md"`},
		{"plan", "/" + strings.Repeat("p", 180), "except the plan file"},
		{"plan", "/" + strings.Repeat("p", 4000), "files are read and not changed."},
		{"dontAsk", "", "is refused"},
		{"bypassPermissions", "", "deny and ask rules"},
	} {
		got := (Options{Workspace: dirs, Mode: c.mode, PlanFile: c.plan}).instructions(false)
		if len(got) >= 1500 || !strings.Contains(got, c.want) || !strings.Contains(got, "/home/me/project") {
			t.Errorf("%s: %d bytes: %s", c.mode, len(got), got)
		}
		if reported := strings.Contains(got, "Plan mode"); reported != (c.mode == "plan") {
			t.Errorf("%s: %s", c.mode, got)
		}
	}
}
