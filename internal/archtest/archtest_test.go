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

// A ban keeps one import out of a room, with the reason. An import ends in
// "/..." where all below it is meant too.
type ban struct{ imports, why string }

// A room is one package: what of this module it may import (anything, where
// anyRoom is set), and what else it may not.
type room struct {
	anyRoom bool
	rooms   []string
	never   []ban
}

// Reasons that several rooms share.
var (
	noOS       = ban{"os", "it is pure: bytes in, bytes out"}
	noProcess  = ban{"os/exec", "only hooks, workers and language servers start programs"}
	noProtocol = ban{"github.com/mark3labs/mcp-go/...", "the protocol is the server's"}
	noLog      = ban{"github.com/rs/zerolog/...", "it returns facts; others log"}
	noNet      = ban{"net/...", "nothing leaves the machine"}
	noCommand  = ban{"github.com/spf13/...", "flags are the command's"}
	noWatch    = ban{"github.com/fsnotify/...", "only watch watches"}
	noVips     = ban{"github.com/h2non/...", "no C code in the server"}
	noPDF      = ban{"github.com/pdfcpu/...", "no large decoder in the server"}
)

// rooms is the table: a package that is not in it does not pass.
var rooms = map[string]room{
	"cmd/fsmcp":       {anyRoom: true, never: []ban{noProtocol, noVips, noPDF}},
	"cmd/fsmcp-media": {anyRoom: true, never: []ban{noProtocol, noVips}},
	"cmd/fsmcp-vips":  {anyRoom: true, never: []ban{noProtocol}},

	"internal/server":           {rooms: []string{"internal/phrase", "internal/refusal", "internal/server/arguments", "internal/server/wire", "internal/tools", "schemas"}, never: []ban{noProcess, noNet, noCommand, noWatch, noVips, noPDF, {"os", "it does not look at files"}}},
	"internal/server/arguments": {rooms: []string{"internal/alike", "internal/phrase", "internal/refusal", "internal/server/wire", "internal/tools"}, never: append(pure(), noVips, noPDF)},
	"internal/server/wire":      {never: append(pure(), noVips, noPDF)},
	"internal/tools": {
		rooms: []string{"internal/access", "internal/edit", "internal/fsys", "internal/history", "internal/media", "internal/notebook", "internal/perm", "internal/phrase", "internal/refusal", "internal/save", "internal/span", "internal/state", "internal/text", "internal/tokens"},
		never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch, noVips, noPDF, {"os", "the door to the disk is fsys and save"}},
	},
	"internal/span":      {never: pure()},
	"internal/phrase":    {rooms: []string{"internal/fsys"}, never: pure()},
	"internal/refusal":   {rooms: []string{"internal/access", "internal/edit", "internal/fsys", "internal/history", "internal/media", "internal/notebook", "internal/perm", "internal/phrase", "internal/save", "internal/text"}, never: pure()},
	"internal/access":    {rooms: []string{"internal/alike", "internal/fsys", "internal/perm"}, never: pure()},
	"internal/state":     {rooms: []string{"internal/fsys", "internal/span", "internal/text"}, never: pure()},
	"internal/alike":     {never: pure()},
	"internal/perm":      {rooms: []string{"internal/alike", "internal/perm/glob"}, never: pure()},
	"internal/perm/glob": {never: pure()},
	"internal/fsys":      {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/save":      {rooms: []string{"internal/filelock", "internal/fsys", "internal/owndir", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/text":      {rooms: []string{"internal/span"}, never: pure()},
	"internal/edit":      {rooms: []string{"internal/span"}, never: pure()},

	"internal/notebook":      {rooms: []string{"internal/span", "internal/text"}, never: pure()},
	"internal/tokens":        {never: pure()},
	"internal/media":         {never: append(pure(), noVips, noPDF)},
	"internal/config":        {rooms: []string{"internal/alike", "internal/perm"}, never: pure()},
	"internal/tokens/remote": {never: []ban{noOS, noProcess, noProtocol, noLog, noCommand, noWatch}},
	"internal/watch":         {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog}},
	"internal/audit":         {rooms: []string{"internal/filelock"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/owndir":        {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/filelock":      {never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"internal/hooks":         {rooms: []string{"internal/filelock", "internal/owndir"}, never: []ban{noProtocol, noNet, noCommand, noLog, noWatch}},
	"internal/history":       {rooms: []string{"internal/filelock", "internal/owndir", "internal/save", "internal/span"}, never: []ban{noProtocol, noProcess, noNet, noCommand, noLog, noWatch}},
	"schemas":                {never: pure()},

	"internal/media/scaledjpeg": {never: append(pure(), noVips, noPDF)},
	"internal/media/raster":     {rooms: []string{"internal/media", "internal/media/scaledjpeg"}, never: append(pure(), noVips, noPDF)},
	"internal/worker":           {never: []ban{noProtocol, noNet, noCommand, noLog, noWatch, noVips, noPDF}},
	"internal/darkroom":         {rooms: []string{"internal/media", "internal/worker"}, never: append(pure(), noVips, noPDF)},
	"internal/media/enginetest": {rooms: []string{"internal/media"}, never: append(pure(), noVips, noPDF)},
	"internal/media/vips":       {rooms: []string{"internal/media", "internal/media/raster"}, never: append(pure(), noPDF)},
	"internal/media/pdf":        {rooms: []string{"internal/filelock", "internal/media", "internal/owndir"}, never: []ban{noProtocol, noProcess, noNet, noLog, noCommand, noWatch, noVips}},
	"internal/media/pdftest":    {never: append(pure(), noVips, noPDF)},

	// Rooms of tests and shows.
	"internal/archtest":    {},
	"internal/bench":       {rooms: []string{"internal/mcptest"}},
	"internal/bench/floor": {},
	"internal/conformance": {never: pure()},
	"internal/demo":        {rooms: []string{"internal/mcptest", "internal/media/pdftest"}},
	"internal/faults":      {rooms: []string{"internal/mcptest"}},
	"internal/mcptest":     {},
}

func pure() []ban {
	return []ban{noOS, noProcess, noNet, noProtocol, noLog, noCommand, noWatch}
}

// pkg is one package of this module.
type pkg struct {
	files []*ast.File // without tests, for every system
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
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin") {
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
		all[dir].files = append(all[dir].files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImports(t *testing.T) {
	for dir, p := range packages(t) {
		r, known := rooms[dir]
		if !known {
			t.Errorf("%s is not in the table of rooms", dir)
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
func (r room) check(t *testing.T, dir, path string) {
	t.Helper()
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		switch {
		case strings.HasPrefix(own, "cmd/"):
			t.Errorf("%s imports %s: nobody imports a command", dir, own)
		case !r.anyRoom && !slices.Contains(r.rooms, own):
			t.Errorf("%s imports %s, which its row does not name", dir, own)
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

// Each of these has one room, whatever the table allows.
func TestSoleImporters(t *testing.T) {
	sole := map[string]string{
		"github.com/mark3labs/mcp-go":            "internal/server",
		"github.com/mark3labs/mcp-go/server":     "tests only",
		"github.com/spf13/cobra":                 "cmd/fsmcp",
		"github.com/fsnotify/fsnotify":           "internal/watch",
		"github.com/h2non/bimg":                  "internal/media/vips",
		"github.com/deepteams/webp":              "internal/media/enginetest",
		"github.com/kovidgoyal/imaging":          "internal/media/raster",
		"github.com/pdfcpu/pdfcpu":               "internal/media/pdf",
		"github.com/klippa-app/go-pdfium":        "internal/media/pdf",
		"github.com/wlynxg/chardet":              "internal/text",
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
			t.Errorf("%s: what is it?", dir)
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
