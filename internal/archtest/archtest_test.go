package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fsmcp/fsmcp"

// A ban keeps one import out of a package, with the reason. "/..." at the end of an import
// includes everything below it.
type ban struct{ imports, why string }

// A layer is the rule of one package: the packages of this module that it may import, and
// the other imports that it may not have.
type layer struct {
	anything bool
	imports  []string
	never    []ban
}

// Reasons that several packages share.
var (
	noOS       = ban{"os", "it is pure: bytes in, bytes out"}
	noProcess  = ban{"os/exec", "only hooks, workers, language servers and the clipboard start programs"}
	noProtocol = ban{"github.com/mark3labs/mcp-go/...", "the protocol is the server's"}
	noLog      = ban{"github.com/rs/zerolog/...", "it returns facts; others log"}
	noNet      = ban{"net/...", "nothing leaves the machine"}
	noCommand  = ban{"github.com/spf13/...", "flags are the command's"}
	noWatch    = ban{"github.com/fsnotify/...", "only watch watches"}
	noVips     = ban{"github.com/h2non/...", "no C code in the server"}
	noPDF      = ban{"github.com/pdfcpu/...", "no large decoder in the server"}
)

// layers is the table of packages. A package that is missing fails the test.
var layers = map[string]layer{
	"cmd/fsmcp":       {anything: true, never: []ban{noProtocol, noVips, noPDF}},
	"internal/app":    {anything: true, never: []ban{noProtocol, noProcess, noNet, noCommand, noWatch, noVips, noPDF}}, // it wires all packages
	"cmd/fsmcp-media": {anything: true, never: []ban{noProtocol, noVips}},
	"cmd/fsmcp-vips":  {anything: true, never: []ban{noProtocol}},

	// It needs net/url: the protocol names folders by URIs.
	"internal/server":           {imports: []string{"internal/phrase", "internal/refusal", "internal/server/arguments", "internal/server/schedule", "internal/server/wire", "internal/similar", "internal/stack", "internal/toolcall", "internal/tools", "schemas"}, never: []ban{noProcess, {"net", noNet.why}, {"net/http/...", noNet.why}, noCommand, noWatch, noVips, noPDF, {"os", "it does not look at files"}}},
	"internal/server/arguments": {imports: []string{"internal/phrase", "internal/refusal", "internal/server/wire", "internal/similar", "internal/toolcall", "internal/tools"}, never: append(pure(), noVips, noPDF)},
	"internal/server/schedule":  {imports: []string{"internal/refusal"}, never: append(pure(), noVips, noPDF)},
	"internal/server/wire":      {never: append(pure(), noVips, noPDF)},
	"internal/tools": {
		imports: []string{"internal/access", "internal/changes", "internal/clipboard", "internal/commit", "internal/documents", "internal/edit", "internal/fsys", "internal/gate", "internal/history", "internal/media", "internal/notebook", "internal/notebook/render", "internal/notebook/rewrite", "internal/pagewords", "internal/perm", "internal/phrase", "internal/refusal", "internal/reminders", "internal/save", "internal/span", "internal/state", "internal/text", "internal/search", "internal/tokens", "internal/toolcall", "internal/tools/find"},
		never:   []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF, {"os", "only fsys and save reach the disk"}},
	},
	"internal/notebook/render": {
		imports: []string{"internal/notebook", "internal/notebook/scan", "internal/span", "internal/text"},
		never:   pure(),
	},
	"internal/notebook/rewrite": {
		imports: []string{"internal/notebook", "internal/notebook/scan", "internal/span"},
		never:   pure(),
	},
	"internal/notebook/compare": {
		imports: []string{"internal/linediff", "internal/notebook", "internal/notebook/render"},
		never:   pure(),
	},
	"internal/notebook/notebooktest": { // serves tests
		imports: []string{"internal/notebook"},
		never:   []ban{noProcess, noNet, noProtocol, noCommand, noWatch},
	},
	"internal/tools/find": {
		imports: []string{"internal/access", "internal/fsys", "internal/media", "internal/perm", "internal/perm/notation", "internal/phrase", "internal/refusal", "internal/search", "internal/span", "internal/state", "internal/text", "internal/toolcall"},
		never:   []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF, {"os", "only fsys and save reach the disk"}},
	},
	"internal/commit": {
		imports: []string{"internal/access", "internal/changes", "internal/fsys", "internal/gate", "internal/history", "internal/hooks", "internal/lsp", "internal/perm", "internal/perm/glob", "internal/phrase", "internal/refusal", "internal/reminders", "internal/save", "internal/span", "internal/state", "internal/text", "internal/toolcall"},
		never:   []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF, {"os", "only fsys and save reach the disk"}},
	},
	"internal/gate": {imports: []string{"internal/changes", "internal/edit", "internal/notebook", "internal/phrase", "internal/refusal", "internal/span", "internal/state", "internal/text", "internal/toolcall"}, never: append(pure(), noVips, noPDF)},
	"internal/toolcall": {
		imports: []string{"internal/access", "internal/changes", "internal/fsys", "internal/history", "internal/media", "internal/notebook", "internal/perm", "internal/phrase", "internal/refusal", "internal/reminders", "internal/span", "internal/state", "internal/text", "internal/tokens"},
		never:   []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF, {"os", "only fsys and save reach the disk"}},
	},
	"internal/span":          {never: pure()},
	"internal/linediff":      {never: pure()},
	"internal/changes":       {imports: []string{"internal/linediff", "internal/phrase", "internal/span", "internal/text"}, never: pure()},
	"internal/pagewords":     {imports: []string{"internal/fsys", "internal/media", "internal/phrase", "internal/text"}, never: pure()},
	"internal/phrase":        {imports: []string{"internal/fsys"}, never: pure()},
	"internal/refusal":       {imports: []string{"internal/access", "internal/changes", "internal/clipboard", "internal/edit", "internal/fsys", "internal/history", "internal/hooks", "internal/media", "internal/notebook", "internal/perm", "internal/phrase", "internal/save", "internal/search", "internal/text"}, never: pure()},
	"internal/reminders":     {imports: []string{"internal/access", "internal/changes", "internal/fsys", "internal/perm", "internal/phrase", "internal/state"}, never: pure()},
	"internal/access":        {imports: []string{"internal/fsys", "internal/perm", "internal/perm/notation", "internal/similar"}, never: pure()},
	"internal/search":        {imports: []string{"internal/access", "internal/fsys", "internal/media", "internal/nameglob", "internal/perm", "internal/perm/glob", "internal/search/filter", "internal/search/match", "internal/span", "internal/state", "internal/text", "internal/text/charset"}, never: pure()},
	"internal/search/filter": {imports: []string{"internal/perm/glob", "internal/similar"}, never: pure()},
	"internal/search/match":  {never: pure()},
	"internal/keylock":       {never: pure()},
	"internal/stack":         {never: pure()},
	"internal/state":         {imports: []string{"internal/fsys", "internal/keylock", "internal/span", "internal/text"}, never: pure()},
	"internal/similar":       {imports: []string{"internal/span"}, never: pure()},
	"internal/jsonc":         {never: pure()},
	"internal/perm":          {imports: []string{"internal/perm/glob", "internal/perm/notation", "internal/perm/places", "internal/similar"}, never: pure()},
	"internal/perm/glob":     {never: pure()},
	"internal/perm/notation": {never: pure()},
	"internal/perm/places":   {never: pure()},
	"internal/fsys":          {imports: []string{"internal/perm/glob"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/save":          {imports: []string{"internal/fsys", "internal/keylock", "internal/owndir", "internal/perm/glob", "internal/save/sys", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/save/sys":      {imports: []string{"internal/filelock", "internal/fsys", "internal/owndir", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/text/charset":  {imports: []string{"internal/span"}, never: pure()},
	"internal/text":          {imports: []string{"internal/span", "internal/text/charset"}, never: pure()},
	"internal/edit":          {imports: []string{"internal/similar", "internal/span"}, never: pure()},

	"internal/notebook/scan":   {imports: []string{"internal/span"}, never: pure()},
	"internal/notebook":        {imports: []string{"internal/notebook/scan", "internal/span"}, never: pure()},
	"internal/tokens":          {never: pure()},
	"internal/media":           {never: append(pure(), noVips, noPDF)},
	"internal/clients":         {imports: []string{"internal/fsys", "internal/jsonc", "internal/owndir", "internal/save", "internal/settings/disk", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/lsp/servers":     {imports: []string{"internal/lsp"}, never: pure()},
	"internal/settings":        {imports: []string{"internal/hooks", "internal/jsonc", "internal/lsp", "internal/lsp/servers", "internal/perm", "internal/perm/notation", "internal/similar", "internal/span"}, never: pure()},
	"internal/settings/disk":   {imports: []string{"internal/owndir", "internal/settings", "internal/fsys"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/settings/follow": {imports: []string{"internal/watch"}, never: []ban{noOS, noProcess, noNet, noProtocol, noCommand, noWatch}},
	// It starts the server that it tests.
	"internal/doctor":  {imports: []string{"internal/clients", "internal/fsys", "internal/history", "internal/hooks", "internal/lsp", "internal/lsp/servers", "internal/owndir", "internal/perm", "internal/phrase", "internal/settings", "internal/worker", "internal/worker/sandbox"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch}},
	"internal/report":  {imports: []string{"internal/access", "internal/changes", "internal/doctor", "internal/fsys", "internal/history", "internal/perm", "internal/phrase", "internal/search"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch, {"os", "it is told what there is"}}}, // it starts the pager
	"internal/restore": {imports: []string{"internal/fsys", "internal/history", "internal/save", "internal/span", "internal/toolcall", "internal/tools"}, never: []ban{noOS, noProcess, noNet, noProtocol, noCommand, noLog, noWatch}},
	// It listens on the loopback address for the user's browser, and asks nothing of another machine.
	"internal/historypage":   {imports: []string{"internal/changes", "internal/fsys", "internal/history", "internal/media", "internal/notebook", "internal/notebook/compare", "internal/report", "internal/restore", "internal/text"}, never: []ban{noOS, noProcess, noProtocol, noCommand, noLog, noWatch}},
	"internal/usage":         {imports: []string{"internal/similar"}, never: []ban{noOS, noProcess, noNet, noProtocol, noLog, noWatch}}, // it words the mistakes of cobra's command lines
	"internal/tokens/remote": {never: []ban{noOS, noProcess, noProtocol, noLog, noCommand, noWatch}},
	"internal/logging":       {never: []ban{noProtocol, noProcess, noNet, noCommand, noWatch}},
	"internal/watch":         {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog}},
	"internal/audit":         {imports: []string{"internal/filelock"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/records":       {imports: []string{"internal/fsys", "internal/owndir", "internal/span", "internal/state", "internal/text", "internal/text/charset"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/owndir":        {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/filelock":      {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/nameglob":      {never: pure()},
	"internal/hooks":         {imports: []string{"internal/filelock", "internal/nameglob", "internal/owndir", "internal/phrase", "internal/procgroup"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch}},
	"internal/clipboard":     {imports: []string{"internal/procgroup"}, never: []ban{noOS, noProtocol, noNet, noCommand, noLog, noWatch}},
	"internal/procgroup":     {never: []ban{noProtocol, noNet, noCommand, noLog, noWatch}},
	// It needs net/url: the protocol names files by URIs.
	"internal/lsp":          {imports: []string{"internal/fsys", "internal/linediff", "internal/phrase", "internal/procgroup"}, never: []ban{noProtocol, {"net", noNet.why}, {"net/http/...", noNet.why}, noCommand, noLog, noWatch}},
	"internal/hooks/editor": {imports: []string{"internal/filelock", "internal/hooks", "internal/owndir", "internal/phrase", "internal/procgroup"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch}},
	"internal/history":      {imports: []string{"internal/fsys", "internal/filelock", "internal/linediff", "internal/owndir", "internal/save", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"schemas":               {never: pure()},

	"internal/media/scaledjpeg":       {imports: []string{"internal/media"}, never: append(pure(), noVips, noPDF)},
	"internal/media/quickjpeg":        {never: append(pure(), noVips, noPDF)},
	"internal/media/raster":           {imports: []string{"internal/media", "internal/media/quickjpeg", "internal/media/scaledjpeg"}, never: append(pure(), noVips, noPDF)},
	"internal/worker/sandbox":         {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF}},
	"internal/worker/sandbox/planted": {imports: []string{"internal/worker"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch, noVips, noPDF}}, // serves tests
	"internal/worker":                 {imports: []string{"internal/procgroup", "internal/worker/sandbox"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch, noVips, noPDF}},
	"internal/media/decoder":          {imports: []string{"internal/media", "internal/worker"}, never: append(pure(), noVips, noPDF)},
	"internal/documents":              {imports: []string{"internal/fsys", "internal/media"}, never: append(pure(), noVips, noPDF)},
	"internal/media/office":           {imports: []string{"internal/media"}, never: append(pure(), noVips, noPDF)},
	"internal/media/officetest":       {never: append(pure(), noVips, noPDF)},
	"internal/media/enginetest":       {imports: []string{"internal/media", "internal/shortrun"}, never: append(pure(), noVips, noPDF)},
	"internal/media/vips":             {imports: []string{"internal/media", "internal/media/raster"}, never: append(pure(), noPDF)},
	"internal/media/pdf":              {imports: []string{"internal/filelock", "internal/media", "internal/media/quickjpeg", "internal/owndir"}, never: []ban{noProtocol, noProcess, noNet, noLog, noCommand, noWatch, noVips}},
	"internal/media/pdftest":          {never: append(pure(), noVips, noPDF)},

	// For tests and shows.
	"internal/archtest":           {},
	"internal/bench":              {imports: []string{"internal/mcptest"}},
	"internal/bench/floor":        {},
	"internal/clienttest":         {imports: []string{"internal/media/pdftest"}},
	"internal/conformance":        {never: pure()},
	"internal/demo":               {imports: []string{"internal/mcptest", "internal/media/pdftest"}},
	"internal/faults":             {imports: []string{"internal/mcptest", "internal/faults/crashstates", "internal/faults/histories", "internal/savemodel", "internal/winetest"}},
	"internal/faults/crashstates": {never: pure()},
	"internal/faults/histories":   {never: pure()},
	"internal/mcptest":            {imports: []string{"internal/mcptest/protocol"}},
	"internal/mcptest/protocol":   {never: pure()},
	"internal/volumetest":         {never: []ban{noNet, noProtocol, noCommand, noLog, noWatch}},
	"internal/savemodel":          {never: pure()},
	"internal/nativetest":         {never: []ban{noNet, noProtocol, noCommand, noWatch}},
	"internal/shortrun":           {never: []ban{noProcess, noNet, noProtocol, noCommand, noWatch}},
	// A port of this machine is the way from a stand-in for sh under Wine to the sh of Linux.
	"internal/winetest":        {never: []ban{noProtocol, noCommand, noWatch}},
	"internal/winetest/helper": {imports: []string{"internal/winetest"}, never: []ban{noProtocol, noCommand, noWatch}},
	"internal/winetest/proxy":  {imports: []string{"internal/winetest"}, never: []ban{noProtocol, noCommand, noWatch}},
	"internal/release":         {never: []ban{noProtocol, noCommand, noWatch, noVips, noPDF, noNet}},

	"internal/search/match/matchtest": {never: pure()},
}

func pure() []ban {
	return []ban{noOS, noProcess, noNet, noProtocol, noLog, noCommand, noWatch}
}

// pkg is one package of this module.
type pkg struct {
	files []*ast.File // without tests, for every system
	names []string    // of files
	tests int
}

// packages parses the whole module.
func packages(t *testing.T) map[string]*pkg {
	t.Helper()
	root := filepath.Join("..", "..")
	all := make(map[string]*pkg)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin" || name == "dist") {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); d.IsDir() && path != root && err == nil {
			return filepath.SkipDir // another module
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if all[dir] == nil {
			all[dir] = new(pkg)
		}
		if strings.HasSuffix(name, "_test.go") {
			all[dir].tests++
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all[dir].files, all[dir].names = append(all[dir].files, file), append(all[dir].names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImports(t *testing.T) {
	for dir, p := range packages(t) {
		r, known := layers[dir]
		if !known {
			t.Errorf("%s has no row in layers (internal/archtest/archtest_test.go): give it one with the packages that it imports", dir)
			continue
		}
		for _, file := range p.files {
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				r.check(t, dir, path)
			}
		}
	}
}

// check judges one import.
func (r layer) check(t *testing.T, dir, path string) {
	t.Helper()
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		switch {
		case strings.HasPrefix(own, "cmd/"):
			t.Errorf("%s imports %s, a command: move what is shared to a package below internal", dir, own)
		case !r.anything && !slices.Contains(r.imports, own):
			t.Errorf("%s imports %s, which its row in layers (internal/archtest/archtest_test.go) does not name", dir, own)
		}
		return
	}
	for _, b := range r.never {
		if b.forbids(path) {
			t.Errorf("%s imports %s: %s", dir, path, b.why)
		}
	}
}

func (b ban) forbids(path string) bool {
	base, below := strings.CutSuffix(b.imports, "/...")
	return path == base || below && strings.HasPrefix(path, base+"/")
}

// Only one package imports each of these, whatever the table allows.
func TestSoleImporters(t *testing.T) {
	sole := map[string]string{
		"github.com/mark3labs/mcp-go":            "internal/server",
		"github.com/mark3labs/mcp-go/server":     "tests only",
		"github.com/spf13/cobra":                 "cmd/fsmcp",
		"github.com/fsnotify/fsnotify":           "internal/watch",
		"github.com/h2non/bimg":                  "internal/media/vips",
		"github.com/sourcegraph/jsonrpc2":        "internal/lsp",
		"github.com/anishathalye/porcupine":      "internal/faults/histories",
		"github.com/deepteams/webp":              "internal/media/enginetest",
		"github.com/hanwen/go-fuse":              "internal/volumetest",
		"github.com/kovidgoyal/imaging":          "internal/media/raster",
		"github.com/pdfcpu/pdfcpu":               "internal/media/pdf",
		"github.com/klippa-app/go-pdfium":        "internal/media/pdf",
		"github.com/aymanbagabas/go-udiff":       "internal/changes",
		"github.com/wlynxg/chardet":              "internal/text/charset",
		"github.com/modelcontextprotocol/go-sdk": "tests only",
	}
	for dir, p := range packages(t) {
		for _, file := range p.files {
			for _, spec := range file.Imports {
				path := strings.Trim(spec.Path.Value, `"`)
				for library, home := range sole {
					if (path == library || strings.HasPrefix(path, library+"/")) && dir != home {
						t.Errorf("%s imports %s, which belongs to %s", dir, path, home)
					}
				}
			}
		}
	}
}

// "go install" refuses a module with a replacement.
func TestNoReplacement(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "replace ") {
			t.Error(line)
		}
	}
}

// Every package says what it promises; nothing runs before main; no package is
// a drawer for what has no place.
func TestPackages(t *testing.T) {
	for dir, p := range packages(t) {
		if len(p.files) == 0 {
			t.Errorf("%s has tests only; give it a file with a package comment", dir)
			continue
		}
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "misc"}, filepath.Base(dir)) {
			t.Errorf("%s: name the package after what it provides", dir)
		}
		described := false
		for _, file := range p.files {
			described = described || file.Doc != nil && len(strings.Fields(file.Doc.Text())) >= 5
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s has an init function", dir)
				}
			}
		}
		if !described {
			t.Errorf("%s has no package comment", dir)
		}
	}
}
