package lsp

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

func TestURIs(t *testing.T) {
	for _, path := range []string{"/w/a.go", "/w/a b/ä%#?.go", "/w/x:y.go"} {
		path = nativetest.Name(path)
		if got, ok := pathOf(uriOf(path)); !ok || got != path {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	for uri, want := range map[string]string{
		"file:///w/a%20b.go": "/w/a b.go", "file:///w/%F0%9F%98%80.go": "/w/😀.go", "file:///w/../x.go": "/x.go",
		"http://h/w/a.go": "", "untitled:x": "", "file://host/a": "", "file:a": "", "file:///a%00b": "", "\x00": "",
	} {
		if nativetest.Windows && want != "" {
			uri, want = strings.Replace(uri, "file:///", "file:///c:/", 1), nativetest.Name(want)
		}
		if got, ok := pathOf(uri); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", uri, got, ok)
		}
	}
}
