package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

var errNoTool = errors.New("no tool")

// run is one case, played with one server.
type run struct {
	c       *testCase
	adapter *adapter
	place   place
	servers map[int]*client

	start tree // the area at first
	// untouched is the area as it is if the server changes nothing: what other programs write in
	// the course of the case is in it.
	untouched tree
	after     tree

	cost   cost
	shown  []answer // all answers
	failed bool     // the last step that counts was answered by an error
	noTool bool     // the server has no tool for a step
	killed bool     // a server was killed
	unsure bool     // it had not answered yet
	broken string   // how the server itself failed
}

// cost is what a model has to write and to read.
type cost struct {
	Calls int
	Bytes int // names of tools, arguments and answers, pictures in base64
}

// call is one call of a tool.
type call struct {
	tool      string
	arguments any
	again     string
}

// play plays a case in an empty folder. The servers still run when it returns. An error is one of
// the kit or of the case.
func play(c *testCase, a *adapter, dir string, try int) (r *run, err error) {
	r = &run{c: c, adapter: a, servers: make(map[int]*client)}
	if r.place, err = newPlace(dir); err != nil {
		return nil, err
	}
	if r.start, err = c.before(); err != nil {
		return nil, err
	}
	if r.after, err = c.after(); err != nil {
		return nil, err
	}
	if err := r.start.write(r.place); err != nil {
		return nil, err
	}
	if r.start, err = readTree(r.place.area); err != nil { // links with their true targets
		return nil, err
	}
	r.untouched = maps.Clone(r.start)
	if r.broken, err = r.steps(c.Steps, try); err != nil {
		r.close()
		return nil, fmt.Errorf("%s, %s: %w", filepath.Base(c.dir), a.Name, err)
	}
	if c.Refuse {
		r.after = r.untouched
	}
	return r, nil
}

func (r *run) close() {
	for _, server := range r.servers {
		server.close()
	}
}

// steps plays steps until one fails for which the agent knows nothing better.
func (r *run) steps(steps []step, try int) (broken string, err error) {
	for _, s := range steps {
		r.failed = false
		switch {
		case s.Op == "foreign":
			err = r.foreign(s)
		case s.Op == "parallel":
			broken, err = r.parallel(s.Steps, try)
		case s.Kill:
			broken, err = r.kill(s, try)
		default:
			r.failed, broken, err = r.operate(s)
		}
		if errors.Is(err, errNoTool) {
			r.noTool = true
			return "", nil
		}
		if r.failed && s.OnError != nil && broken == "" && err == nil {
			broken, err = r.steps(s.OnError, try)
		}
		if r.failed || r.noTool || broken != "" || err != nil {
			return broken, err
		}
	}
	return "", nil
}

// foreign is another program that writes or removes a file in its plain way.
func (r *run) foreign(s step) error {
	name := path.Join("work", s.Path)
	n := r.untouched[name]
	switch {
	case s.Old != "":
		n.text = strings.Replace(n.text, s.Old, s.New, 1)
	case s.Text != "":
		n.text = s.Text
	default:
		delete(r.untouched, name)
		return os.Remove(r.place.path(s.Path))
	}
	r.untouched[name] = n
	return os.WriteFile(r.place.path(s.Path), []byte(n.text), 0o644)
}

// operate makes the calls of one step, and the same call again where an answer says so.
func (r *run) operate(s step) (failed bool, broken string, err error) {
	calls, err := r.calls(s)
	if err != nil {
		return false, "", err
	}
	for _, one := range calls {
		for tries := 0; ; tries++ {
			before := r.cost
			got, broken, err := r.make(s.Server, one)
			if err != nil || broken != "" {
				return true, broken, err
			}
			if one.again != "" && strings.Contains(got.text, one.again) && tries < 30 {
				r.cost = before
				continue
			}
			if got.failed {
				return true, "", nil
			}
			break
		}
	}
	return false, "", nil
}

// make makes one call and waits for the answer.
func (r *run) make(server int, one call) (got answer, broken string, err error) {
	arrives, err := r.send(server, one)
	if err != nil {
		return got, "", err
	}
	return r.receive(server, arrives)
}

// ready starts a server that does not run.
func (r *run) ready(server int) (err error) {
	if r.servers[server] != nil {
		return nil
	}
	started, err := r.adapter.start(r.place)
	if err == nil {
		r.servers[server] = started
	}
	return err
}

func (r *run) send(server int, one call) (<-chan reply, error) {
	if err := r.ready(server); err != nil {
		return nil, err
	}
	text, err := encode(one.arguments)
	if err != nil {
		return nil, err
	}
	if verbose {
		fmt.Printf("  -> %s %.400s\n", one.tool, r.fold(text))
	}
	r.cost.Calls++
	r.cost.Bytes += len(one.tool) + len(r.fold(text))
	return r.servers[server].send("tools/call", map[string]any{"name": one.tool, "arguments": one.arguments})
}

func (r *run) receive(server int, arrives <-chan reply) (got answer, broken string, err error) {
	answered, err := r.servers[server].receive(arrives)
	if err != nil {
		return got, err.Error(), nil
	}
	if got, err = answered.answer(); err != nil {
		return got, "", err
	}
	got.text = r.fold(got.text)
	r.cost.Bytes += len(got.text) + got.pictures
	r.shown = append(r.shown, got)
	if verbose {
		fmt.Printf("  <- failed=%v %.400s\n", got.failed, got.text)
	}
	return got, "", nil
}

