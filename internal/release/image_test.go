package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// imageBytes bounds an image.
const imageBytes = 35 << 20

// A loadedImage is an image as a container engine reads it.
type loadedImage struct {
	config struct {
		Config struct {
			User, WorkingDir     string
			Entrypoint, Cmd, Env []string
		}
	}
	layer []byte // a tar
}

// loadImage reads an image as an engine does, and checks each blob against its descriptor.
func loadImage(t *testing.T, data []byte) (im loadedImage) {
	t.Helper()
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	const schemas = "github.com/opencontainers/image-spec@v1.1.1"
	used := []string{"oci-layout", "index.json", "manifest.json", "blobs/", "blobs/sha256/"}
	blob := func(d descriptor) []byte {
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		text, there := files[name]
		if !there || len(text) != d.Size || "sha256:"+hash(text) != d.Digest {
			t.Fatalf("%+v does not describe the %d bytes of its blob", d, len(text))
		}
		used = append(used, name)
		return text
	}
	decode := func(text []byte, into any) {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	valid(t, schemas, "schema/image-layout-schema.json", files["oci-layout"])
	valid(t, schemas, "schema/image-index-schema.json", files["index.json"])
	var index struct{ Manifests []descriptor }
	decode(files["index.json"], &index)
	if len(index.Manifests) != 1 {
		t.Fatalf("the index has %d manifests", len(index.Manifests))
	}
	text := blob(index.Manifests[0])
	valid(t, schemas, "schema/image-manifest-schema.json", text)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(text, &manifest)
	config := blob(manifest.Config)
	valid(t, schemas, "schema/config-schema.json", config)
	decode(config, &im.config)
	var layers struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(config, &layers)
	if len(manifest.Layers) != 1 || len(layers.RootFS.DiffIDs) != 1 {
		t.Fatalf("layers %v, in the configuration %v", manifest.Layers, layers.RootFS.DiffIDs)
	}
	r, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0])))
	if err == nil {
		im.layer, err = io.ReadAll(r)
	}
	if err != nil || "sha256:"+hash(im.layer) != layers.RootFS.DiffIDs[0] {
		t.Fatalf("the layer is not that of the configuration: %v", err)
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(files["manifest.json"], &docker)
	if len(docker) != 1 || !slices.Contains(used, docker[0].Config) || !slices.Equal(docker[0].Layers, []string{used[len(used)-1]}) || !strings.HasPrefix(docker[0].RepoTags[0], "localhost/fsmcp:") {
		t.Errorf("Docker's manifest is %+v", docker)
	}
	for name := range files {
		if !slices.Contains(used, name) {
			t.Errorf("%s is not described", name)
		}
	}
	return im
}

