package lsp

import (
	"encoding/json"
	"testing"
)

// holdGreeting has a fake answer initialize only once release is called.
func holdGreeting(f *fake) (greeted chan bool, release func()) {
	greeted, held := make(chan bool), make(chan bool)
	before := f.before
	f.before = func(f *fake, method string, params json.RawMessage) bool {
		if method == "initialize" {
			close(greeted)
			<-held
		}
		return before == nil || before(f, method, params)
	}
	return greeted, func() { close(held) }
}

// A file that another program changes while the server starts is followed, too.
func TestChangedWhileTheServerStarts(t *testing.T) {
	f := newFake(t)
	greeted, release := holdGreeting(f)
	p := newProject(t, f)
	p.edit("a.go", "one\n")
	<-greeted
	p.write("a.go", "of another program\n")
	release()
	p.settled()
	p.edit("b.go", "two\n")
	p.settled()
	if got, want := f.text(p.path("a.go")), "of another program\n"; got != want {
		t.Errorf("the server has %q, not %q", got, want)
	}
}

// A problem that is mended before the server is ready is news when it comes back.
func TestMendedWhileTheServerStarts(t *testing.T) {
	f := newFake(t)
	greeted, release := holdGreeting(f)
	p := newProject(t, f)
	p.write("a.go", "x\nbad\n")
	p.edit("a.go", "x\ny\n")
	<-greeted
	release()
	p.settled()
	if got, want := p.edit("a.go", "x\nbad\n"), "fake reports 1 new error:\na.go:2:1: undefined: bad"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// A change that is taken back before the server is told of it is none.
func TestUnchangedText(t *testing.T) {
	f := newFake(t)
	f.before = func(_ *fake, method string, params json.RawMessage) bool {
		if method == "textDocument/didChange" {
			t.Errorf("%s", params)
		}
		return true
	}
	greeted, release := holdGreeting(f)
	p := newProject(t, f)
	p.write("a.go", "x\n")
	p.edit("a.go", "bad\n")
	<-greeted
	p.edit("a.go", "x\n")
	release()
	p.settled()
	if got := p.edit("b.go", "bad\n"); got == "" {
		t.Error("the server is not heard")
	}
}
