// Command badserver is a file server with the faults that the cases are there to find. How it
// is bad, its argument says: "in-place", "replace", "liar" or "timid".
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments struct{ Path, Old, New, Text, To string }
	}
}

// seen holds files as they were read: edits are made in that text, whatever is on the disk.
var seen = make(map[string]string)

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		var result any = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
			"serverInfo": map[string]any{"name": "badserver", "version": "1"}, "tools": []any{}}
		if r.Method == "tools/call" {
			text, err := call(r, os.Args[1])
			if err != nil {
				text = err.Error()
			}
			result = map[string]any{"isError": err != nil, "content": []any{map[string]any{"type": "text", "text": text}}}
		}
		out, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result})
		fmt.Println(string(out))
	}
}

func call(r request, kind string) (string, error) {
	a := r.Params.Arguments
	switch kind {
	case "timid":
		return "", fmt.Errorf("no")
	case "liar":
		return "done", nil
	}
	switch r.Params.Name {
	case "read":
		b, err := os.ReadFile(a.Path)
		seen[a.Path] = strings.ToValidUTF8(string(b), "?")
		return seen[a.Path], err
	case "edit":
		if !strings.Contains(seen[a.Path], a.Old) {
			return "", fmt.Errorf("old text not found")
		}
		text := strings.Replace(seen[a.Path], a.Old, a.New, 1)
		return "done", write(a.Path, strings.ReplaceAll(text, "\r\n", "\n"), kind)
	case "write":
		return "done", write(a.Path, a.Text, kind)
	case "move":
		os.MkdirAll(filepath.Dir(a.To), 0o755)
		return "done", os.Rename(a.Path, a.To)
	}
	return "", fmt.Errorf("no tool %s", r.Params.Name)
}

// write writes a file in pieces, so that a kill leaves some of them.
func write(path, text, kind string) error {
	if kind == "replace" {
		os.Remove(path)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for len(text) > 0 {
		n := min(len(text), 1<<20)
		if _, err := f.WriteString(text[:n]); err != nil {
			return err
		}
		f.Sync()
		text = text[n:]
	}
	return f.Close()
}