// The index of an image describes its blobs, and another run makes the same bytes.
func TestImage(t *testing.T) {
	r := release{commit: "0123abcd", time: time.Unix(1_700_000_000, 0).UTC(), level: bestCompression}
	f := facts{Version: "1.2.3", Product: product{OS: "linux", Arch: "arm64"}}
	make := func() []byte {
		data, err := r.image(f, []entry{{"fsmcp", []byte("program"), 0o755}}, []entry{{"LICENSE", []byte("free"), 0o644}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := make()
	if !bytes.Equal(data, make()) {
		t.Error("another run makes other bytes")
	}
	im := loadImage(t, data)
	if c := im.config.Config; c.User != "65532:65532" || !slices.Equal(slices.Concat(c.Entrypoint, c.Cmd), []string{"/usr/bin/fsmcp", "serve", "/project"}) {
		t.Errorf("the configuration is %+v", c)
	}
	names := ""
	for r := tar.NewReader(bytes.NewReader(im.layer)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name <= names || !strings.HasSuffix(h.Name, "/") && !strings.Contains(names, h.Name[:strings.LastIndex(h.Name, "/")+1]) {
			t.Errorf("%s stands behind %s", h.Name, names)
		}
		names = h.Name
		if strings.HasPrefix(h.Name, "usr/bin/") && h.Typeflag == tar.TypeReg && h.Mode != 0o755 {
			t.Errorf("%s has mode %o", h.Name, h.Mode)
		}
	}
}

// runsInContainer unpacks an image and starts the server in it as an engine would: in a root
// of its own, as the image's user, with a folder and a single file mounted.
func runsInContainer(t *testing.T, data []byte) {
	if len(data) > imageBytes {
		t.Errorf("the image has %d bytes, more than %d", len(data), imageBytes)
	}
	im := loadImage(t, data)
	if runtime.GOOS != "linux" || os.Getuid() != 0 || exec.Command("unshare", "-m", "-p", "-f", "chroot", "--userspec=65532:65532", "/", "true").Run() != nil {
		t.Skip("!!! NOT TESTED: a server in the image: this is not root, or it may not unshare and chroot !!!")
	}
	top := t.TempDir()
	root := filepath.Join(top, "root")
	unpackLayer(t, im.layer, root)
	for dir := top; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) { // the folders of a test are closed to other users
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	project, single := filepath.Join(root, "project"), filepath.Join(top, "single.txt")
	for _, name := range []string{filepath.Join(project, "a.txt"), filepath.Join(project, "single.txt"), single} {
		put(t, name, []byte("good day\n"), 0o644)
		if err := os.Chown(name, imageUser, imageUser); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"proc/x", "dev/null"} { // an engine makes what it mounts on
		put(t, filepath.Join(root, name), nil, 0o644)
	}
	command := func(words ...string) []string {
		script := `mount --bind "$1" "$2/project/single.txt" && mount -t proc proc "$2/proc" && mount --bind /dev/null "$2/dev/null" && root=$2 && shift 2 && exec chroot --userspec=65532:65532 "$root" "$@"`
		return append([]string{"-m", "-p", "-f", "--kill-child", "sh", "-c", script, "sh", single, root}, words...)
	}
	config := im.config.Config
	env := append(slices.Clone(config.Env), "PATH="+os.Getenv("PATH"))
	said := exec.Command("unshare", command(append(config.Entrypoint, "--version")...)...)
	said.Env = env
	if out, err := said.CombinedOutput(); err != nil || string(out) != "fsmcp v1.2.3 (0123abcd), engines: go, pdf\n" {
		t.Fatalf("--version in the image: %v\n%s", err, out)
	}

	unshare, _ := exec.LookPath("unshare") // it ran
	c, err := mcptest.Start(mcptest.Options{Path: unshare, Args: command(slices.Concat(config.Entrypoint, config.Cmd)...), Dir: "/", Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(single)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/project/a.txt", "/project/single.txt"} {
		if r, err := c.Call("Read", map[string]any{"file_path": name}); err != nil || r.IsError {
			t.Fatalf("Read %s: %v %v", name, err, r)
		}
		if r, err := c.Call("Edit", map[string]any{"file_path": name, "old_string": "day", "new_string": "night"}); err != nil || r.IsError {
			t.Errorf("Edit %s: %v %v", name, err, r)
		}
	}
	if got := string(read(t, project, "a.txt")); got != "good night\n" {
		t.Errorf("a file of the folder holds %q", got)
	}
	after, err := os.Stat(single)
	if got := string(read(t, top, "single.txt")); err != nil || got != "good night\n" || !os.SameFile(before, after) {
		t.Errorf("the mounted file holds %q, is the same: %v, %v", got, os.SameFile(before, after), err)
	}
	kept := exec.Command("unshare", command("/usr/bin/fsmcp", "history", "list", "--dir", "/project")...)
	kept.Env = env
	if out, err := kept.CombinedOutput(); err != nil || strings.Count(string(out), "  Edit  /project/") != 2 {
		t.Errorf("the history in the image: %v\n%s", err, out)
	}
}

func unpackLayer(t *testing.T, data []byte, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			text, _ := io.ReadAll(r)
			put(t, path, text, 0o600)
		}
		if err == nil {
			err = os.Chown(path, h.Uid, h.Gid)
		}
		if err == nil {
			err = os.Chmod(path, h.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
