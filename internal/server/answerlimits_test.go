package server

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

type clientRow struct {
	name   string
	limits toolcall.ClientLimits
}

// knownClients are the names that clients send, with what each passes on.
var knownClients = []clientRow{
	{"claude-code", toolcall.ClientLimits{Chars: 200_000, Errors: 10_000, PagesOnly: true}},
	{"Claude Code", toolcall.ClientLimits{Chars: 200_000, Errors: 10_000, PagesOnly: true}},
	{"claude-ai", toolcall.ClientLimits{Chars: 1_048_576, Answer: 1_048_576}},
	{"claude-ai (via mcp-remote)", toolcall.ClientLimits{Chars: 1_048_576, Answer: 1_048_576}},
	{"codex-mcp-client", toolcall.ClientLimits{Tokens: 10_000, Chars: 40_000, PagesOnly: true}},
	{"Codex", toolcall.ClientLimits{Tokens: 10_000, Chars: 40_000, PagesOnly: true}},
	{"gemini-cli-mcp-client", toolcall.ClientLimits{Chars: 40_000, PicturesLast: true}},
	{"gemini-cli-mcp-client-fsmcp", toolcall.ClientLimits{Chars: 40_000, PicturesLast: true}},
	{"Visual Studio Code", toolcall.ClientLimits{Chars: 8192, PagesOnly: true}},
	{"Visual Studio Code - Insiders", toolcall.ClientLimits{Chars: 8192, PagesOnly: true}},
	{"opencode", toolcall.ClientLimits{Chars: 51_200, Lines: 2000, PicturesLast: true}},
	{"Zed", toolcall.ClientLimits{PagesOnly: true}},
	{"goose", toolcall.ClientLimits{Chars: 200_000}},
	{"Cline", toolcall.ClientLimits{Chars: 7000, Pictures: toolcall.NoPictures, PagesOnly: true}},
	{"@cline/core", toolcall.ClientLimits{Chars: 7000, Pictures: toolcall.NoPictures, PagesOnly: true}},
	{name: "claude-aid"}, // like a known name, and no client's
	{name: "codexia"},
	{name: "windsurf-client"},
	{name: "inspector-client"},
	{name: "cursor-vscode"},
	{name: ""},
}

// TestLimitsOf compares answerLimits with knownClients, limit by limit.
func TestLimitsOf(t *testing.T) {
	for _, c := range knownClients {
		got, want := reflect.ValueOf(knownLimits(c.name)), reflect.ValueOf(c.limits)
		for i := range got.NumField() {
			if g, w := got.Field(i).Interface(), want.Field(i).Interface(); g != w {
				t.Errorf("client %q: %s is %v in answerLimits and %v in knownClients", c.name, got.Type().Field(i).Name, g, w)
			}
		}
	}
	for _, row := range answerLimits {
		if !slices.ContainsFunc(knownClients, func(c clientRow) bool { return isClient(c.name, row.name) }) {
			t.Errorf("client %q of answerLimits has no row in knownClients", row.name)
		}
	}
	if t.Failed() {
		t.Log("If the change is meant: change the row of knownClients and that in docs/clients.md, and the scripts with CLIENT= and that name.")
	}
}

// TestClientsAreDocumented checks that the page for users has a row for each client of the
// table, with its limits.
func TestClientsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(string(page)), " ", "-"), "what-reaches-the-model")
	for _, c := range answerLimits {
		row := ""
		for line := range strings.Lines(table) {
			if strings.Contains(line, "`"+c.name) {
				row = line
				break
			}
		}
		if row == "" {
			t.Errorf("docs/clients.md has no row for client %q below \"What reaches the model\"", c.name)
			continue
		}
		for _, limit := range []struct {
			name string
			n    int
		}{{"Chars", c.limits.Chars}, {"Tokens", c.limits.Tokens}, {"Lines", c.limits.Lines}, {"Errors", c.limits.Errors}} {
			number := strconv.Itoa(limit.n)
			for i := len(number) - 3; i > 0; i -= 3 {
				number = number[:i] + "," + number[i:]
			}
			if limit.n > 0 && !strings.Contains(row, number) {
				t.Errorf("docs/clients.md: the row of client %q lacks %s, its limit %s: %s", c.name, number, limit.name, row)
			}
		}
		if c.limits.PicturesLast != strings.Contains(row, "behind-all-text") {
			t.Errorf("docs/clients.md: the row of client %q has pictures at another place than PicturesLast=%v says: %s", c.name, c.limits.PicturesLast, row)
		}
	}
}
