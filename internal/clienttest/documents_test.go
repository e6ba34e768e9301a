//go:build linux

package clienttest

import (
	"bytes"
	"strings"
	"testing"
)

// documents asks for PDFs as documents.
func documents(verify func(*model, *sandbox)) plan {
	return plan{`{"pdf": {"mode": "document"}}`, func(s *sandbox) []step {
		return []step{{"Read", object{"file_path": s.write("report.pdf", report())}}}
	}, verify}
}

// TestDocuments checks the table of clients in internal/server: those that pass documents on
// to their model are sent one, the others pages.
func TestDocuments(t *testing.T) {
	document := documents(func(m *model, s *sandbox) {
		s.t.Helper()
		r := m.latest.results[0]
		if len(r.pictures) != 1 || r.pictures[0].mime != "application/pdf" || !bytes.Equal(r.pictures[0].data, report()) {
			s.t.Errorf("the model was sent %d parts behind %.600q", len(r.pictures), r.text)
		}
	})
	pages := documents(func(m *model, s *sandbox) {
		s.t.Helper()
		r := m.latest.results[0]
		if !strings.Contains(r.text, "Words of page 2") || len(r.pictures) != 3 || r.pictures[0].mime != "image/jpeg" {
			s.t.Errorf("the model was sent %d parts behind %.600q", len(r.pictures), r.text)
		}
	})
	t.Run("claude", func(t *testing.T) { runClaude(t, pages, byFlag) })
	t.Run("codex", func(t *testing.T) { runCodex(t, "gpt-5.5", pages) })
	t.Run("gemini", func(t *testing.T) { runGemini(t, "gemini-2.5-pro", document) })
	t.Run("opencode", func(t *testing.T) { runOpencode(t, document) })
}
