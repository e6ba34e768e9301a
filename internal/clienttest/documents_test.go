//go:build linux

package clienttest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// documents asks for PDFs as documents.
func documents(verify func(*sandbox, result)) plan {
	return plan{`{"pdf": {"mode": "document"}}`, func(s *sandbox) []step {
		return []step{{"Read", object{"file_path": s.write("report.pdf", report())}}}
	}, func(m *model, s *sandbox) { verify(s, m.latest.results[0]) }}
}

// withDocuments is the general plan, with all tests of documents beside it where everything is
// tested. Else the general plan asks for the PDF as a document: the clients start once less.
func withDocuments(verify func(*sandbox, result)) plan {
	if shortrun.Full() {
		return general
	}
	return plan{`{"audit": {"file": "~/audit.jsonl"}, "pdf": {"mode": "document"}}`,
		func(s *sandbox) []step { return scriptWith(s, object{}) },
		func(m *model, s *sandbox) { m.verifyWith(s, func(r result) { verify(s, r) }) }}
}

// document checks that the model was sent the PDF as a document.
func document(s *sandbox, r result) {
	s.t.Helper()
	if len(r.pictures) != 1 || r.pictures[0].mime != "application/pdf" || !bytes.Equal(r.pictures[0].data, report()) {
		s.t.Errorf("the model was sent %d parts behind %.600q", len(r.pictures), r.text)
	}
}

// pages checks that the model was sent the pages of the PDF.
func pages(s *sandbox, r result) {
	s.t.Helper()
	if !strings.Contains(r.text, "Words of page 2") || len(r.pictures) != 3 || r.pictures[0].mime != "image/jpeg" {
		s.t.Errorf("the model was sent %d parts behind %.600q", len(r.pictures), r.text)
	}
}

// TestDocuments checks the table of clients in internal/server: those that pass documents on
// to their model are sent one, the others pages.
func TestDocuments(t *testing.T) {
	shortrun.Leave(t, "documents apart from the rest of the script (withDocuments)")
	t.Run("claude", func(t *testing.T) { runClaude(t, documents(pages), byFlag) })
	t.Run("codex", func(t *testing.T) { runCodex(t, "gpt-5.5", documents(pages)) })
	t.Run("gemini", func(t *testing.T) { runGemini(t, "gemini-2.5-pro", documents(document)) })
	t.Run("opencode", func(t *testing.T) { runOpencode(t, documents(document)) })
}
