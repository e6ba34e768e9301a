//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fsmcp/fsmcp/internal/mcptest/protocol"
)

// validated is the official client's transport to a process. Every line of the process is
// validated against the official schemas.
type validated struct {
	io.Reader
	stdin   io.Writer
	session *protocol.Session
	end     func() error
}

func (v *validated) Write(b []byte) (int, error) {
	v.session.SentBytes(b)
	return v.stdin.Write(b)
}

func (v *validated) Close() error { return v.end() }

// Connect makes it a transport.
func (v *validated) Connect(ctx context.Context) (mcp.Connection, error) {
	return (&mcp.IOTransport{Reader: v, Writer: v}).Connect(ctx)
}

// startValidated starts a server's process. Closing the transport ends the server's input
// and waits for its end.
func startValidated(t *testing.T, cmd *exec.Cmd) *validated {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, out := io.Pipe()
	v := &validated{Reader: lines, stdin: stdin, session: protocol.New()}
	ended := make(chan struct{})
	var wrong []error
	go func() {
		defer close(ended)
		defer out.Close()
		for r := bufio.NewReader(stdout); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			if err := v.session.Received(bytes.TrimSpace(line)); err != nil {
				wrong = append(wrong, err)
			}
			_, _ = out.Write(line) // the client may read no more
		}
	}()
	v.end = sync.OnceValue(func() error {
		lines.Close()
		stdin.Close()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		return cmd.Wait()
	})
	t.Cleanup(func() {
		_ = v.end()
		if err := errors.Join(wrong...); err != nil {
			t.Error(err)
		}
	})
	return v
}
