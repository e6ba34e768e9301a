//go:build unix

package clipboard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// standIn returns a Reader whose program is a shell script.
func standIn(t *testing.T, p Program, script string) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.Name)
	if err := mcptest.WriteProgram(path, script); err != nil {
		t.Fatal(err)
	}
	r := New(p, func(name string) (string, error) {
		if name != p.Name {
			return "", fmt.Errorf("%s was looked for", name)
		}
		return path, nil
	})
	r.Timeout = time.Minute
	return r
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		goos    string
		wayland bool
		want    string
	}{{"linux", true, "wl-paste"}, {"linux", false, "xclip"}, {"freebsd", false, "xclip"}, {"darwin", true, "osascript"}, {"windows", false, "powershell"}} {
		if got := Of(c.goos, c.wayland); got.Name != c.want {
			t.Errorf("%s, wayland %v: %s", c.goos, c.wayland, got.Name)
		}
	}
}

// What the programs print, and what becomes of it. The scripts answer with the arguments
// that the real programs take.
func TestPrograms(t *testing.T) {
	const xclip = `case "$*" in
"-selection clipboard -t TARGETS -o") printf 'TARGETS\n%s' "$TYPES";;
"-selection clipboard -t image/png -o") printf 'png';;
"-selection clipboard -t image/jpeg -o") printf 'jpeg';;
"-selection clipboard -t UTF8_STRING -o") printf 'a\r\nb\n';;
"-selection clipboard -t STRING -o") ;;
"-selection clipboard -t text/uri-list -o") printf 'file:///a%%20b\r\n';;
*) echo "bad arguments: $*" >&2; exit 3;;
esac
`
	const wlPaste = `case "$*" in
"--list-types") printf "$TYPES";;
"--no-newline --type image/png") printf 'png';;
"--no-newline --type text/plain") printf 'text';;
*) echo "bad arguments: $*" >&2; exit 3;;
esac
`
	const osascript = `case "$2" in
"clipboard info") echo "$TYPES";;
"the clipboard as «class PNGf»") echo "«data PNGf706E67»";;
"the clipboard as «class TIFF»") echo "«data TIFF74»";;
"the clipboard as text") echo "text";;
*) echo "bad arguments: $*" >&2; exit 3;;
esac
`
	for name, c := range map[string]struct {
		program       Program
		script, types string
		want          string
		picture       bool
		err           error
	}{
		"xclip, picture":             {XClip, xclip, "image/jpeg\nimage/png\nUTF8_STRING", "png", true, nil},
		"xclip, another picture":     {XClip, xclip, "UTF8_STRING\nimage/jpeg\n", "jpeg", true, nil},
		"xclip, text":                {XClip, xclip, "STRING\nUTF8_STRING\n", "a\nb\n", false, nil},
		"xclip, files":               {XClip, xclip, "UTF8_STRING\ntext/uri-list\n", "file:///a%20b\n", false, nil},
		"xclip, empty text":          {XClip, xclip, "STRING\n", "", false, ErrEmpty},
		"xclip, other types":         {XClip, xclip, "text/html\nimage/svg+xml\n", "", false, ErrEmpty},
		"xclip, empty":               {XClip, `echo "Error: target TARGETS not available" >&2; exit 1`, "", "", false, ErrEmpty},
		"wl-paste, picture":          {WLPaste, wlPaste, "text/plain\nimage/png\n", "png", true, nil},
		"wl-paste, text":             {WLPaste, wlPaste, "text/plain\n", "text", false, nil},
		"wl-paste, empty":            {WLPaste, `echo "Nothing is copied" >&2; exit 1`, "", "", false, ErrEmpty},
		"osascript, picture":         {OSAScript, osascript, "«class PNGf», 3, TIFF picture, 1", "png", true, nil},
		"osascript, TIFF":            {OSAScript, osascript, "TIFF picture, 1, Unicode text, 4", "t", true, nil},
		"osascript, text":            {OSAScript, osascript, "Unicode text, 8, string, 4", "text", false, nil},
		"osascript, empty":           {OSAScript, osascript, "", "", false, ErrEmpty},
		"PowerShell, picture":        {PowerShell, `printf 'picture cG5n\r\n'`, "", "png", true, nil},
		"PowerShell, text":           {PowerShell, `printf 'text YQ0KYg==\r\n'`, "", "a\nb", false, nil},
		"PowerShell, empty":          {PowerShell, `exit 0`, "", "", false, ErrEmpty},
		"PowerShell, half a picture": {PowerShell, `printf 'picture cG5'`, "", "", false, ErrEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TYPES", c.types)
			got, err := standIn(t, c.program, c.script).Read(t.Context())
			if string(got.Data) != c.want || got.Picture != c.picture || got.URIs != strings.HasPrefix(c.want, "file:") || !errors.Is(err, c.err) {
				t.Errorf("%q, picture %v, %v", got.Data, got.Picture, err)
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	r := New(WLPaste, func(string) (string, error) { return "", exec.ErrNotFound })
	_, err := r.Read(t.Context())
	if missing := (*MissingError)(nil); !errors.As(err, &missing) || missing.Program.Package != "wl-clipboard" {
		t.Errorf("%v", err)
	}
}

func TestProgramThatFails(t *testing.T) {
	for script, want := range map[string]string{
		`echo "Error: Can't open display: (null)" >&2; echo more >&2; exit 1`: "Error: Can't open display: (null)",
		`exit 3`:       "exit status 3",
		`kill -9 $$`:   "signal: killed",
		"\x00no shell": "",
	} {
		_, err := standIn(t, XClip, script).Read(t.Context())
		if failed := (*FailedError)(nil); !errors.As(err, &failed) || want != "" && failed.Said != want {
			t.Errorf("%q: %v", script, err)
		}
	}
}

// A program that hangs is killed with what it started.
func TestProgramThatHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := standIn(t, XClip, `sleep 300 & echo $! $$ >`+pids+`; trap "" TERM; wait; sleep 300`)
	r.Timeout = 2 * time.Second
	if _, err := r.Read(t.Context()); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Skipf("!!! NOT TESTED: the program did not start in %v !!!", r.Timeout)
	}
	for _, word := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); running(pid); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("process %d runs on", pid)
			}
		}
	}
}

