package main

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

const top = "../.."

// checkout copies the files that git knows, and new ones, into a repository of one commit.
func checkout(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	list := exec.Command("git", "ls-files", "-co", "--exclude-standard", "-z")
	list.Dir = top
	names, err := list.Output()
	if err != nil {
		t.Skipf("!!! NOT TESTED: this is no checkout: %v !!!", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(top, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // removed, or a link
		}
		data, err := os.ReadFile(filepath.Join(top, name))
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "all")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.invalid",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.invalid")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestRelease makes the release for one system, looks into it, and makes it again elsewhere.
func TestRelease(t *testing.T) {
	first := makeIn(t, checkout(t), "npm")
	names := filesIn(t, first)
	t.Run("same bytes elsewhere", func(t *testing.T) {
		shortrun.Leave(t, "a second release, in another folder")
		second := makeIn(t, checkout(t), "")
		if got := filesIn(t, second); !slices.Equal(got, names) {
			t.Fatalf("the second run made %q, the first %q", got, names)
		}
		for _, name := range names {
			if !bytes.Equal(read(t, first, name), read(t, second, name)) {
				t.Errorf("%s has other bytes when it is made in another folder", name)
			}
		}
	})
	checkSums(t, first)

	base := "fsmcp-1.2.3-linux-amd64"
	for _, name := range []string{base + ".tar.gz", base + ".mcpb", base + ".cdx.json", base + ".oci.tar", "npm/fsmcp-1.2.3.tgz", "npm/fsmcp-linux-x64-1.2.3.tgz", "server.json", "packages/homebrew/fsmcp.rb", "packages/scoop/fsmcp.json"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s", name)
		}
	}
	if bytes.Contains(read(t, first, base+".tar.gz"), []byte(os.TempDir())) {
		t.Error("a path of this machine is in the archive")
	}
	dir := t.TempDir()
	untar(t, read(t, first, base+".tar.gz"), dir)
	for _, name := range []string{"fsmcp", "fsmcp-media", "LICENSE", "README.md", "CHANGELOG.md", "docs/clients.md", "docs/demo.svg", "THIRD-PARTY.txt", "completions/fsmcp.bash", "completions/_fsmcp"} {
		if info, err := os.Stat(filepath.Join(dir, "fsmcp-1.2.3", name)); err != nil || info.Size() == 0 {
			t.Errorf("the archive has no %s: %v", name, err)
		}
	}
	valid(t, "github.com/CycloneDX/cyclonedx-go@v0.9.3", "schema/bom-1.6.schema.json", read(t, first, base+".cdx.json"))
	valid(t, "github.com/modelcontextprotocol/registry@v1.8.8", "internal/validators/schemas/2025-12-11.json", read(t, first, "server.json"))
	sameHashes(t, first, base)

	bundle := t.TempDir()
	files, err := unpackZip(read(t, first, base+".mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		put(t, filepath.Join(bundle, f.name), f.data, f.mode)
	}
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Log("!!! NOT TESTED: the programs are those of another system !!!")
		return
	}
	answers(t, filepath.Join(dir, "fsmcp-1.2.3", "fsmcp"), "v1.2.3", "0123abcd", true)
	launched(t, bundle)
	t.Run("image", func(t *testing.T) { runsInContainer(t, read(t, first, base+".oci.tar")) })
	t.Run("npm", func(t *testing.T) { installedByNPM(t, first) })
}

// makeIn makes a release in a checkout.
func makeIn(t *testing.T, root, npm string) (out string) {
	t.Helper()
	out = filepath.Join(root, "dist")
	var log bytes.Buffer
	r := release{
		root: root, out: out, version: "v1.2.3", commit: "0123abcd", time: time.Unix(1_700_000_000, 0).UTC(),
		targets: []string{"linux/amd64"}, level: flate.BestSpeed, npm: npm, log: &log,
	}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "!!!") {
			t.Log(strings.TrimSpace(line))
		}
	}
	return out
}

