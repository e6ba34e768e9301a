//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmcp/fsmcp/internal/mcptest/protocol"
)

// TestRevisions drives the server with the official client through all five
// revisions of the protocol: the list, a read, an edit, a refusal, an image, an error of the
// protocol. Each message of the server is validated against the revision's schema.
func TestRevisions(t *testing.T) {
	for _, revision := range protocol.Revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			driveRevision(t, revision)
		})
	}
}

func driveRevision(t *testing.T, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	work := t.TempDir()
	file := filepath.Join(work, "a.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", work)
	cmd.Args[0] = "fsmcp"
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "revisions", Version: "1"}, nil)
	transport := startValidated(t, cmd)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		t.Errorf("the session speaks %s, not %s", got, revision)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "Read Write Edit NotebookEdit" {
		t.Errorf("tools: %s", got)
	}
	call := func(name string, args map[string]any) (string, bool) {
		t.Helper()
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := ""
		for _, c := range res.Content {
			if tc, ok := c.(*mcp.TextContent); ok {
				text += tc.Text
			}
		}
		return text, res.IsError
	}
	edit := map[string]any{"file_path": file, "old_string": "two", "new_string": "2"}
	if text, isErr := call("Edit", edit); !isErr || !strings.Contains(text, "has not been read yet") {
		t.Errorf("an unread edit answered %q (error: %v)", text, isErr)
	}
	if text, isErr := call("Read", map[string]any{"file_path": file}); isErr || text != "1\tone\n2\ttwo" {
		t.Errorf("Read answered %q (error: %v)", text, isErr)
	}
	if text, isErr := call("Edit", edit); isErr {
		t.Errorf("Edit answered %q", text)
	}
	if got, _ := os.ReadFile(file); string(got) != "one\n2\n" {
		t.Errorf("the file holds %q", got)
	}
	picture := filepath.Join(work, "a.png")
	var image bytes.Buffer
	if err := png.Encode(&image, drawn(8, 8, false)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(picture, image.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "Read", Arguments: map[string]any{"file_path": picture}})
	if err != nil || len(res.Content) != 2 {
		t.Errorf("an image answered %v (%v)", res, err)
	}
	if text, isErr := call("Write", map[string]any{"file_path": filepath.Join(work, "new.txt"), "content": "new\n"}); isErr {
		t.Errorf("Write answered %q", text)
	}
	if text, isErr := call("Write", map[string]any{"content": 5}); !isErr {
		t.Errorf("wrong arguments answered %q", text)
	}
	book := filepath.Join(work, "a.ipynb")
	cell := `{"cell_type":"code","id":"c","metadata":{},"execution_count":1,"source":["x = 1"],"outputs":[{"output_type":"display_data","metadata":{},"data":{"image/png":"` +
		base64.StdEncoding.EncodeToString(image.Bytes()) + `"}}]}`
	if err := os.WriteFile(book, []byte(`{"cells":[`+cell+`],"metadata":{},"nbformat":4,"nbformat_minor":5}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, isErr := call("Read", map[string]any{"file_path": book}); isErr || !strings.Contains(text, "x = 1") {
		t.Errorf("a notebook answered %q (error: %v)", text, isErr)
	}
	if text, isErr := call("NotebookEdit", map[string]any{"notebook_path": book, "cell_id": "c", "new_source": "x = 2"}); isErr {
		t.Errorf("NotebookEdit answered %q", text)
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "Delete"}); err == nil {
		t.Error("an unknown tool was called")
	}
	if revision < "2026-07-28" {
		if err := session.Ping(ctx, nil); err != nil {
			t.Errorf("ping: %v", err)
		}
	}
	for _, definition := range []string{"ListToolsResult", "CallToolResult", "JSONRPCResponse"} {
		if transport.session.Count(definition) == 0 {
			t.Errorf("no %s was validated", definition)
		}
	}
	if err := session.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// TestQuestionsInEveryRevision has the server ask for the client's roots, and its user for
// consent. The revisions before 2025-06-18 know no questions; a client that can be asked
// says so in them, too.
func TestQuestionsInEveryRevision(t *testing.T) {
	for _, revision := range protocol.Revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			file := writeFile(t, root, "a.txt", "one\n")
			p := meet(t, revision, t.TempDir(), []string{root}, "--ask", "Edit(*.txt)")
			p.call("Read", map[string]any{"file_path": "a.txt"}, false, "one")
			p.will("accept", "once")
			p.call("Write", map[string]any{"file_path": file, "content": "two\n"}, false)
			p.wasAsked(file)
			wantFile(t, file, "two\n")
		})
	}
}
