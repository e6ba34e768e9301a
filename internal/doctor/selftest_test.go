//go:build unix

package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// TestSelfTestFails starts programs that are no server. The control is the real program,
// in testdata/script/doctor_*.txtar.
func TestSelfTestFails(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"hangs", "exec sleep 60", "no answer within"},
		{"leaves a child with its pipes", "sleep 3 & exec sleep 60", "no answer within"},
		{"ends at once", "echo oh no >&2; exit 3", `the server ended`},
		{"says why", "echo oh no >&2; exit 3", `"oh no"`},
		{"is no JSON", "echo hello; exec cat >/dev/null", "no JSON"},
		{"refuses", `read x; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not now"}}'; exec cat >/dev/null`, "was refused: not now"},
		{"speaks of something else first", `read x; echo '{"jsonrpc":"2.0","method":"notifications/x"}'; echo '{"jsonrpc":"2.0","id":1,"error":{"message":"later"}}'; exec cat >/dev/null`, "was refused: later"},
		{"has no tools", `while read x; do n=$((n+1)); echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}'; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'; done`, "tools/list has no Read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := filepath.Join(dir, "server")
			if err := mcptest.WriteProgram(program, c.script); err != nil {
				t.Fatal(err)
			}
			temp := filepath.Join(dir, "temp")
			if err := os.Mkdir(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			deadline := 20 * time.Second
			if strings.Contains(c.script, "sleep 60") {
				deadline = 300 * time.Millisecond
			}
			start := time.Now()
			checks := SelfTest(context.Background(), TestedProgram{
				Path: program, Args: []string{"server"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Temp: temp, Deadline: deadline,
				Home: func(string) []string { return nil },
			})
			if len(checks) != 2 {
				t.Fatal(checks)
			}
			says(t, checks[0], Fail, c.want, "2025-11-25 (initialize)", "fsmcp serve")
			if c.name != "has no tools" {
				says(t, checks[1], Fail, c.want, "2026-07-28 (server/discover)")
			}
			if took := time.Since(start); deadline < time.Second && took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	gone := SelfTest(context.Background(), TestedProgram{Path: "/no/such/program", Temp: t.TempDir(), Deadline: time.Second, Args: []string{"x"}, Home: func(string) []string { return nil }})
	says(t, gone[0], Fail, "does not start")
	nowhere := SelfTest(context.Background(), TestedProgram{Path: "/bin/true", Temp: "/no/such/folder", Deadline: time.Second, Args: []string{"x"}})
	says(t, nowhere[0], Fail, "/no/such/folder")
}
