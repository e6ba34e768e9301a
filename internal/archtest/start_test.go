package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// Bounds of what the initialisers of all packages of fsmcp allocate at a start: 1,006 times
// and 199 KB when they were set, which takes under 0.6 ms; 2,728 times and 776 KB took 1.2 ms.
// jsonschema-go, which mcp-go's package of types imports, allocates 296 of them.
const (
	maxInitAllocations = 1100
	maxInitBytes       = 230_000
	maxOwnAllocations  = 25 // of one package of this module
)

// TestInitialisers counts allocations, since times vary from run to run. Tables that a
// session may never use belong in a function or a sync.OnceValue.
func TestInitialisers(t *testing.T) {
	nativetest.NeedProgram(t, "go")
	program := filepath.Join(t.TempDir(), "fsmcp.exe") // Windows needs the suffix
	// As make build does, so that what it compiled is compiled; no cgo, no look at the repository.
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "./cmd/fsmcp")
	build.Dir, build.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program, "--version")
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	bytes, allocations := 0, 0
	for _, m := range line.FindAllStringSubmatch(string(out), -1) {
		size, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		bytes, allocations = bytes+size, allocations+n
		if strings.HasPrefix(m[1], module+"/") && n > maxOwnAllocations {
			t.Errorf("%s allocates %d times at the start, more than %d", m[1], n, maxOwnAllocations)
		}
	}
	if first, _, _ := strings.Cut(string(out), "init internal/godebug "); !strings.Contains(first, module+"/internal/stack ") {
		t.Errorf("internal/stack is not among the first packages that are initialised: the stack has grown in others\n%s", out)
	}
	if allocations == 0 || allocations > maxInitAllocations || bytes > maxInitBytes {
		t.Errorf("the initialisers make %d allocations of %d bytes, more than %d of %d:\n%s", allocations, bytes, maxInitAllocations, maxInitBytes, out)
	}
	t.Logf("%d allocations, %d bytes", allocations, bytes)
}
