// Package historypage shows the history in a browser: the changes by day and file, what each
// one did, and what to restore it would do; a second click restores it.
//
// It listens on the loopback address alone and serves one browser: the token in the address works
// once and becomes a cookie. A request needs the cookie, the right Host, and, to change something,
// the right Origin. The page loads nothing from elsewhere, and no text or picture of a file is
// ever served as a document or script. The server ends when the last page is closed.
//
// It decides nothing on its own: each request opens the history as a command does, asks the
// restorer what the rules let a user see, and restores through it what the preview showed.
package historypage

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/restore"
)

//go:embed page.html page.css page.js
var files embed.FS

// Options say what a page shows.
type Options struct {
	// Open opens the history with the rules of this moment, for the time of a call.
	Open func(use func(restore.Restorer) error) error
	// Below selects the changes to begin with; nil: all. Folder names them for people.
	Below  func(path string) bool
	Folder string
	// Ready is called with the address to open, once it can be opened.
	Ready func(address string)
	// First bounds the wait for a page, Gone that for another one after the last was closed.
	// 0 is a minute and six seconds.
	First, Gone time.Duration
}

// page is the server of one history.
type page struct {
	Options
	host   string // the one that a request may name
	cookie string // its name has the port: browsers send cookies to all ports of an address
	secret string // what the cookie holds

	mu       sync.Mutex // also lets one request at a time use the history
	token    string     // "" once it was used
	previews map[string]*restore.Preview
	pictures map[string]picture // those of the views that were asked for last
}

// Serve serves the page until it is closed or ctx ends.
func Serve(ctx context.Context, o Options) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := newPage(o, listener.Addr().String())
	viewers := newViewers(o.First, o.Gone, stop)
	server := &http.Server{Handler: p.handler(viewers), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	o.Ready("http://" + p.host + "/?token=" + p.token)
	select {
	case err = <-ended:
	case <-ctx.Done(): // event streams end with it; a restore under way does not
		err = server.Shutdown(context.WithoutCancel(ctx))
	}
	return err
}

func newPage(o Options, host string) *page {
	return &page{
		Options: o, host: host, cookie: "fsmcp-" + host[strings.IndexByte(host, ':')+1:], secret: rand.Text(), token: rand.Text(),
		previews: make(map[string]*restore.Preview), pictures: make(map[string]picture),
	}
}

func (p *page) handler(v *viewers) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", asset("page.html", "text/html"))
	mux.Handle("GET /page.css", asset("page.css", "text/css"))
	mux.Handle("GET /page.js", asset("page.js", "text/javascript"))
	mux.HandleFunc("GET /picture/{key}", p.servePicture)
	mux.HandleFunc("GET /events", v.serve)
	for pattern, answer := range map[string]func(restore.Restorer, *http.Request) (any, error){
		"GET /api/changes": p.changes, "GET /api/change": p.change, "POST /api/preview": p.preview, "POST /api/restore": p.restore,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.api(w, r, answer) })
	}
	return p.guarded(mux)
}

// asset serves a file of the page.
func asset(name, mime string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		content, _ := files.ReadFile(name) // it is embedded
		w.Header().Set("Content-Type", mime+"; charset=utf-8")
		w.Write(content)
	})
}

// problem is an error with a sentence for people.
type problem string

func (e problem) Error() string { return string(e) }

// api answers a request with JSON.
func (p *page) api(w http.ResponseWriter, r *http.Request, answer func(restore.Restorer, *http.Request) (any, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var object any
	err := p.Open(func(h restore.Restorer) (err error) {
		object, err = answer(h, r)
		return err
	})
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		object = map[string]string{"error": err.Error()}
	}
	json.NewEncoder(w).Encode(object)
}
