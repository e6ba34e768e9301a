package pdf

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

// memoryPages bounds PDFium's memory, in pages of 64 KB: half a gigabyte.
const memoryPages = 8192

// turnWithin is how long another process that compiles is waited for. One that
// takes longer has lost its way: two then compile beside each other.
const turnWithin = 60 * time.Second

// tellEvery is how often it is told how long readying takes.
const tellEvery = time.Second

// Warm readies PDFium: it is compiled, which takes seconds, or read where an
// earlier process has done that. What was kept and is damaged is thrown away and
// made anew; where nothing can be kept, it is compiled for this process alone.
// told hears how many seconds it takes where it has to be compiled.
func (r *Reader) Warm(told func(done, total int64, what string)) error {
	if r.pool != nil {
		return nil
	}
	what := "readying PDFium, which is compiled once on this machine"
	if !r.cache.usable() {
		what = "readying PDFium, which is compiled anew each time where its cache folder cannot be written"
	}
	defer every(tellEvery, told, what)()
	pool, err := r.cache.load()
	if err != nil {
		defer lockFolder(string(r.cache), alone, turnWithin)()
		pool, err = r.cache.start()
	}
	if err != nil {
		pool, err = start("")
	}
	r.pool = pool
	debug.FreeOSMemory() // compiling takes much
	return err
}

// Prepare sees to it that PDFium lies compiled for later processes. Where
// nothing can be kept it does nothing.
func (r *Reader) Prepare(told func(done, total int64, what string)) error {
	if !r.cache.usable() || r.ready() {
		return nil
	}
	return r.Warm(told)
}

// ready tells whether an earlier process of the same make has left what is
// needed, undamaged.
func (r *Reader) ready() bool {
	defer lockFolder(string(r.cache), beside, turnWithin)()
	return r.cache.sound()
}

// every tells each period, until it is ended, how many have passed.
func every(period time.Duration, told func(done, total int64, what string), what string) (end func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(period)
		defer tick.Stop()
		for n := int64(1); ; n++ {
			select {
			case <-tick.C:
				told(n, 0, what)
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// load starts PDFium by what lies in the folder, if that is sound. Others may do
// so at the same time: one that is stopped or slow keeps nobody waiting.
func (c compiled) load() (pdfium.Pool, error) {
	if c == "" {
		return nil, os.ErrNotExist
	}
	defer lockFolder(string(c), beside, turnWithin)()
	if !c.sound() {
		return nil, os.ErrNotExist
	}
	return start(string(c))
}

// start starts PDFium by what lies in the folder, and leaves there what was
// missing. It is called in the folder's turn.
func (c compiled) start() (pdfium.Pool, error) {
	if c == "" {
		return nil, os.ErrNotExist
	}
	known, clean := c.clean()
	if !clean || len(known) == 0 && !c.usable() {
		return nil, os.ErrPermission // to be run is only what is known to be sound
	}
	pool, err := start(string(c))
	if err != nil {
		os.RemoveAll(string(c))
		return nil, err
	}
	if c.seal(known) != nil {
		os.RemoveAll(string(c)) // or the next would not know whether it is sound
	}
	return pool, nil
}

// start starts PDFium; compiled code is read from and written to a folder.
func start(cache string) (pool pdfium.Pool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("PDFium cannot be readied: %v", p)
		}
	}()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages)
	if cache != "" {
		kept, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(kept)
	}
	return webassembly.Init(webassembly.Config{
		MaxTotal: 2, MinIdle: 1, MaxIdle: 1, RuntimeConfig: config, FSConfig: fonts(), Stdout: io.Discard, Stderr: io.Discard,
	})
}

// fonts are the folders that text without fonts of its own is drawn from.
func fonts() wazero.FSConfig {
	config := wazero.NewFSConfig()
	for _, dir := range []string{"/usr/share/fonts", "/usr/share/X11/fonts", "/usr/local/share/fonts", "/usr/share/fonts/truetype", "/System/Library/Fonts", "/Library/Fonts"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			config = config.WithReadOnlyDirMount(dir, dir)
		}
	}
	return config
}