// checkSums compares SHA256SUMS with the files.
func checkSums(t *testing.T, dir string) {
	t.Helper()
	listed := 0
	for line := range strings.Lines(string(read(t, dir, marker))) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if hash(read(t, dir, name)) != sum {
			t.Errorf("the checksum of %s is wrong", name)
		}
		listed++
	}
	if all := len(filesIn(t, dir)) - 1; listed != all {
		t.Errorf("%d of %d files have a checksum", listed, all)
	}
}

// sameHashes checks that the generated files name the checksums of the files they point
// at, and that they say that nothing is published.
func sameHashes(t *testing.T, dir, base string) {
	t.Helper()
	for name, file := range map[string]string{"server.json": base + ".mcpb", "packages/homebrew/fsmcp.rb": base + ".tar.gz"} {
		text := string(read(t, dir, name))
		if !strings.Contains(text, hash(read(t, dir, file))) || !strings.Contains(text, address+file) {
			t.Errorf("%s does not name %s with its checksum:\n%s", name, file, text)
		}
	}
	for _, name := range generated {
		text := strings.ToLower(string(read(t, top+"/packaging", name+".tmpl")))
		if !strings.Contains(text, "unpublished") {
			t.Errorf("packaging/%s.tmpl does not say that nothing is published", name)
		}
	}
}

