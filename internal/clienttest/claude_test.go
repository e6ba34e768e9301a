//go:build linux

package clienttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// claude returns Claude Code's program, and its environment.
func claude(t *testing.T) (program string, env []string) {
	t.Helper()
	modules := install(t, "@anthropic-ai/claude-code", claudeVersion)
	return filepath.Join(modules, "@anthropic-ai", "claude-code-linux-"+arch, "claude"),
		[]string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1"}
}

// TestClaudeConnects has Claude Code enter fsmcp by the command that fsmcp names, and
// connect to it, without credentials.
func TestClaudeConnects(t *testing.T) {
	t.Parallel()
	program, env := claude(t)
	s := newSandbox(t, env...)
	command := s.config("claude-code").Command
	s.run(program, command[1:]...)
	list := s.run(program, "mcp", "list")
	if !strings.Contains(list, "fsmcp: ") || !strings.Contains(list, "Connected") || strings.Contains(list, "Failed") {
		t.Errorf("claude mcp list prints\n%s", list)
	}
}

// TestClaude runs a whole agent loop, with the project's .mcp.json that fsmcp writes, and
// fsmcp's tools in place of the built-in ones, by either way that fsmcp tells.
func TestClaude(t *testing.T) {
	t.Run("settings", func(t *testing.T) {
		runClaude(t, general, func(s *sandbox) []string {
			check(t, os.Mkdir(filepath.Join(s.project, ".claude"), 0o777))
			s.write(".claude/settings.local.json", []byte(`{"permissions": {"deny": ["Read", "Write", "Edit", "NotebookEdit"]}}`))
			return nil
		})
	})
	t.Run("flag", func(t *testing.T) {
		runClaude(t, withDocuments(pages), byFlag)
	})
}

// byFlag takes the built-in tools away for one session.
func byFlag(*sandbox) []string {
	return []string{"--disallowedTools", "Read,Write,Edit,NotebookEdit"}
}

// TestClaudeResumes has a conversation that was resumed change a file that it had read before
// the server was started again; a copy of it has to read the file first.
func TestClaudeResumes(t *testing.T) {
	shortrun.Leave(t, "Claude Code is started three times")
	t.Parallel()
	program, env := claude(t)
	s := newSandbox(t, append(env, "ANTHROPIC_API_KEY=none")...)
	s.fsmcp("config", "claude-code", "--write", "--dir", s.project)
	file := s.write("a.txt", []byte("one\n"))
	steps := []step{{"Read", object{"file_path": file}}, {"Write", object{"file_path": file, "content": "two\n"}}}
	const id = "11111111-2222-4333-8444-555555555555"
	run := func(steps []step, as ...string) string {
		m := newModel(t, steps)
		s.env = append(s.env, "ANTHROPIC_BASE_URL="+m.url)
		out := s.try(program, append([]string{"-p", task, "--mcp-config", ".mcp.json", "--allowedTools", "mcp__fsmcp"}, as...)...)
		if out.err != nil || len(m.latest.results) != len(steps) {
			t.Fatalf("Claude Code ended with %v, and the model was sent %d results:\n%s\n%s", out.err, len(m.latest.results), out.stdout, out.stderr)
		}
		return m.latest.results[len(steps)-1].text
	}
	run(steps[:1], "--session-id", id)
	if got := run(steps, "--resume", id, "--fork-session"); !strings.Contains(got, "has not been read yet") {
		t.Errorf("a copy of the conversation was answered %q", got)
	}
	if got := run(steps, "--resume", id); !strings.Contains(got, "has been updated") || s.read("a.txt") != "two\n" {
		t.Errorf("the conversation that was resumed was answered %q", got)
	}
}

func runClaude(t *testing.T, p plan, without func(*sandbox) []string) {
	program, env := claude(t)
	s, m := p.agent(t, append(env, "ANTHROPIC_API_KEY=none")...)
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+m.url)
	s.fsmcp("config", "claude-code", "--write", "--dir", s.project)
	p.finished(s, m, s.try(program, append([]string{"-p", task, "--mcp-config", ".mcp.json", "--allowedTools", "mcp__fsmcp"}, without(s)...)...))
	if p.audits() {
		joins(s, m)
	}
	for _, o := range m.latest.offered {
		if slices.Contains([]string{"Read", "Write", "Edit", "NotebookEdit"}, o.name) {
			t.Errorf("the model is offered the built-in %s, too", o.name)
		}
	}
}
