package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// mediaCommand runs the process that decodes pictures. The server starts it.
func mediaCommand(process) *cobra.Command {
	return &cobra.Command{
		Use:    "media-worker",
		Short:  "Decode pictures for a server; started by it, not by hand",
		Hidden: true,
		Args:   takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			return worker.Run(decoder.Handler(raster.Engine{}, nil))
		},
	}
}

// Bounds of the workers (source: the specification of media, "Where the work is
// done").
const (
	workerDeadline = 10 * time.Second
	workerMemory   = 1 << 30
	workerHeap     = "768MiB"
	workerJobs     = 200
	workerIdle     = 2 * time.Minute
)

// newWorkers makes the pool of the picture decoders. It starts nothing, and looks for no
// program before the first job.
func (s process) newWorkers(log zerolog.Logger) *worker.Pool {
	return worker.New(s.workerOptions(findEngine, max(1, min(2, runtime.NumCPU())), log))
}

// newPDFWorkers makes the pool of the PDF readers. Each compiles PDFium before its first
// document, unless the cache has it; that takes seconds.
func (s process) newPDFWorkers(log zerolog.Logger, cache *cacheCheck) *worker.Pool {
	o := cache.checkBeforeStart(s.workerOptions(findReader, 1, log))
	o.First = decoder.WarmJob()
	return worker.New(o)
}

// newCompiler makes the pool of the one process that compiles PDFium ahead of use.
func (s process) newCompiler(log zerolog.Logger, cache *cacheCheck) *worker.Pool {
	return worker.New(cache.checkBeforeStart(s.workerOptions(findMedia, 1, log)))
}

// cacheCheck reports that the cache of compiled code is not used because another user may
// have written it. The worker processes check that themselves, too.
type cacheCheck struct {
	log    zerolog.Logger
	notify func(notices ...string)

	mu       sync.Mutex
	reported string
}

// checkBeforeStart checks the cache before each process starts.
func (c *cacheCheck) checkBeforeStart(o worker.Options) worker.Options {
	command := o.Command
	o.Command = func() (string, []string) {
		c.check()
		return command()
	}
	return o
}

// check reports the same fault once.
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
		c.notify(untrusted(err) + untrustedRemedy)
		c.log.Warn().Msg(untrusted(err))
	}
}

func (s process) workerOptions(find func() string, size int, log zerolog.Logger) worker.Options {
	p := &locatedProgram{find: find}
	return worker.Options{
		Command:  func() (string, []string) { return p.path(), []string{"fsmcp", "media-worker"} },
		Env:      workerEnv(),
		Size:     size,
		Deadline: s.slowdown * workerDeadline,
		Memory:   workerMemory,
		Jobs:     workerJobs,
		Idle:     workerIdle,
		Lost: func(why error, stderr string) {
			log.Warn().Err(why).Str("stderr", stderr).Msg("a media worker was lost")
		},
	}
}

// locatedProgram looks for a program when it is first needed, and again when it is gone:
// an upgrade may move the programs of a running server.
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

// workerEnv returns a worker's whole environment: no secrets.
func workerEnv() []string {
	env := []string{"GOMEMLIMIT=" + workerHeap, "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1", "GORACE=atexit_sleep_ms=0"}
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
	if path := findVips(); path != "" {
		return path
	}
	if path := findMedia(); path != "" && engineVersion(path) != "" {
		return path
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

// findMedia returns the fsmcp-media that FSMCP_MEDIA names, or the one beside fsmcp.
func findMedia() string {
	return cmp.Or(namedBy("FSMCP_MEDIA"), beside("fsmcp-media"))
}

// findVips returns the fsmcp-vips that FSMCP_VIPS names, or the one beside fsmcp. It
// returns "" for one that does not start.
func findVips() string {
	path := vipsPath()
	if path == "" || engineVersion(path) == "" {
		return ""
	}
	return path
}

// vipsPath returns that fsmcp-vips whether it starts or not.
func vipsPath() string {
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
