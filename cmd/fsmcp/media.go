package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/darkroom"
	"github.com/fsmcp/fsmcp/internal/media/goengine"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// mediaCommand is the worker that pictures are decoded in. fsmcp starts it
// itself.
func mediaCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "media-worker",
		Short:  "Decode pictures for a server; started by it, not by hand",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return worker.Run(darkroom.Handler(goengine.Engine{}, nil))
		},
	}
}

// Bounds of the workers (source: the specification of media, "Where the work is
// done").
const (
	workerDeadline = 10 * time.Second * slowdown
	workerMemory   = 1 << 30
	workerHeap     = "768MiB"
	workerJobs     = 200
	workerIdle     = 2 * time.Minute
)

// newWorkers makes the pool of those who decode. It starts nothing, and looks
// for no program before the first job.
func newWorkers(log zerolog.Logger) *worker.Pool {
	return worker.New(workerOptions(findEngine, max(1, min(2, runtime.NumCPU())), log))
}

// newReaders makes the pool of those who read PDFs. Each gets ready before its
// first document: on a machine where that was never done it takes seconds.
func newReaders(log zerolog.Logger) *worker.Pool {
	o := workerOptions(findReader, 1, log)
	o.First = darkroom.Warming()
	return worker.New(o)
}

// newCompiler makes the pool of the one that readies PDFium for later ones.
func newCompiler(log zerolog.Logger) *worker.Pool {
	return worker.New(workerOptions(findMedia, 1, log))
}

func workerOptions(find func() string, size int, log zerolog.Logger) worker.Options {
	engine := sync.OnceValue(find)
	return worker.Options{
		Command:  func() (string, []string) { return engine(), []string{"fsmcp", "media-worker"} },
		Env:      workerEnv(),
		Size:     size,
		Deadline: workerDeadline,
		Memory:   workerMemory,
		Jobs:     workerJobs,
		Idle:     workerIdle,
		Lost: func(why error, stderr string) {
			log.Warn().Err(why).Str("stderr", stderr).Msg("a media worker was lost")
		},
	}
}

// workerEnv is all that a worker sees of the environment: no secrets.
func workerEnv() []string {
	env := []string{"GOMEMLIMIT=" + workerHeap, "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1", "GORACE=atexit_sleep_ms=0"}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "TMPDIR", "LOCALAPPDATA", "SYSTEMROOT", "TEMP"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// findEngine names the program that decodes: one with libvips where there is one
// that starts, else what reads PDFs, too, else this program itself.
func findEngine() string {
	if path := findVips(); path != "" {
		return path
	}
	if path := findMedia(); path != "" && engineVersion(path) != "" {
		return path
	}
	return itself()
}

// findReader names the program that reads PDFs: the companion without C, else
// this program itself, which says that it cannot.
func findReader() string {
	if path := findMedia(); path != "" {
		return path
	}
	return itself()
}

func itself() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// findMedia is the companion: the one FSMCP_MEDIA names, or the one beside fsmcp.
func findMedia() string {
	if path := os.Getenv("FSMCP_MEDIA"); path != "" {
		return path
	}
	return beside("fsmcp-media")
}

// findVips is the program with libvips: the one FSMCP_VIPS names, or the one
// beside fsmcp. A broken one is as good as none.
func findVips() string {
	path := os.Getenv("FSMCP_VIPS")
	if path == "" {
		path = beside("fsmcp-vips")
	}
	if path == "" || engineVersion(path) == "" {
		return ""
	}
	return path
}

// beside is a program in the folder that this one lies in; empty: there is none.
func beside(name string) string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(own), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// engineVersion asks a program what it is.
func engineVersion(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = workerEnv()
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// engines says what there is to decode with: what this program has itself, and
// what those beside it say of themselves.
func engines() []string {
	all := []string{"go"}
	for _, path := range []string{findMedia(), findVips()} {
		if path != "" {
			all = append(all, strings.Fields(engineVersion(path))...)
		}
	}
	return all
}
