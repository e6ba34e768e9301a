package pdf

import (
	"runtime"
	"slices"
	"sync"

	"github.com/fsmcp/fsmcp/internal/media"
)

// helpFrom is how many pictures are worth a second PDFium, and helpBelow the
// size of the documents that may be opened twice.
const (
	helpFrom  = 2
	helpBelow = 16 << 20
)

// gallery has pages drawn: by whoever asks, from the front, and by a helper with
// a PDFium and a document of its own, from the back.
type gallery struct {
	mu   sync.Mutex
	todo []int // numbers of pages
	made map[int]drawing
	wait sync.WaitGroup
}

type drawing struct {
	picture []byte
	err     error
}

// newGallery lets a helper begin with pages, where one is of use.
func (d *document) newGallery(pages []int) *gallery {
	g := &gallery{todo: pages, made: make(map[int]drawing)}
	if len(pages) >= helpFrom && len(d.data) <= helpBelow && runtime.GOMAXPROCS(0) > 1 {
		g.wait.Go(func() { g.help(d) })
	}
	return g
}

// help draws from the back. Where it cannot begin, nobody misses it.
func (g *gallery) help(d *document) {
	if d.second == nil {
		second, err := openIn(d.pool, d.data)
		if err != nil {
			return
		}
		d.second = second
	}
	for {
		number, ok := g.take(false)
		if !ok {
			return
		}
		d.second.flatten(number) // as the other did for its text: both draw the same
		g.draw(d.second, number)
	}
}

// take returns a page that nobody has drawn yet.
func (g *gallery) take(front bool) (number int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.todo)
	if n == 0 {
		return 0, false
	}
	if front {
		number, g.todo = g.todo[0], g.todo[1:]
	} else {
		number, g.todo = g.todo[n-1], g.todo[:n-1]
	}
	return number, true
}

func (g *gallery) draw(d *document, number int) {
	picture, err := d.draw(number)
	g.mu.Lock()
	g.made[number] = drawing{picture, err}
	g.mu.Unlock()
}

// finish draws what is left and waits for the helper. told hears of each page.
func (g *gallery) finish(d *document, told func(number int)) {
	for {
		number, ok := g.take(true)
		if !ok {
			break
		}
		told(number)
		g.draw(d, number)
	}
	g.wait.Wait()
}

// claim takes a page, if nobody has drawn it yet.
func (g *gallery) claim(number int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.todo, number)
	if i >= 0 {
		g.todo = slices.Delete(g.todo, i, i+1)
	}
	return i >= 0
}

// only leaves out what nobody wants any more.
func (g *gallery) only(pages []media.PDFPage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.todo = slices.DeleteFunc(g.todo, func(n int) bool {
		return !slices.ContainsFunc(pages, func(p media.PDFPage) bool { return p.Number == n })
	})
}

// leave has nothing more drawn, and waits for the helper.
func (g *gallery) leave() {
	g.mu.Lock()
	g.todo = nil
	g.mu.Unlock()
	g.wait.Wait()
}
