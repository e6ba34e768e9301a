package server

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// revisions are all that are spoken; the first has no handshake.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// TestOfficialClient lets the official client talk to the loop in every
// revision of the protocol.
func TestOfficialClient(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			f := gated("/hangs")
			f.texts = map[string]string{"/f": "1\ta < b\n2\tü\u2028😀"}
			session, progress := connectOfficial(t, newFake(t, f, nil), revision)
			if got := session.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("speaks %s", got)
			}
			if in := session.InitializeResult().Instructions; !strings.Contains(in, "/srv/here") {
				t.Errorf("instructions %q", in)
			}
			officialList(t, session)
			officialCalls(t, session)
			officialCancel(t, session, f)
			officialProgress(t, session, progress)
		})
	}
}

func connectOfficial(t *testing.T, s *Server, revision string) (*mcp.ClientSession, *atomic.Int32) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(context.Background(), inR, outW); outW.Close() }()
	progress := new(atomic.Int32)
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-ai", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if r.Params.ProgressToken == "token <1>" && r.Params.Total == 3 {
				progress.Add(1)
			}
		},
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return session, progress
}

func officialList(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Title == "" || tool.Annotations.Title != tool.Title || tool.OutputSchema != nil || tool.Meta["anthropic/alwaysLoad"] != true {
			t.Errorf("%+v", tool)
		}
		if *tool.Annotations.DestructiveHint == tool.Annotations.ReadOnlyHint || *tool.Annotations.OpenWorldHint {
			t.Errorf("%+v", tool.Annotations)
		}
	}
	if got := strings.Join(names, " "); got != "Read Write Edit" {
		t.Error(got)
	}
}

func officialCalls(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	for _, c := range []struct {
		tool, args, want string
		isError          bool
	}{
		{"Read", `{"file_path":"/f"}`, "1\ta < b\n2\tü\u2028😀", false},
		{"Write", `{"file_path":"/f","content":"<\u0000>\n"}`, "wrote /f: <\x00>\n", false},
		{"Read", `{"file_path":"/missing"}`, "File does not exist.", true},
		{"Read", `{"file":"/f"}`, "did you mean file_path?", true},
		{"Read", `{"file_path":"/client"}`, `{"Name":"claude-ai","Chars":1048576,"Tokens":0,"Answer":1048576}`, false},
	} {
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if !strings.Contains(text, c.want) || r.IsError != c.isError || r.StructuredContent != nil {
			t.Errorf("%s: %+v, %q", c.args, r, text)
		}
	}
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(`{"file_path":"/picture"}`)})
	if err != nil || string(r.Content[1].(*mcp.ImageContent).Data) != "\x00\x01\x02\xff" {
		t.Error(r, err)
	}
	r, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(`{"file_path":"/meta"}`)})
	if err != nil || r.Meta["fsmcp/cell"] != "ab<c" {
		t.Error(r, err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "Nope"}); err == nil || !strings.Contains(err.Error(), `no tool "Nope"`) {
		t.Error(err)
	}
}

func officialCancel(t *testing.T, session *mcp.ClientSession, f *fakes) {
	t.Helper()
	for len(f.began) > 0 {
		<-f.began
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for path := range f.began {
			if path == "/slow" {
				cancel()
				return
			}
		}
	}()
	_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(`{"file_path":"/slow"}`)})
	if err == nil {
		t.Error("a cancelled call was answered")
	}
}

func officialProgress(t *testing.T, session *mcp.ClientSession, progress *atomic.Int32) {
	t.Helper()
	params := &mcp.CallToolParams{Name: "Read", Arguments: json.RawMessage(`{"file_path":"/progress"}`), Meta: mcp.Meta{"progressToken": "token <1>"}}
	r, err := session.CallTool(t.Context(), params)
	if err != nil || r.IsError {
		t.Fatal(r, err)
	}
	for deadline := time.Now().Add(time.Minute); progress.Load() != 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d reports of progress", progress.Load())
		}
	}
}
