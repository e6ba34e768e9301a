package save

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, n := range []tempName{
		{Base: "main.go", Kind: byStamp, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"},
		{Base: ".fsmcp-", Kind: byDigest, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"},
		{Base: "x", Kind: newOnly, ID: "01234567"},
	} {
		if got, ok := parseTempName(n.String()); !ok || got != n {
			t.Errorf("%s: %+v, want %+v", n, got, n)
		}
	}
	n := tempName{Base: long, Kind: byStamp, ID: "01234567", New: "abcdefghjkmn", Old: "pqrstvwxyz01"}
	got, ok := parseTempName(n.String())
	if !ok || !strings.HasPrefix(long, got.Base) || len(n.String()) > 143 {
		t.Errorf("%s", n)
	}
	for _, name := range []string{
		"main.go", ".main.go", ".fsmcp-s", ".a.fsmcp-", ".a.fsmcp-s", ".a.fsmcp-n0123456", ".a.fsmcp-n012345678", "a.fsmcp-n01234567",
		".a.fsmcp-x01234567", ".a.fsmcp-s01234567", ".a.fsmcp-nI1234567", ".a.fsmcp-s01234567abcdefghjkmnpqrstvwxyz0", ".a.fsmcp-saved",
		".a.fsmcp-sabcdefghjkmnpqrstvwxyz01234567-", ".fsmcp-n01234567",
	} {
		if n, ok := parseTempName(name); ok {
			t.Errorf("%s was taken for %+v", name, n)
		}
	}
}
