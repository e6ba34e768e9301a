package server

import (
	"net/url"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// maxRoots bounds the number of a client's folders.
const maxRoots = 100

// maxUnusable bounds the number of those that are no folders of this machine.
const maxUnusable = 5

// roots holds the folders that the client works in. The server asks for them before the
// first call, and before the next call after the client reported a change. Calls wait for
// the answer for a bounded time; a late answer counts from then on.
type roots struct {
	conn *conn

	mu    sync.Mutex
	known bool        // the client's last answer is up to date
	round int         // number of times that calls had to wait
	timer *time.Timer // of the current round; nil if there is none
	held  []*job
	asked time.Time // first time that a call was answered by the question

	applying sync.Mutex // held while they are passed on
	applied  int        // round of the folders passed on last
	dirs     []string   // those folders
	unusable []string   // those that are no folders of this machine, as URIs
}

// changed notes that the client reported a change.
func (r *roots) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.asked = false, time.Time{}
}

// begin starts a round, which takes over the calls of an unfinished one.
func (r *roots) begin() (round int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.known = true
	r.round++
	round = r.round
	r.timer = time.AfterFunc(r.conn.opts.bounds.roots, func() { r.late(round) })
	return round
}

// queue keeps a call for the current round; it returns false if there is none.
func (r *roots) queue(j *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.held = append(r.held, j)
	}
	return r.timer != nil
}

// end ends a round, of number 0 whichever there is, and releases its calls, before later ones
// can overtake them. It reports whether the round was still open.
func (r *roots) end(round int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round && round != 0 || r.timer == nil {
		return false
	}
	r.timer.Stop()
	for _, j := range r.held {
		r.release(j)
	}
	r.held, r.timer = nil, nil
	return true
}

// state reports whether calls wait now, and else whether the client should be asked.
func (r *roots) state() (holding, wanted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timer != nil, !r.known
}

// due reports whether a call is to be answered by the question. If such an answer stayed
// without a reply for a while, it is not repeated.
func (r *roots) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known && r.asked.IsZero() {
		r.asked = time.Now()
	}
	r.known = r.known || time.Since(r.asked) >= r.conn.opts.bounds.roots
	return !r.known
}

// hold makes a call wait for the client's current folders. It reports whether it has
// handled the call: queued, or answered.
func (r *roots) hold(j *job, inputs wire.Value) bool {
	if !r.conn.opts.WantRoots {
		return false
	}
	modern := j.meta != nil
	if modern && inputs.Kind == wire.Object {
		if list := wire.Member(inputs.Raw, inputRoots); list.Kind != 0 {
			r.receive(r.begin(), list)
		}
	}
	holding, wanted := r.state()
	switch {
	case holding:
	case j.roots && wanted && r.due():
		r.askByAnswer(j)
		return true
	case !modern && wanted && r.conn.peer.capabilities.Roots != nil:
		r.ask()
	default:
		return false
	}
	if why := r.conn.pool.Park(&j.Job); why != "" {
		r.conn.refuse(j, why)
	} else if !r.queue(j) {
		r.release(j) // the round has ended meanwhile
	}
	return true
}

// ask asks a client of a revision before 2026-07-28.
func (r *roots) ask() {
	round := r.begin()
	id := r.conn.requests.add(func(result wire.Value) { r.receive(round, result) })
	r.conn.out.writeOut(r.conn.out.Put(appendRequest(r.conn.out.Buffer(), id, string(mcp.MethodListRoots), nil)), true)
}

// askByAnswer asks any other client: it makes the call again.
func (r *roots) askByAnswer(j *job) {
	j.Cancel(nil)
	none := func(b []byte) []byte { return append(b, "{}"...) }
	j.to.answer(wire.AppendAnswer(r.conn.out.Buffer(), j.id, func(b []byte) []byte {
		return appendInput(b, j.meta, inputRoots, string(mcp.MethodListRoots), "", none)
	}), true)
}

// release runs a queued call. A relative name may lead to another place now.
func (r *roots) release(j *job) {
	r.conn.rerun(j, func() { r.conn.parseFile(j) })
}

// late ends a round if the client did not answer, or its folders could not be looked at,
// in time.
func (r *roots) late(round int) {
	if r.end(round) {
		r.conn.opts.Log.Warn().Msg("the client's roots are not known in time")
	}
}

// receive passes the client's folders on, and then ends the round. It does not delay the
// reader: the folders may be on a disk that does not answer.
func (r *roots) receive(round int, result wire.Value) {
	dirs, unusable, ok := rootsOf(result, runtime.GOOS)
	for _, uri := range unusable {
		r.conn.opts.Log.Warn().Str("root", uri).Msg("a root of the client cannot be used: " + usableRoot(runtime.GOOS))
	}
	if !ok {
		r.conn.opts.Log.Warn().Msg("the client has roots, but did not name them")
		r.end(round)
		return
	}
	go func() {
		r.apply(round, dirs, unusable)
		r.end(round)
	}()
}

// apply passes folders on, unless later ones or the same were passed on before.
func (r *roots) apply(round int, dirs, unusable []string) {
	r.applying.Lock()
	defer r.applying.Unlock()
	same := r.applied > 0 && slices.Equal(dirs, r.dirs) && slices.Equal(unusable, r.unusable)
	if round < r.applied {
		return
	}
	r.applied, r.dirs, r.unusable = round, dirs, unusable
	if same {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.conn.opts.Log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("the roots could not be taken")
		}
	}()
	r.conn.opts.Roots(slices.Clone(dirs), slices.Clone(unusable))
}

// usableRoot says which roots are usable on a system.
func usableRoot(system string) string {
	if system == "windows" {
		return "it is no folder on a drive of this machine, such as file:///C:/project"
	}
	return "it is no folder of this machine, such as file:///project"
}

// rootsOf reads the result of roots/list: the folders of this machine, and the URIs of the
// others.
func rootsOf(result wire.Value, system string) (dirs, unusable []string, ok bool) {
	list := wire.Member(result.Raw, inputRoots)
	if result.Kind != wire.Object || list.Kind != wire.Array {
		return nil, nil, false
	}
	dirs = []string{}
	for _, item := range wire.Elements(list.Raw) {
		if item[0] != '{' {
			continue
		}
		uri := wire.Member(item, "uri").Text()
		switch dir, ok := dirOf(uri, system); {
		case ok && len(dirs) < maxRoots:
			dirs = append(dirs, dir)
		case !ok && uri != "" && len(unusable) < maxUnusable:
			unusable = append(unusable, uri)
		}
	}
	return dirs, unusable, true
}

// dirOf returns the folder that a URI names, if it is one of this machine.
func dirOf(uri, system string) (dir string, ok bool) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", false
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, name, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", false
		}
		rest = "/" + name
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	name, err := url.PathUnescape(rest)
	if err != nil || !strings.HasPrefix(name, "/") || strings.ContainsRune(name, 0) {
		return "", false
	}
	if system != "windows" {
		return path.Clean(name), true
	}
	drive := name[1:]
	if len(drive) < 2 || drive[1] != ':' && drive[1] != '|' { // RFC 8089, appendix E.2.2
		return "", false
	}
	return drive[:1] + ":" + strings.ReplaceAll(path.Clean("/"+drive[2:]), "/", `\`), true
}
