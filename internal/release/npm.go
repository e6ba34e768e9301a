package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// npmScope begins the names of the packages with programs: only its owner may publish there.
const npmScope = "@fsmcp/"

// npmName returns the name of the npm package that holds the programs of a system.
func npmName(p product) string {
	return npmScope + platform(p.OS) + "-" + processor(p.Arch)
}

// platform returns the name that Node.js has for a system.
func platform(system string) string {
	if system == "windows" {
		return "win32"
	}
	return system
}

// processor returns the name that Node.js has for a processor.
func processor(arch string) string {
	if arch == "amd64" {
		return "x64"
	}
	return arch
}

// npmPrograms makes the npm package of one system, with its programs and their licences.
// npm installs it where the manifest's os and cpu fit.
func (r *release) npmPrograms(f facts, programs, licences []entry) error {
	manifest, err := r.fill("npm/system.json", f)
	if err != nil {
		return err
	}
	files := []entry{{name: "package.json", data: manifest, mode: 0o644}}
	for _, e := range programs {
		e.name = "bin/" + e.name
		files = append(files, e)
	}
	return r.npmPack(npmFile(npmName(f.Product), f), slices.Concat(files, licences))
}

// npmStarter makes the package fsmcp of npm: a script that starts the program out of the
// package for the system that it runs on. Nothing is run or downloaded when it is installed.
func (r *release) npmStarter(f facts) error {
	manifest, err := r.fill("npm/package.json", f)
	if err != nil {
		return err
	}
	files := []entry{{name: "package.json", data: manifest, mode: 0o644}}
	for name, from := range map[string]string{"bin/fsmcp.js": "packaging/npm/fsmcp.js", "README.md": "packaging/npm/README.md", "LICENSE": "LICENSE"} {
		text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(from)))
		if err != nil {
			return err
		}
		files = append(files, entry{name: name, data: text, mode: 0o644})
	}
	return r.npmPack(npmFile("fsmcp", f), files)
}

// npmFile returns the name of a package's file, as npm pack has it.
func npmFile(name string, f facts) string {
	return "npm/" + strings.NewReplacer("@", "", "/", "-").Replace(name) + "-" + f.Version + ".tgz"
}

// npmPack writes a package as npm pack lays it out: everything is in the folder package.
func (r *release) npmPack(name string, files []entry) error {
	packed, err := pack("", "package/", files, r.time, r.level)
	if err != nil {
		return err
	}
	return r.write(name, packed)
}
