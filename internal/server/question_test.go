package server

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// A question may be answered before its sender has checked whether the call was cancelled.
// By then the call may have asked another question, which stays.
func TestAnsweredQuestionLeavesTheNextOne(t *testing.T) {
	c := newFake(t, &fakes{}, nil).connect(t.Context(), strings.NewReader(""), io.Discard).conn
	running := &job{to: c.out, call: toolcall.Call{Session: new(toolcall.Session)}, spec: c.specs["Read"]}
	next := &asked{job: running, question: &toolcall.Question{Path: "/next"}, timer: time.NewTimer(time.Hour)}
	c.dialogue.waiting = []*asked{next}
	c.dialogue.ask(running, &toolcall.Result{Effects: toolcall.Effects{Question: &toolcall.Question{Path: "/first"}}})
	if w := c.dialogue.waiting; len(w) != 1 || w[0] != next {
		t.Errorf("%d questions wait", len(w))
	}
}