// fold gives the folders names of fixed lengths, so that costs are the same wherever they lie.
func (r *run) fold(text string) string {
	return strings.NewReplacer(r.place.work, "/project", r.place.area, "/outside").Replace(text)
}

// parallel makes the calls of several steps at once, and then, one after the other, what the
// agent does about those that failed.
func (r *run) parallel(steps []step, try int) (broken string, err error) {
	var waiting []<-chan reply
	for _, s := range steps {
		calls, err := r.calls(s)
		if err != nil {
			return "", err
		}
		arrives, err := r.send(s.Server, calls[0])
		if err != nil {
			return "", err
		}
		waiting = append(waiting, arrives)
	}
	var again [][]step
	for i, s := range steps {
		got, broken, err := r.receive(s.Server, waiting[i])
		if broken != "" || err != nil {
			return broken, err
		}
		if got.failed {
			again = append(again, s.OnError)
		}
	}
	for _, todo := range again {
		r.failed = true // without anything to do about it
		if broken, err = r.steps(todo, try); r.failed || broken != "" || err != nil {
			return broken, err
		}
	}
	return "", nil
}

// kill makes a call and kills the server at the change of the workspace that the number of the
// try names, or when it has answered.
func (r *run) kill(s step, try int) (broken string, err error) {
	calls, err := r.calls(s)
	if err != nil {
		return "", err
	}
	last := r.glimpse()
	arrives, err := r.send(s.Server, calls[0])
	if err != nil {
		return "", err
	}
	r.killed, r.unsure = true, true
	for changes := 0; changes <= try; runtime.Gosched() {
		if len(arrives) > 0 {
			got, broken, err := r.receive(s.Server, arrives)
			if broken != "" || err != nil {
				return broken, err
			}
			r.failed, r.unsure = got.failed, false
			break
		}
		if now := r.glimpse(); now != last {
			last = now
			changes++
		}
	}
	r.servers[s.Server].kill()
	delete(r.servers, s.Server)
	return "", nil
}

// glimpse returns names, sizes and times of what lies in the workspace.
func (r *run) glimpse() string {
	var b strings.Builder
	entries, _ := os.ReadDir(r.place.work) // a file may go meanwhile
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime())
		}
	}
	return b.String()
}

// calls returns the calls that a step takes, those that prepare it first.
func (r *run) calls(s step) (all []call, err error) {
	o, own := r.operation(s)
	if o.Tool == "" {
		return nil, errNoTool
	}
	v := r.values(s)
	paths := []string{s.Path}
	if s.Pattern != "" {
		if paths, err = r.find(s.Pattern); err != nil {
			return nil, err
		}
		for _, p := range o.Prepare {
			all = append(all, call{p.Tool, v.fill(p.Arguments), p.Again})
		}
	}
	if s.Pattern == "" || o.Patterns {
		all = append(all, call{o.Tool, v.fill(o.Arguments), o.Again})
		if s.Op == "editAll" && !own { // place by place
			all = slices.Repeat(all, s.Count)
		}
		return all, nil
	}
	var items []any
	for _, name := range paths {
		one := s
		one.Path = name
		if strings.HasSuffix(s.To, "/") {
			one.To += path.Base(name)
		}
		if o.Each == nil {
			all = append(all, call{o.Tool, r.values(one).fill(o.Arguments), o.Again})
		}
		items = append(items, r.values(one).fill(o.Each))
	}
	if o.Each != nil {
		v["items"] = items
		all = append(all, call{o.Tool, v.fill(o.Arguments), o.Again})
	}
	return all, nil
}

// operation returns what a server has for a step, and whether it is made for just that.
func (r *run) operation(s step) (o operation, own bool) {
	if s.Pattern != "" {
		if o, ok := r.adapter.Operations[s.Op+"Many"]; ok {
			return o, true
		}
	}
	if o, ok := r.adapter.Operations[s.Op]; ok {
		return o, true
	}
	return r.adapter.Operations[instead[s.Op]], false
}

// values returns what the braces of operations stand for.
func (r *run) values(s step) values {
	text := s.Text
	if text == "{after}" {
		text = r.after[path.Join("work", s.Path)].text
	}
	return values{
		"path": r.place.path(s.Path), "old": s.Old, "new": s.New, "text": text, "cell": s.Cell,
		"to": r.place.path(s.To), "toFolder": path.Dir(r.place.path(s.To) + "x"), "count": s.Count, "-count": -s.Count,
		"pattern": r.place.path(s.Pattern), "folder": r.place.path(folderOf(s.Pattern)), "glob": path.Base(s.Pattern),
	}
}

// folderOf returns the folder of a pattern up to its first wildcard.
func folderOf(pattern string) string {
	before, _, _ := strings.Cut(pattern, "*")
	return path.Dir(before + "x")
}

// find returns the files that a pattern matches: those in its folder or, if it has **, also
// deeper.
func (r *run) find(pattern string) (paths []string, err error) {
	now, err := readTree(r.place.work)
	for name := range now {
		in, folder := path.Dir(name), folderOf(pattern)
		deep := strings.Contains(pattern, "**") && strings.HasPrefix(in+"/", folder+"/")
		matches, _ := path.Match(path.Base(pattern), path.Base(name))
		if matches && (in == folder || deep) {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths, err
}
