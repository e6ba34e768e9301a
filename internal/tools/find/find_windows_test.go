package find

import "testing"

func TestNativeNames(t *testing.T) {
	n := naming{base: []string{`C:\proj`}}
	for name, want := range map[string]string{
		`C:\proj\all.txt`: "all.txt", `C:\proj\x\new.txt`: `x\new.txt`, `C:\projects\a`: `C:\projects\a`, `C:\proj\~\a`: `.\~\a`, `C:\proj`: `C:\proj`,
	} {
		if got := n.name(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}