// running reports whether a process runs; a zombie does not.
func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z") && syscall.Kill(pid, 0) == nil
}

// A caller that gives up ends the program.
func TestCallerGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := standIn(t, XClip, "sleep 300").Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Output without end is given up at the limit, and exactly the limit passes.
func TestLimit(t *testing.T) {
	r := standIn(t, XClip, `case "$*" in *TARGETS*) printf 'image/png\n';; *) yes;; esac`)
	r.Limit = 1 << 20
	_, err := r.Read(t.Context())
	if large := (*TooLargeError)(nil); !errors.As(err, &large) || large.Limit != r.Limit {
		t.Errorf("%v", err)
	}
	r = standIn(t, XClip, `case "$*" in *TARGETS*) printf 'image/png\n';; *) printf 0123456789;; esac`)
	r.Limit = 10
	if got, err := r.Read(t.Context()); err != nil || string(got.Data) != "0123456789" {
		t.Errorf("%q, %v", got.Data, err)
	}
}

// A process that the program leaves behind with its pipe delays nothing.
func TestProgramThatLeavesAProcess(t *testing.T) {
	r := standIn(t, XClip, `case "$*" in *TARGETS*) printf 'UTF8_STRING\n';; *) sleep 300 & printf text; echo $! >&2;; esac`)
	began := time.Now()
	got, err := r.Read(t.Context())
	if err != nil || string(got.Data) != "text" || time.Since(began) > 30*time.Second {
		t.Errorf("%q, %v after %v", got.Data, err, time.Since(began))
	}
}
