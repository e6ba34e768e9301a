package app

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// Bounds of the decoder processes.
const (
	workerDeadline = 10 * time.Second
	WorkerMemory   = 1 << 30
	workerJobs     = 200
	workerIdle     = 2 * time.Minute
)

// Programs are the programs that decode. Each function is called before a process starts.
type Programs struct {
	Pictures func() string // decodes pictures
	PDFs     func() string // reads PDFs and Office documents, or answers that it cannot
	Media    func() string // fsmcp-media, which compiles PDFium; "" if there is none
	ReadPDFs bool          // PDFs can read them
	Env      []string      // their whole environment
}

// decoders holds the pools of the processes that decode.
type decoders struct {
	pictures *worker.Pool
	pdfs     *worker.Pool
	office   *worker.Pool // reads Office documents, in a process that compiles no PDFium
	compiler *worker.Pool // compiles PDFium in the background
	cache    *cacheCheck
	media    func() string
}

// newDecoders makes the pools. It starts nothing, and looks for no program before the first
// job. A process that reads PDFs compiles PDFium before its first document, unless the cache
// has it; that takes seconds.
func newDecoders(o Options) decoders {
	d := decoders{media: o.Programs.Media, cache: &cacheCheck{log: o.Log}}
	d.pictures = worker.New(o.worker(o.Programs.Pictures, max(1, min(2, runtime.NumCPU()))))
	reader := d.cache.checkBeforeStart(o.worker(o.Programs.PDFs, 1))
	reader.First = decoder.WarmJob()
	d.pdfs = worker.New(reader)
	d.office = worker.New(o.worker(o.Programs.PDFs, 1))
	compiler := o.worker(o.Programs.Media, 1)
	compiler.Cage = nil // it sees no input, and stores what it compiles
	d.compiler = worker.New(d.cache.checkBeforeStart(compiler))
	return d
}

// close ends the processes. compilePDFium closes the compiler.
func (d decoders) close() {
	d.pdfs.Close()
	d.office.Close()
	d.pictures.Close()
}

// Cage returns the cage of decoders, which may read fsmcp's cache; nil: there is none.
func Cage() *worker.Cage { return cage() }

var cage = sync.OnceValue(func() *worker.Cage { return worker.SystemCage(owndir.Cache()) })

// worker returns the options of a pool of size processes.
func (o Options) worker(find func() string, size int) worker.Options {
	return worker.Options{
		Command:  func() (string, []string) { return find(), []string{"fsmcp", "media-worker"} },
		Env:      o.Programs.Env,
		Cage:     Cage(),
		Size:     size,
		Deadline: o.Slowdown * workerDeadline,
		Memory:   WorkerMemory,
		Jobs:     workerJobs,
		Idle:     workerIdle,
		Lost: func(why error, stderr string) {
			o.Log.Warn().Err(why).Str("stderr", stderr).Msg("a media worker was lost")
		},
	}
}

// cacheCheck reports that the cache of compiled code is not used because another user may
// have written it. The worker processes check that themselves, too.
type cacheCheck struct {
	log    zerolog.Logger
	notify func(notices ...string)

	reported atomic.Value // the last fault, a string
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
	if c.reported.Swap(err.Error()) != err.Error() {
		c.notify(untrusted(err) + untrustedRemedy)
		c.log.Warn().Msg(untrusted(err))
	}
}
