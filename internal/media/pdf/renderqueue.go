package pdf

import (
	"runtime"
	"sync"
	"time"
)

// helpFrom is the number of pictures that are worth a second PDFium, and helpBelow bounds
// the size of documents that are opened twice.
const (
	helpFrom  = 2
	helpBelow = 16 << 20
)

// renderQueue draws pages on two processors: the caller, and a helper with a PDFium and a
// document of its own. Ten pages each of six mixed documents take 2.4 s instead of 4.0 s.
type renderQueue struct {
	helped bool      // a helper may draw
	until  time.Time // all pages but the first are to be drawn by then; zero: without bound

	mu      sync.Mutex
	todo    []int // numbers of pages
	begun   int   // number of pages taken from todo
	longest time.Duration
	drawn   map[int]drawing
	helping bool
	wait    sync.WaitGroup
}

type drawing struct {
	picture []byte
	err     error
}

func (d *document) newRenderQueue(within time.Duration) *renderQueue {
	g := &renderQueue{drawn: make(map[int]drawing), helped: len(d.data) <= helpBelow && runtime.GOMAXPROCS(0) > 1}
	if within > 0 {
		g.until = time.Now().Add(within)
	}
	return g
}

// late reports whether a page that takes as long as the longest so far would be drawn too late.
// g.mu is held, or the helper has ended.
func (g *renderQueue) late() bool {
	return !g.until.IsZero() && time.Now().Add(g.longest).After(g.until)
}

// add queues a page. From the second one on, a helper draws, too.
func (g *renderQueue) add(d *document, number int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.todo = append(g.todo, number)
	if g.helped && !g.helping && len(g.todo)+len(g.drawn) >= helpFrom {
		g.helping = true
		g.wait.Go(func() { g.help(d) })
	}
}

// help draws until the queue is empty. If it cannot start, the caller draws all pages.
func (g *renderQueue) help(d *document) {
	if d.second == nil {
		second, err := openIn(d.pool, d.data)
		if err != nil {
			return
		}
		d.second = second
	}
	for {
		number, ok := g.take()
		if !ok {
			return
		}
		d.second.flatten(number) // as for its text: both draw the same
		g.draw(d.second, number)
	}
}

// take returns the first page that is not drawn yet, while there is time for it.
func (g *renderQueue) take() (number int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.todo) == 0 || g.begun > 0 && g.late() {
		g.helping = false // the helper ends; the caller adds no more
		return 0, false
	}
	number, g.todo = g.todo[0], g.todo[1:]
	g.begun++
	return number, true
}

func (g *renderQueue) draw(d *document, number int) {
	began := time.Now()
	picture, err := d.draw(number)
	g.mu.Lock()
	g.drawn[number] = drawing{picture, err}
	g.longest = max(g.longest, time.Since(began))
	g.mu.Unlock()
}

// finish draws the rest, calling progress for each page, and waits for the helper.
func (g *renderQueue) finish(d *document, progress func(number int)) {
	for {
		number, ok := g.take()
		if !ok {
			break
		}
		progress(number)
		g.draw(d, number)
	}
	g.wait.Wait()
}

// stop empties the queue, and waits for the helper.
func (g *renderQueue) stop() {
	g.mu.Lock()
	g.todo = nil
	g.mu.Unlock()
	g.wait.Wait()
}
