package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// numbered is a text as Read shows it, of about that many bytes.
func numbered(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		b.WriteString(strconv.Itoa(i) + "\tfunc (s *Server) line(n int) <-chan string { return \"x\" }\n")
	}
	return b.String()
}

// BenchmarkLoop is the cost of one call through the loop alone: parsing,
// decoding, queueing, encoding, without pipes between processes.
func BenchmarkLoop(b *testing.B) {
	for _, size := range []int{1 << 10, 200 << 10} {
		b.Run(strconv.Itoa(size>>10)+"KB", func(b *testing.B) {
			s := newFake(b, &fakes{texts: map[string]string{"/f": numbered(size)}}, nil)
			inR, inW, _ := os.Pipe()
			outR, outW, _ := os.Pipe()
			go s.Serve(context.Background(), inR, outW)
			lockStep(b, inW, outR)
			inW.Close()
		})
	}
}

// BenchmarkProcess compares with the least a server in Go can do, both as
// processes of their own over pipes: "floor" parses and answers with
// encoding/json and does nothing else.
func BenchmarkProcess(b *testing.B) {
	for _, size := range []int{1 << 10, 200 << 10} {
		for _, mode := range []string{"floor", "loop"} {
			b.Run(strconv.Itoa(size>>10)+"KB/"+mode, func(b *testing.B) {
				cmd := exec.Command(os.Args[0], "-test.run=TestBenchmarkServer")
				cmd.Env = append(os.Environ(), "FSMCP_BENCH_SERVER="+mode, "FSMCP_BENCH_SIZE="+strconv.Itoa(size))
				in, _ := cmd.StdinPipe()
				out, _ := cmd.StdoutPipe()
				cmd.Stderr = os.Stderr
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				lockStep(b, in, out)
				in.Close()
				cmd.Wait()
			})
		}
	}
}

// BenchmarkDispatch is why calls do not go through mcp-go's HandleMessage: the
// same call, from the line to the answer, without queue and pipes.
func BenchmarkDispatch(b *testing.B) {
	for _, size := range []int{1 << 10, 200 << 10} {
		body := numbered(size)
		read := []byte(callLine("7", "Read", `{"file_path":"/f"}`))
		write := []byte(callLine("7", "Write", `{"file_path":"/f","content":`+string(wire.AppendString(nil, body))+`}`))
		kb := strconv.Itoa(size>>10) + "KB"
		for name, line := range map[string][]byte{"Read" + kb: read, "Write" + kb: write} {
			b.Run(name+"/mcp-go", func(b *testing.B) { throughLibrary(b, line, body) })
			b.Run(name+"/own", func(b *testing.B) { throughLoop(b, line, body) })
		}
	}
}

func throughLibrary(b *testing.B, line []byte, body string) {
	s := mcpserver.NewMCPServer("x", "1")
	answer := func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args writeArgs
		if err := json.Unmarshal(r.GetRawArguments().(json.RawMessage), &args); err != nil {
			b.Fatal(err)
		}
		if args.Content != "" {
			return mcp.NewToolResultText("written"), nil
		}
		return mcp.NewToolResultText(body), nil
	}
	s.AddTool(mcp.NewTool("Read"), answer)
	s.AddTool(mcp.NewTool("Write"), answer)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(s.HandleMessage(context.Background(), line)); err != nil {
			b.Fatal(err)
		}
	}
}

func throughLoop(b *testing.B, line []byte, body string) {
	f := &fakes{texts: map[string]string{"/f": body}}
	all := f.tools()
	all[1].Run = func(context.Context, toolcall.Call, tools.Args) *toolcall.Result { return text("written") }
	c := newFake(b, f, func(o *Options) { o.Tools = all }).connect(context.Background(), nil, io.Discard)
	c.handoff.ticking.Store(true) // no other goroutine takes over
	b.ReportAllocs()
	for b.Loop() {
		c.line(line)
		c.work()
	}
}

func lockStep(b *testing.B, in io.Writer, out io.Reader) {
	line := []byte(callLine("7", "Read", `{"file_path":"/f"}`) + "\n")
	r := bufio.NewReaderSize(out, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := in.Write(line); err != nil {
			b.Fatal(err)
		}
		answer, err := r.ReadSlice('\n')
		if err != nil || len(answer) < 1000 {
			b.Fatal(err, len(answer))
		}
	}
}

// TestBenchmarkServer is the server process of BenchmarkProcess.
func TestBenchmarkServer(t *testing.T) {
	mode := os.Getenv("FSMCP_BENCH_SERVER")
	if mode == "" {
		t.Skip("only as a process of BenchmarkProcess")
	}
	size, _ := strconv.Atoi(os.Getenv("FSMCP_BENCH_SIZE"))
	body := numbered(size)
	if mode == "floor" {
		floor(os.Stdin, os.Stdout, body)
	} else {
		newFake(t, &fakes{texts: map[string]string{"/f": body}}, nil).Serve(context.Background(), os.Stdin, os.Stdout)
	}
	os.Exit(0)
}

// floor is a minimal echo server over encoding/json.
func floor(in io.Reader, out io.Writer, body string) {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type result struct {
		Content []content `json:"content"`
	}
	type response struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  result          `json:"result"`
	}
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string         `json:"name"`
				Arguments map[string]any `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &request) != nil {
			return
		}
		answer, err := json.Marshal(response{"2.0", request.ID, result{[]content{{"text", body}}}})
		if err != nil {
			return
		}
		out.Write(append(answer, '\n'))
	}
}
