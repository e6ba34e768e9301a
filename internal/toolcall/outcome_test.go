package toolcall

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
)

func TestResultPutsTheAnswerTogether(t *testing.T) {
	picture := Block{Data: []byte("x"), MIME: "image/png"}
	for name, c := range map[string]struct {
		answer Answer
		hint   string
		want   string // the blocks; "|" parts them, a picture is its type
	}{
		"a head":                   {answer: Answer{Head: "Done."}, want: "Done."},
		"a body and notes":         {answer: Answer{Body: "text", Notes: []string{"", "(note)"}}, want: "text\n(note)"},
		"all of them":              {answer: Answer{Head: "Done.", Body: "text", Notes: []string{"(note)"}}, want: "Done.\ntext\n(note)"},
		"a hint ends the text":     {answer: Answer{Head: "Done."}, hint: "(hint)", want: "Done.\n(hint)"},
		"media below the text":     {answer: Answer{Head: "Done.", Media: []Block{picture}}, want: "Done.|image/png"},
		"a hint below a picture":   {answer: Answer{Media: []Block{{Text: "cell"}, picture}}, hint: "(hint)", want: "cell|image/png|(hint)"},
		"a hint ends other blocks": {answer: Answer{Media: []Block{picture, {Text: "cell"}}}, hint: "(hint)", want: "image/png|cell\n(hint)"},
	} {
		r := Outcome{Answer: c.answer}.Result("Read", "/w/a", c.hint)
		var got []string
		for _, b := range r.Blocks {
			got = append(got, b.Text+b.MIME)
		}
		if text := strings.Join(got, "|"); text != c.want || r.IsError {
			t.Errorf("%s: %q, not %q", name, text, c.want)
		}
	}
}

// An error is answered in the words of the refusal, with the effects of the outcome.
func TestResultOfAnError(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		raw      string
		slug     string
		absolute string
	}{
		"not read, absolute": {err: refusal.New(refusal.NotRead, "/w/a"), raw: "/w/a", slug: refusal.SlugNotRead, absolute: "true"},
		"not read, relative": {err: refusal.New(refusal.NotRead, "/w/a"), raw: "a", slug: refusal.SlugNotRead, absolute: "false"},
		"another error":      {err: errors.New("no such device"), raw: "/w/a", slug: refusal.SlugIO, absolute: "unknown"},
	} {
		out := Refused(c.err, Shown{Path: "/w/a"})
		out.Head = "Done."
		r := out.Result("Write", nativetest.Name(c.raw), "(hint)")
		absolute := "unknown"
		if r.Facts.AbsolutePath != nil {
			absolute = fmt.Sprint(*r.Facts.AbsolutePath)
		}
		if !r.IsError || r.Facts.Error != c.slug || r.Facts.ErrorCode == 0 || absolute != c.absolute {
			t.Errorf("%s: %+v, absolute: %s", name, r.Facts, absolute)
		}
		if text := r.Blocks[0].Text; len(r.Blocks) != 1 || strings.Contains(text, "Done.") || strings.Contains(text, "hint") || len(r.Shown) != 1 {
			t.Errorf("%s: %q, %d shown", name, text, len(r.Shown))
		}
	}
}

func TestHideLeavesOutWhatTheFileHolds(t *testing.T) {
	out := Outcome{
		Answer:  Answer{Head: "Done.", Body: "secret", Notes: []string{"(note)"}, Facts: Facts{Size: new(int64(7)), Hash: state.Sum{1}}},
		Effects: Effects{Shown: []Shown{{How: InAll}, {How: Added}, {How: Differs}, {How: Forgotten}}, Parse: Parsed{Content: state.NewContent([]byte("secret"))}},
	}
	out.Hide()
	if got := out.Text(); got != "Done.\n(note)" {
		t.Errorf("the text is %q", got)
	}
	if out.Facts.Hash != (state.Sum{}) || *out.Facts.Size != 7 || out.Parse.Content != nil {
		t.Errorf("%+v, %v", out.Facts, out.Parse.Content)
	}
	if len(out.Shown) != 1 || out.Shown[0].How != Forgotten {
		t.Errorf("%+v", out.Shown)
	}
}