// launched starts the server of a bundle as its manifest and a form filled in say, and
// compares the tools that the manifest lists with those that the server publishes.
func launched(t *testing.T, bundle string) {
	t.Helper()
	var manifest struct {
		Tools []tool
	}
	if err := json.Unmarshal(read(t, bundle, "manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	folders := []string{t.TempDir(), t.TempDir()}
	c := fromForm(t, bundle, map[string]any{"folders": folders})
	if list := publishedBy(t, c); len(list) == 0 || !slices.Equal(list, manifest.Tools) {
		t.Errorf("the manifest lists %v, the server %v", manifest.Tools, list)
	}
	for _, folder := range folders {
		name := filepath.Join(folder, "a.txt")
		put(t, name, []byte("hello\n"), 0o644)
		if r, err := c.Call("Read", map[string]any{"file_path": name}); err != nil || r.IsError {
			t.Errorf("Read in %s: %v %v", folder, r, err)
		}
	}

	c = fromForm(t, bundle, map[string]any{"folders": folders, "read_only": true, "deny": "Read(.env), Read(a.*)"})
	if list := publishedBy(t, c); len(list) != 3 || list[0].Name != "Read" {
		t.Errorf("read-only publishes %v", list)
	}
	if r, err := c.Call("Read", map[string]any{"file_path": filepath.Join(folders[0], "a.txt")}); err != nil || !r.IsError || !strings.Contains(r.Text, "Read(a.*)") {
		t.Errorf("the second rule of the form is not followed: %v %v", r, err)
	}
}

func publishedBy(t *testing.T, c *mcptest.Client) []tool {
	t.Helper()
	published, err := c.Request("tools/list", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tools []tool }
	if err := json.Unmarshal(published.Result, &list); err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// fromForm starts a bundle's server with the values of a form, replaced as the official packer's
// library does it (getMcpConfigForManifest): a list in the place of an argument, all else as text.
func fromForm(t *testing.T, bundle string, form map[string]any) *mcptest.Client {
	t.Helper()
	var manifest struct {
		Server struct {
			Config struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		UserConfig map[string]struct{ Default any } `json:"user_config"`
	}
	if err := json.Unmarshal(read(t, bundle, "manifest.json"), &manifest); err != nil {
		t.Fatal(err)
	}
	fill := func(text string) string {
		text = strings.ReplaceAll(text, "${__dirname}", bundle)
		for key, field := range manifest.UserConfig {
			value, given := form[key]
			if !given {
				value = field.Default
			}
			text = strings.ReplaceAll(text, "${user_config."+key+"}", fmt.Sprint(value))
		}
		return text
	}
	config := manifest.Server.Config
	var args []string
	for _, arg := range config.Args {
		if arg == "${user_config.folders}" {
			args = append(args, form["folders"].([]string)...)
			continue
		}
		args = append(args, fill(arg))
	}
	var env []string
	for name, value := range config.Env {
		env = append(env, name+"="+fill(value))
	}
	return startWith(t, env, fill(config.Command), args...)
}

// TestInstall installs the server out of a checkout as a developer would, and uses it.
func TestInstall(t *testing.T) {
	dir := checkout(t)
	bin := t.TempDir()
	cmd := exec.Command("go", "install", "./cmd/fsmcp")
	cmd.Dir = dir
	// What other tests compiled is compiled with the same flag; a plain "go install" takes
	// minutes here.
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	program := filepath.Join(bin, "fsmcp")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	commit := git(t, dir, "rev-parse", "HEAD")
	answers(t, program, "v0.0.0-", commit, false)
}

// answers checks what a program says of itself, and that it reads a text and, where
// fsmcp-media lies beside it, a PDF.
func answers(t *testing.T, program, version, commit string, pdf bool) {
	t.Helper()
	out, err := exec.Command(program, "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Version, Commit string
		Engines         []string
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(said.Version, version) || said.Commit != commit {
		t.Errorf("the program says %s, want %s %s", out, version, commit)
	}
	if found := slices.Contains(said.Engines, "pdf"); found != pdf {
		t.Errorf("engines %q, want pdf: %v", said.Engines, pdf)
	}

	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o644)
	put(t, filepath.Join(dir, "a.pdf"), []byte("%PDF-1.7\n"), 0o644)
	c := start(t, program, "serve", dir)
	if r, err := c.Call("Read", map[string]any{"file_path": filepath.Join(dir, "a.txt")}); err != nil || r.IsError || !strings.Contains(r.Text, "1\thello") {
		t.Errorf("Read: %v %v", r, err)
	}
	if !pdf {
		if r, err := c.Call("Read", map[string]any{"file_path": filepath.Join(dir, "a.pdf")}); err != nil || !r.IsError || !strings.Contains(r.Text, "fsmcp-media") {
			t.Errorf("the refusal of a PDF does not name what is missing: %v %v", r, err)
		}
	}
}

// start starts a server with a home of its own.
func start(t *testing.T, program string, args ...string) *mcptest.Client {
	t.Helper()
	return startWith(t, nil, program, args...)
}

// startWith is start with more variables.
func startWith(t *testing.T, env []string, program string, args ...string) *mcptest.Client {
	t.Helper()
	home := t.TempDir()
	c, err := mcptest.Start(mcptest.Options{Path: program, Args: args, Dir: home, Env: append(append(os.Environ(), env...), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "FSMCP_MEDIA=")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		t.Fatal(err)
	}
	return c
}

// valid checks a text against a schema that lies in a module.
func valid(t *testing.T, module, name string, text []byte) {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // no module: nothing is added to go.sum
	out, err := cmd.Output()
	var found struct{ Dir string }
	if err != nil || json.Unmarshal(out, &found) != nil {
		t.Logf("!!! NOT TESTED: %s, for %s cannot be had here !!!", name, module)
		return
	}
	compiler := jsonschema.NewCompiler()
	base := filepath.Join(found.Dir, filepath.FromSlash(name))
	// The schema of CycloneDX refers to two beside it. That of signatures has another name there.
	compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		path := filepath.Join(filepath.Dir(base), url[strings.LastIndex(url, "/")+1:])
		if strings.HasSuffix(path, "jsf-0.82.schema.json") {
			path = strings.TrimSuffix(path, ".json") + "x.json"
		}
		return os.Open(path)
	}
	data, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("file:///"+filepath.Base(base), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("file:///" + filepath.Base(base))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %#v", name, err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t *testing.T, path string, data []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		t.Fatal(err)
	}
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func untar(t *testing.T, data []byte, dir string) {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name <= last || h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s: order, owner %d:%d or time %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		last = h.Name
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, h.Name), text, h.FileInfo().Mode())
	}
}
