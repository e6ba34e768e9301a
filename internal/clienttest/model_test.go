//go:build linux

package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// step is one tool call of the model's script. A nil args takes the call that the last
// answer names.
type step struct {
	tool string
	args map[string]any
}

// namedCall matches the call that an error names because its answer would fit, or a page
// for the next one.
var namedCall = regexp.MustCompile(`(?:A call that fits|Next): Read offset=(\d+), limit=(\d+)`)

// named returns the arguments of the call that the last answer names; before holds those of
// the call before.
func named(last result, before map[string]any) (map[string]any, error) {
	m := namedCall.FindStringSubmatch(last.text)
	if m == nil {
		return nil, fmt.Errorf("no call is named in %.300q … %q", last.text, last.text[max(0, len(last.text)-400):])
	}
	args := maps.Clone(before)
	for i, key := range []string{"offset", "limit"} {
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return nil, err
		}
		args[key] = n
	}
	return args, nil
}

// picture is an image or a document as the model was sent it.
type picture struct {
	mime string
	data []byte
}

// result is the answer to one tool call as the model was sent it.
type result struct {
	text     string
	pictures []picture
}

// request holds what matters of a client's request, read by a dialect.
type request struct {
	offered []tool
	results []result
	search  bool // tools are behind a search, which the client does
}

// tool is a tool that the model may call. Only one dialect has namespaces.
type tool struct{ namespace, name string }

// dialect is the API of one maker.
type dialect interface {
	// parse reads a request.
	parse(body []byte) (request, error)
	// call answers with a call of a tool, say with a text and the end of the turn, and
	// search with a search for tools.
	call(id string, tool tool, arguments string) []event
	say(text string) []event
	search(words string) []event
}

// event is one server-sent event; the name may be empty.
type event struct {
	name string
	data any
}

// model answers a client with the steps of a script, one after the other.
type model struct {
	t     *testing.T
	url   string
	steps []step

	mu     sync.Mutex
	bodies [][]byte // requests that offered fsmcp's tools
	latest request  // the one that held the most answers
	others []string // paths that it does not know
}

// finalWords are the last answer of the script.
const finalWords = "All steps of the script are done."

func newModel(t *testing.T, steps []step) *model {
	m := &model{t: t, steps: steps}
	server := httptest.NewServer(m) // on 127.0.0.1
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// ServeHTTP answers by the dialect of the path.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var d dialect
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/responses"):
		d = responses{}
	case strings.HasSuffix(path, "/chat/completions"):
		d = chat{}
	case strings.HasSuffix(path, ":streamGenerateContent"):
		d = gemini{}
	case strings.HasSuffix(path, "/messages"):
		d = messages{}
	default:
		m.mu.Lock()
		m.others = append(m.others, r.Method+" "+path)
		m.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	events, err := m.answer(d, body)
	if err != nil {
		m.t.Errorf("%s: %v\n%.2000s", r.URL.Path, err, body)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, ok := e.data.(string)
		if !ok {
			text, err := json.Marshal(e.data)
			if err != nil {
				m.t.Error(err)
			}
			data = string(text)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// answer finds the next step by counting the answers that the client reports.
func (m *model) answer(d dialect, body []byte) ([]event, error) {
	r, err := d.parse(body)
	if err != nil {
		return nil, err
	}
	if r.search && !r.offers("Read") {
		return d.search("fsmcp read write edit files"), nil
	}
	if !r.offers("Read") {
		return d.say("A title"), nil // a request of another kind, without fsmcp's tools
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies = append(m.bodies, body)
	if len(r.results) >= len(m.latest.results) {
		m.latest = r
	}
	done := len(r.results)
	if done >= len(m.steps) {
		return d.say(finalWords), nil
	}
	next := &m.steps[done]
	if next.args == nil {
		if next.args, err = named(r.results[done-1], m.steps[done-1].args); err != nil {
			return nil, err
		}
	}
	arguments, err := json.Marshal(next.args)
	if err != nil {
		return nil, err
	}
	offered, ok := r.find(next.tool)
	if !ok {
		return nil, fmt.Errorf("%s is not offered: %v", next.tool, r.offered)
	}
	return d.call(fmt.Sprintf("call_%d", done), offered, string(arguments)), nil
}

// find returns the name under which a client offers a tool of fsmcp.
func (r request) find(name string) (tool, bool) {
	for _, o := range r.offered {
		if full := o.namespace + o.name; strings.Contains(full, "fsmcp") && strings.HasSuffix(full, name) && !strings.HasSuffix(full, "Notebook"+name) {
			return o, true
		}
	}
	return tool{}, false
}

func (r request) offers(name string) bool {
	_, ok := r.find(name)
	return ok
}
