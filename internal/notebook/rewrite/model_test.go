package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

// A model is a notebook as encoding/json reads it, edited without any care for
// bytes: what every edit must come to.
type model struct{ top map[string]any }

func newModel(t testing.TB, raw []byte) model {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(noMark(raw)))
	d.UseNumber()
	var top map[string]any
	if err := d.Decode(&top); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	for _, cell := range top["cells"].([]any) {
		c := cell.(map[string]any)
		if lines, ok := c["source"].([]any); ok {
			c["source"] = joined(lines)
		}
	}
	return model{top}
}

func joined(lines []any) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.(string))
	}
	return b.String()
}

func (m model) cells() []any         { return m.top["cells"].([]any) }
func (m model) set(cells []any)      { m.top["cells"] = cells }
func (m model) cell(i int) modelCell { return m.cells()[i].(map[string]any) }

type modelCell map[string]any

func (m model) replace(i int, source, kind string) {
	c := m.cell(i)
	old := c["cell_type"]
	c["source"] = source
	if kind == "" {
		kind = old.(string)
	}
	c["cell_type"] = kind
	if kind == old {
		if kind == notebook.Code {
			c.empty("outputs", []any{})
			c.empty("execution_count", nil)
		}
		return
	}
	for _, key := range map[string][]string{
		notebook.Code: {"attachments", "expressions"}, notebook.Markdown: {"outputs", "execution_count"}, notebook.Raw: {"outputs", "execution_count", "expressions"},
	}[kind] {
		delete(c, key)
	}
	if kind == notebook.Code {
		c["outputs"], c["execution_count"] = []any{}, nil
	}
	c.fitMetadata(kind)
}

func (c modelCell) empty(key string, value any) {
	if _, ok := c[key]; ok {
		c[key] = value
	}
}

// fitMetadata drops what the code schema refuses of the fixtures' metadata.
func (c modelCell) fitMetadata(kind string) {
	metadata, _ := c["metadata"].(map[string]any)
	for key, value := range metadata {
		_, isString := value.(string)
		_, isBool := value.(bool)
		drop := kind == notebook.Code && key == "collapsed" && !isBool ||
			kind == notebook.Code && key == "scrolled" && !isBool && value != "auto" ||
			kind == notebook.Raw && key == "format" && !isString
		if kind == notebook.Code && key == "execution" {
			times, ok := value.(map[string]any)
			drop = !ok
			for _, time := range times {
				if _, ok := time.(string); !ok {
					drop = true
				}
			}
		}
		if drop {
			delete(metadata, key)
		}
	}
}

func (m model) insert(after int, kind, source, id string) {
	c := map[string]any{"cell_type": kind, "source": source, "metadata": map[string]any{}}
	if kind == notebook.Code {
		c["outputs"], c["execution_count"] = []any{}, nil
	}
	if id != "" {
		c["id"] = id
	}
	m.set(slices.Insert(m.cells(), after+1, any(c)))
}

func (m model) delete(i int) { m.set(slices.Delete(m.cells(), i, i+1)) }

// same compares what raw says with the model.
func (m model) same(t testing.TB, raw []byte) error {
	t.Helper()
	got := newModel(t, raw)
	if !reflect.DeepEqual(m.top, got.top) {
		want, _ := json.Marshal(m.top)
		have, _ := json.Marshal(got.top)
		return fmt.Errorf("the model says\n%.3000s\nthe file says\n%.3000s", want, have)
	}
	return nil
}
