package tempname

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, n := range []Name{
		{Base: "main.go", Kind: ByStamp, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"},
		{Base: ".fsmcp-", Kind: ByDigest, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"},
		{Base: "x", Kind: Named, ID: "01234567"},
	} {
		if got, ok := Parse(n.String()); !ok || got != n {
			t.Errorf("%s: %+v, want %+v", n, got, n)
		}
	}
	n := Name{Base: long, Kind: ByStamp, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"}
	got, ok := Parse(n.String())
	if !ok || !strings.HasPrefix(long, got.Base) || len(n.String()) > 143 {
		t.Errorf("%s", n)
	}
	for _, name := range []string{
		"main.go", ".main.go", ".fsmcp-s", ".a.fsmcp-", ".a.fsmcp-s", ".a.fsmcp-n0123456", ".a.fsmcp-n012345678", "a.fsmcp-n01234567",
		".a.fsmcp-x01234567", ".a.fsmcp-s01234567", ".a.fsmcp-nI1234567", ".a.fsmcp-s01234567abcdefghjkmnpqrstvwxyz0", ".a.fsmcp-saved",
		".a.fsmcp-sabcdefghjkmnpqrstvwxyz01234567-", ".fsmcp-n01234567",
	} {
		if n, ok := Parse(name); ok {
			t.Errorf("%s was taken for %+v", name, n)
		}
	}
}
