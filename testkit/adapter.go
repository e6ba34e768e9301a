package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// adapter tells how to start a server, and which of its tools does what: servers/NAME.json.
type adapter struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	Version string            `json:"version"`
	Setup   [][]string        `json:"setup"`   // run once, in the folder of the kit
	Command []string          `json:"command"` // starts the server for a workspace
	Env     map[string]string `json:"env"`     // all that the server gets beside PATH

	// Operations are named as in the steps of cases. NAMEMany does at once what a step asks of
	// several files.
	Operations map[string]operation `json:"operations"`

	tools string // the folder that Setup fills
}

// operation is the tool for one operation. Strings in Arguments may hold values of the step in
// braces; a string that is just {items} becomes a list with one Each for each file.
type operation struct {
	Tool      string `json:"tool"`
	Arguments any    `json:"arguments"`
	Each      any    `json:"each"`
	// Patterns says that the tool finds the files of a step by itself.
	Patterns bool `json:"patterns"`
	// Prepare is called first if the kit has to find the files of a step.
	Prepare []operation `json:"prepare"`
	// Again is a part of answers after which the same call is made again, at no cost.
	Again string `json:"again"`
}

// instead is what an agent does if a server has no tool for an operation of its own.
var instead = map[string]string{"tail": "read", "picture": "read", "find": "read", "editCell": "edit", "editAll": "edit"}

// values are what the braces of an adapter stand for.
type values map[string]any

// fill returns a template with its values.
func (v values) fill(template any) any {
	switch t := template.(type) {
	case string:
		if whole, ok := v[strings.Trim(t, "{}")]; ok && strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
			return whole
		}
		for name, value := range v {
			t = strings.ReplaceAll(t, "{"+name+"}", fmt.Sprint(value))
		}
		return t
	case []any:
		list := make([]any, len(t))
		for i, one := range t {
			list[i] = v.fill(one)
		}
		return list
	case map[string]any:
		filled := make(map[string]any)
		for key, one := range t {
			filled[key] = v.fill(one)
		}
		return filled
	}
	return template
}

func (v values) fillAll(templates []string) (filled []string) {
	for _, t := range templates {
		filled = append(filled, fmt.Sprint(v.fill(t)))
	}
	return filled
}

func readAdapter(file string) (*adapter, error) {
	a := new(adapter)
	if err := readJSON(file, a); err != nil {
		return nil, err
	}
	for name, o := range a.Operations {
		if o.Tool == "" {
			return nil, fmt.Errorf("%s: operation %s has no tool", file, name)
		}
	}
	return a, nil
}

// readJSON refuses what the value has no field for, as it is probably mistyped.
func readJSON(file string, value any) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// values returns what the adapter's own braces stand for.
func (a *adapter) values(p place) values {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = a.tools
	}
	return values{"tools": a.tools, "cache": cache, "workspace": p.work, "home": p.home}
}

// setUp builds or installs the server into a folder.
func (a *adapter) setUp(tools string) error {
	a.tools = tools
	for _, command := range a.Setup {
		words := a.values(place{}).fillAll(command)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %s: %w: %.300s", a.Name, strings.Join(words, " "), err, out)
		}
	}
	return nil
}

// start starts the server for a workspace.
func (a *adapter) start(p place) (*client, error) {
	v := a.values(p)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		env = append(env, name+"="+fmt.Sprint(v.fill(a.Env[name])))
	}
	return startServer(v.fillAll(a.Command), env, p.work)
}

// place is where a case is played: the workspace, in a folder with what must stay as it is, and
// a home, which is empty.
type place struct{ area, work, home string }

func newPlace(dir string) (place, error) {
	p := place{area: filepath.Join(dir, "area"), home: filepath.Join(dir, "home")}
	p.work = filepath.Join(p.area, "work")
	if err := os.MkdirAll(p.home, 0o755); err != nil {
		return p, err
	}
	return p, os.MkdirAll(p.work, 0o755)
}
