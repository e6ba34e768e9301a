package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packerPackage is the official packer of MCP bundles.
const packerPackage = "@anthropic-ai/mcpb@2.1.2"

// A packer is the official packer's program; "" if it cannot be installed.
type packer string

// packer installs the official packer. Without it bundles are made all the same, and the
// log says loudly that they are not checked.
func (r *release) packer(work string) packer {
	if r.npm == "" {
		return ""
	}
	dir := filepath.Join(work, "packer")
	out, err := exec.Command(r.npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", packerPackage).CombinedOutput()
	if err != nil {
		fmt.Fprintf(r.log, "release: !!! THE BUNDLES ARE NOT CHECKED: %s cannot be installed here: %v !!!\n%s", packerPackage, err, out)
		return ""
	}
	return packer(filepath.Join(dir, "node_modules", ".bin", "mcpb"))
}

// bundle returns the MCP bundle of one system: the archive's files, the programs in the
// folder server, and a manifest. Two things are done to it: the official packer validates
// and packs it, and its files are packed once more with one time, since the packer takes
// that of its run.
func (r *release) bundle(f facts, files []entry, packer packer) ([]byte, error) {
	manifest, err := r.fill("manifest.json", f)
	if err != nil {
		return nil, err
	}
	all := []entry{{name: "manifest.json", data: manifest, mode: 0o644}}
	for _, e := range files {
		switch {
		case e.mode&0o111 != 0:
			e.name = "server/" + e.name
		case strings.Contains(e.name, "/"): // completions and manual pages are for a shell
			continue
		}
		all = append(all, e)
	}
	all = sorted(all)
	if packer != "" {
		if err := packer.agrees(all); err != nil {
			return nil, err
		}
	}
	return packZip(all, r.time, r.level)
}

// agrees reports an error if the packer refuses the files or makes other ones of them.
func (p packer) agrees(files []entry) error {
	dir, err := os.MkdirTemp("", "fsmcp-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, e := range files {
		path := filepath.Join(dir, "files", filepath.FromSlash(e.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, e.data, e.mode); err != nil {
			return err
		}
		if err := os.Chmod(path, e.mode); err != nil { // whatever the umask
			return err
		}
	}
	packed := filepath.Join(dir, "packed.mcpb")
	for _, args := range [][]string{{"validate", filepath.Join(dir, "files", "manifest.json")}, {"pack", filepath.Join(dir, "files"), packed}} {
		if out, err := exec.Command(string(p), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("mcpb %s: %w\n%s", args[0], err, out)
		}
	}
	data, err := os.ReadFile(packed)
	if err != nil {
		return err
	}
	made, err := unpackZip(data)
	if err != nil {
		return err
	}
	if len(made) != len(files) {
		return fmt.Errorf("mcpb packed %d files, not %d", len(made), len(files))
	}
	for i, e := range files {
		if m := made[i]; m.name != e.name || m.mode != e.mode || !bytes.Equal(m.data, e.data) {
			return fmt.Errorf("mcpb packed %s (%v), not %s (%v) as it is", m.name, m.mode, e.name, e.mode)
		}
	}
	return nil
}
