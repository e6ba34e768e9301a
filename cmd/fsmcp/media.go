package main

import (
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
	"github.com/fsmcp/fsmcp/internal/owndir"
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

// newPDFWorkers makes the pool of those who read PDFs. Each gets ready before its
// first document: on a machine where that was never done it takes seconds.
func newPDFWorkers(log zerolog.Logger, cache *cacheCheck) *worker.Pool {
	o := cache.checkBeforeStart(workerOptions(findReader, 1, log))
	o.First = darkroom.Warming()
	return worker.New(o)
}

// newCompiler makes the pool of the one that readies PDFium for later ones.
func newCompiler(log zerolog.Logger, cache *cacheCheck) *worker.Pool {
	return worker.New(cache.checkBeforeStart(workerOptions(findMedia, 1, log)))
}

// cacheCheck tells when the cache of compiled code is not used, since another user
// may have written it. The processes that would use it see that for themselves.
type cacheCheck struct {
	log      zerolog.Logger
	announce func(notices ...string)

	mu       sync.Mutex
	reported string
}

// checkBeforeStart has the cache looked at before each process starts.
func (c *cacheCheck) checkBeforeStart(o worker.Options) worker.Options {
	command := o.Command
	o.Command = func() (string, []string) {
		c.check()
		return command()
	}
	return o
}

// check tells the same thing once.
func (c *cacheCheck) check() {
	_, err := owndir.Compiled()
	if err == nil {
		return
	}
	c.mu.Lock()
	news := err.Error() != c.reported
	c.reported = err.Error()
	c.mu.Unlock()
	if news {
		c.announce(untrusted(err) + untrustedRemedy)
		c.log.Warn().Msg(untrusted(err))
	}
}

func workerOptions(find func() string, size int, log zerolog.Logger) worker.Options {
	p := &locatedProgram{find: find}
	return worker.Options{
		Command:  func() (string, []string) { return p.path(), []string{"fsmcp", "media-worker"} },
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

// locatedProgram is one that is looked for when it is first needed, and again where it has
// gone since: a server lives on while its programs are put elsewhere by an upgrade.
type locatedProgram struct {
	find func() string

	mu    sync.Mutex
	found string
}

func (p *locatedProgram) path() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isFile(p.found) {
		p.found = p.find()
	}
	return p.found
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
	return ownProgram()
}

// findReader names the program that reads PDFs: the companion without C, else
// this program itself, which says that it cannot.
func findReader() string {
	if path := findMedia(); path != "" {
		return path
	}
	return ownProgram()
}

// ownProgram is this very program, also where the file that it was started from has been
// deleted or replaced, if the system can still name it then.
func ownProgram() string {
	if runtime.GOOS == "linux" && isFile(ownImage) {
		return ownImage
	}
	return ownFile()
}

// ownImage is what Linux calls the program that a process runs.
const ownImage = "/proc/self/exe"

// ownFile is the file that this program was started from.
func ownFile() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	path, err := exec.LookPath(os.Args[0]) // where there is no /proc
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

// findMedia is the companion: the one FSMCP_MEDIA names, or the one beside fsmcp.
func findMedia() string {
	if path := namedBy("FSMCP_MEDIA"); path != "" {
		return path
	}
	return beside("fsmcp-media")
}

// findVips is the program with libvips: the one FSMCP_VIPS names, or the one
// beside fsmcp. A broken one is as good as none.
func findVips() string {
	path := namedBy("FSMCP_VIPS")
	if path == "" {
		path = beside("fsmcp-vips")
	}
	if path == "" || engineVersion(path) == "" {
		return ""
	}
	return path
}

// namedBy is the program that a variable names, by its path or as a shell would find
// it; empty: the variable names none.
func namedBy(variable string) string {
	name := os.Getenv(variable)
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}

// beside is a program in the folder that this one lies in; empty: there is none.
func beside(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if path := filepath.Join(filepath.Dir(ownFile()), name); isFile(path) {
		return path
	}
	return ""
}

// engineVersion asks a program what it is.
func engineVersion(path string) string {
	return worker.Ask(path, []string{"version"}, workerEnv(), 2*time.Second)
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
