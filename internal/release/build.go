package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// programNames are the programs of an archive.
var programNames = []string{"fsmcp", "fsmcp-media"}

// A builder runs the go command.
type builder struct {
	*release
	dir string // for programs
}

// A tool is a published tool.
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// goCommand returns a command that depends on nothing in the environment but where things
// lie: what decides over the bytes of a program is set here.
func (b *builder) goCommand(system, arch string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false",
		"GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOWORK=off")
	return cmd
}

// compile builds one program and returns its path.
func (b *builder) compile(system, arch, name string) (string, error) {
	flags := "-s -w"
	if name == "fsmcp" {
		flags += " -X main.version=" + b.version + " -X main.builtFrom=" + b.commit
	}
	path := filepath.Join(b.dir, system+"-"+arch+"-"+name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	out, err := b.goCommand(system, arch, "build", "-ldflags", flags, "-o", path, "./cmd/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// build returns the programs of one system, the list of what is in them, and the licences
// of that.
func (b *builder) build(system, arch string) (programs []entry, list []byte, notices entry, err error) {
	var contents []program
	for _, name := range programNames {
		path, err := b.compile(system, arch, name)
		if err != nil {
			return nil, nil, notices, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, notices, err
		}
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, nil, notices, err
		}
		if system == "windows" {
			name += ".exe"
		}
		programs = append(programs, entry{name: name, data: data, mode: 0o755})
		contents = append(contents, program{name: name, hash: hash(data), info: info})
	}
	modules, err := b.modules(contents)
	if err != nil {
		return nil, nil, notices, err
	}
	list, err = billOfMaterials(subject{
		version: packageVersion(b.version), commit: b.commit, system: system, arch: arch, time: b.time,
	}, contents, modules)
	return programs, list, entry{name: "THIRD-PARTY.txt", data: thirdParty(modules), mode: 0o644}, err
}

// modules returns what is linked into the programs, sorted by path, with licences.
func (b *builder) modules(contents []program) ([]module, error) {
	known := make(map[string]bool)
	args := []string{"list", "-m", "-json"}
	for _, p := range contents {
		for _, d := range p.info.Deps {
			if d.Replace != nil {
				return nil, fmt.Errorf("%s is replaced", d.Path)
			}
			if name := d.Path + "@" + d.Version; !known[name] {
				known[name] = true
				args = append(args, name)
			}
		}
	}
	slices.Sort(args[3:])
	out, err := b.goCommand(runtime.GOOS, runtime.GOARCH, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w%s", err, stderrOf(err))
	}
	var all []module
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var m module
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		if err := m.readLicences(m.Dir); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	root, err := b.goCommand(runtime.GOOS, runtime.GOARCH, "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	std := module{Path: "std", Version: strings.TrimPrefix(contents[0].info.GoVersion, "go")}
	if err := std.readLicences(strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	return append(all, std), nil
}

func stderrOf(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "\n" + string(exit.Stderr)
	}
	return ""
}

// pages returns what fsmcp itself prints for people and their shells, and the tools that
// it publishes without any settings. It runs the program for this system.
func (b *builder) pages() ([]entry, []tool, error) {
	path, err := b.compile(runtime.GOOS, runtime.GOARCH, "fsmcp")
	if err != nil {
		return nil, nil, err
	}
	media, err := b.compile(runtime.GOOS, runtime.GOARCH, "fsmcp-media") // it reads PDFs, which a description then offers
	if err != nil {
		return nil, nil, err
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = b.dir
		cmd.Env = []string{"HOME=" + b.dir, "USERPROFILE=" + b.dir, "SystemRoot=" + os.Getenv("SystemRoot"), "FSMCP_MEDIA=" + media}
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("fsmcp %s: %w%s", strings.Join(args, " "), err, stderrOf(err))
		}
		return out, nil
	}
	var files []entry
	for shell, name := range map[string]string{"bash": "fsmcp.bash", "zsh": "_fsmcp", "fish": "fsmcp.fish", "powershell": "fsmcp.ps1"} {
		text, err := run("completion", shell)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, entry{name: "completions/" + name, data: text, mode: 0o644})
	}
	list, err := run("tools", "--json", "--tools", "all")
	if err != nil {
		return nil, nil, err
	}
	var published struct{ Tools []tool }
	if err := json.Unmarshal(list, &published); err != nil {
		return nil, nil, err
	}
	return files, published.Tools, nil
}
