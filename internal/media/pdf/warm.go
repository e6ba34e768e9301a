package pdf

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// memoryPages bounds PDFium's memory, in pages of 64 KB: half a gigabyte.
const memoryPages = 8192

// reportEvery is the time between two progress reports of compiling.
const reportEvery = time.Second

// Warm starts PDFium. It loads the code that an earlier process compiled, or compiles it, which
// takes seconds, and keeps it for later processes. Damaged code is deleted and compiled again;
// if nothing can be kept, PDFium is compiled for this process alone. progress receives the
// seconds that compiling takes.
func (r *Reader) Warm(progress media.Progress) (err error) {
	if r.pool != nil {
		return nil
	}
	if c, held := r.openFolder(); held != nil {
		err = held
	} else {
		r.pool, err = c.load()
	}
	if err != nil {
		r.pool, err = r.compile(progress, true)
	}
	debug.FreeOSMemory() // compiling takes much
	return err
}

// ErrNotKept is wrapped by the error of Prepare if nothing can be kept.
var ErrNotKept = errors.New("PDFium is compiled anew by each process that reads PDFs, as its cache folder is full or cannot be written")

// Prepare compiles PDFium for later processes, unless it is compiled. If nothing can be kept,
// the error is ErrNotKept, with the folder; if that shows before, nothing is compiled.
func (r *Reader) Prepare(progress media.Progress) (err error) {
	if r.pool != nil || r.ready() == nil {
		return nil
	}
	r.pool, err = r.compile(progress, false)
	debug.FreeOSMemory()
	if err != nil {
		return err
	}
	if err := r.ready(); err != nil { // not even what was compiled just now
		return fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return nil
}

// ready returns an error that names the folder unless what is needed lies there.
func (r *Reader) ready() error {
	c, err := r.openFolder()
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		return own
	}
	if err != nil || !c.sound() {
		return errors.New(cmp.Or(string(r.cache), "none is known"))
	}
	return nil
}

// The steps that progress names.
const (
	compilingOnce = "readying PDFium, which is compiled once on this machine"
	compilingAnew = "readying PDFium, which is compiled anew each time where its cache folder is full or cannot be written"
)

// compile starts PDFium under the folder's lock, so that code which another process
// compiled meanwhile is not compiled again. If nothing can be stored, it compiles for this
// process alone, or, without alone, returns a nil pool.
func (r *Reader) compile(progress media.Progress, alone bool) (pool pdfium.Pool, err error) {
	var what atomic.Value
	what.Store(compilingOnce)
	defer every(reportEvery, progress, &what)()
	t := lockFolder(string(r.cache), r.timeouts)
	defer t.unlock()
	if pool, err = r.compileInto(t); err == nil {
		return pool, nil
	}
	if !alone {
		return nil, nil
	}
	what.Store(compilingAnew)
	return start(nil)
}

// errNoRoom: nothing can be kept in the folder.
var errNoRoom = errors.New("no room for compiled code")

// compileInto starts PDFium, and leaves it compiled in the folder, which it makes.
func (r *Reader) compileInto(t *folderLock) (pdfium.Pool, error) {
	if r.cache != "" {
		_ = os.MkdirAll(string(r.cache), 0o700) // openFolder reports a failure
	}
	c, err := r.openFolder()
	if err != nil {
		return nil, err
	}
	if !c.clean() || len(c.files()) == 0 && !c.usable() {
		return nil, errNoRoom
	}
	return c.start(t)
}

// every reports each period how many have passed, until end is called.
func every(period time.Duration, progress media.Progress, what *atomic.Value) (end func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(period)
		defer tick.Stop()
		for n := int64(1); ; n++ {
			select {
			case <-tick.C:
				progress(n, 0, what.Load().(string))
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// load starts PDFium with the folder's files, if they are sound. It takes no lock, so a
// slow or stopped process delays no other. A file that is removed meanwhile is compiled
// again, by this process alone if necessary.
func (c compiled) load() (pdfium.Pool, error) {
	if c == "" || !c.sound() {
		return nil, os.ErrNotExist
	}
	kept, err := wazero.NewCompilationCacheWithDir(string(c))
	if err != nil {
		return nil, err
	}
	return start(kept)
}

// start starts PDFium with the folder's files, which are all known to be sound, and adds
// the missing ones.
func (c compiled) start(t *folderLock) (pdfium.Pool, error) {
	kept, err := wazero.NewCompilationCacheWithDir(string(c))
	if err != nil {
		return nil, err
	}
	pool, err := start(kept)
	if err != nil {
		if t.owned() {
			c.empty()
			wazero.NewCompilationCacheWithDir(string(c)) // the folders in it are asked for again
		}
		// What was compiled and could not be written, as on a full disk, is still
		// in memory: it is not compiled twice.
		if pool, err = start(kept); err != nil {
			return nil, err
		}
	}
	if t.owned() && (len(c.files()) == 0 || c.writeList() != nil) {
		c.empty() // or the next would not know whether it is sound
	}
	return pool, nil
}

// start starts PDFium with a cache of compiled code; nil: none.
func start(kept wazero.CompilationCache) (pool pdfium.Pool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("PDFium cannot be readied: %v", p)
		}
	}()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages)
	if kept != nil {
		config = config.WithCompilationCache(kept)
	}
	return webassembly.Init(webassembly.Config{
		MaxTotal: 2, MinIdle: 1, MaxIdle: 1, RuntimeConfig: config, FSConfig: fonts(), Stdout: io.Discard, Stderr: io.Discard,
	})
}

// fonts returns the system's folders of fonts, for text without embedded fonts.
func fonts() wazero.FSConfig {
	config := wazero.NewFSConfig()
	for _, dir := range []string{"/usr/share/fonts", "/usr/share/X11/fonts", "/usr/local/share/fonts", "/usr/share/fonts/truetype", "/System/Library/Fonts", "/Library/Fonts"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			config = config.WithReadOnlyDirMount(dir, dir)
		}
	}
	return config
}
