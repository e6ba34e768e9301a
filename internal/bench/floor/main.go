// Command floor is a minimal MCP server with one tool, echo, on encoding/json
// alone. It promises nothing beyond what a benchmark needs: it is the floor
// that fsmcp's speed is measured from.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Arguments       struct {
			Text string `json:"text"`
			Size int    `json:"size"` // instead of text: an answer of that many bytes
			File string `json:"file"` // instead of text: an answer that holds the file in base64
			// Lines, instead of text, is a file; the answer has Limit of its lines from
			// line Offset on, numbered.
			Lines  string `json:"lines"`
			Offset int    `json:"offset"`
			Limit  int    `json:"limit"`
		} `json:"arguments"`
	} `json:"params"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req request
		if json.Unmarshal(line, &req) != nil || req.ID == nil {
			continue
		}
		out, err := json.Marshal(response{JSONRPC: "2.0", ID: req.ID, Result: answer(req)})
		if err != nil {
			return
		}
		if name := req.Params.Arguments.File; name != "" {
			if out, err = show(req.ID, name); err != nil {
				return
			}
		}
		if _, err := os.Stdout.Write(append(out, '\n')); err != nil {
			return
		}
	}
}

func answer(req request) any {
	switch req.Method {
	case "initialize":
		return map[string]any{"protocolVersion": req.Params.ProtocolVersion,
			"capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo":   map[string]any{"name": "floor", "version": "1"}}
	case "tools/list":
		return map[string]any{"tools": []any{map[string]any{"name": "echo", "inputSchema": map[string]any{"type": "object"}}}}
	case "tools/call":
		text := req.Params.Arguments.Text
		if n := req.Params.Arguments.Size; n > 0 {
			text = strings.Repeat("x", n)
		}
		if a := req.Params.Arguments; a.Lines != "" {
			text = numbered(a.Lines, a.Offset, a.Limit)
		}
		return map[string]any{"content": []block{{Type: "text", Text: text}}}
	}
	return map[string]any{}
}

// show is an answer with a file, for which nothing is gone over twice.
func show(id []byte, name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, base64.StdEncoding.EncodedLen(len(b))+200)
	out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), `,"result":{"content":[{"type":"image","mimeType":"image/png","data":"`...)
	return append(base64.StdEncoding.AppendEncode(out, b), `"}]}}`...), nil
}

// numbered returns limit lines of a file from line first on, each with its number
// before it as Read shows it.
func numbered(name string, first, limit int) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	var out []byte
	for n := 1; n < first+limit; n++ {
		line, err := in.ReadSlice('\n')
		if n >= first && len(line) > 0 {
			out = append(strconv.AppendInt(out, int64(n), 10), '\t')
			out = append(out, line...)
		}
		if err != nil {
			break
		}
	}
	return string(out)
}
