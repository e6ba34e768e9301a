package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// mediaCommand runs the process that decodes pictures. The server starts it.
func mediaCommand(process) *cobra.Command {
	return &cobra.Command{
		Use:    "media-worker",
		Short:  "Decode pictures for a server; started by it, not by hand",
		Hidden: true,
		Args:   takes(0, 1),
		RunE: func(_ *cobra.Command, words []string) error {
			if slices.Equal(words, []string{worker.SandboxWord}) {
				return worker.PrintSandbox()
			}
			return worker.Run(decoder.Handler(raster.Engine{}, nil, nil))
		},
	}
}

// programs returns the programs that decode for a session.
func programs() app.Programs {
	return app.Programs{Pictures: located(findEngine), PDFs: located(findReader), Media: located(findMedia), ReadPDFs: isFile(findMedia()), Env: workerEnv()}
}

// located remembers what find returned, and looks again when that is gone: an upgrade may
// move the programs of a running server.
func located(find func() string) func() string {
	var mu sync.Mutex
	found := ""
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		if !isFile(found) {
			found = find()
		}
		return found
	}
}

// workerHeap bounds a worker's Go heap.
const workerHeap = "768MiB"

// workerEnv returns a worker's whole environment: no secrets. libvips uses no temporary
// files for large pictures: the sandbox forbids them.
func workerEnv() []string {
	env := []string{"GOMEMLIMIT=" + workerHeap, "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1", "VIPS_DISC_THRESHOLD=8g", "GORACE=atexit_sleep_ms=0"}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "TMPDIR", "LOCALAPPDATA", "SYSTEMROOT", "TEMP"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// findEngine returns the program that decodes pictures: fsmcp-vips if it starts, else
// fsmcp-media, else this program.
func findEngine() string {
	for _, path := range []string{findVips(), findMedia()} {
		if path != "" && engineVersion(path) != "" {
			return path
		}
	}
	return ownProgram()
}

// findReader returns the program that reads PDFs: fsmcp-media, else this program, whose
// worker answers that it cannot.
func findReader() string {
	return cmp.Or(findMedia(), ownProgram())
}

// ownProgram returns this program. On Linux that also works after its file was deleted or
// replaced.
func ownProgram() string {
	if runtime.GOOS == "linux" && isFile(ownImage) {
		return ownImage
	}
	return ownFile()
}

// ownImage is Linux's name for the program that a process runs.
const ownImage = "/proc/self/exe"

// ownFile returns the file that this program was started from.
func ownFile() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	path, err := exec.LookPath(os.Args[0]) // without /proc
	if err != nil {
		return os.Args[0]
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// findMedia returns the fsmcp-media that FSMCP_MEDIA names, or the one beside fsmcp.
func findMedia() string {
	return cmp.Or(namedBy("FSMCP_MEDIA"), beside("fsmcp-media"))
}

// findVips returns the fsmcp-vips that FSMCP_VIPS names, or the one beside fsmcp, whether it
// starts or not.
func findVips() string {
	return cmp.Or(namedBy("FSMCP_VIPS"), beside("fsmcp-vips"))
}

// namedBy returns the program that a variable names, by its path or as a shell would find
// it; "" if the variable is empty.
func namedBy(variable string) string {
	name := os.Getenv(variable)
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}

// beside returns a program in this program's folder; "" if there is none.
func beside(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if path := filepath.Join(filepath.Dir(ownFile()), name); isFile(path) {
		return path
	}
	return ""
}

// engineVersion runs a program's version command.
func engineVersion(path string) string {
	return worker.Ask(path, []string{"version"}, workerEnv(), 2*time.Second)
}

// engines lists the decoders: this program's own, and those that the programs beside it
// name.
func engines() []string {
	all := []string{"go"}
	for _, path := range []string{findMedia(), findVips()} {
		if path != "" {
			all = append(all, strings.Fields(engineVersion(path))...)
		}
	}
	return all
}
