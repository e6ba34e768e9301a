package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"text/template"
)

// generated are the files that are made once for all systems, with their templates in the
// folder packaging.
var generated = map[string]string{
	"server.json":                "server.json",
	"packages/homebrew/fsmcp.rb": "fsmcp.rb",
	"packages/scoop/fsmcp.json":  "fsmcp.json",
}

// fillIn makes the generated files. If not all systems were built, the files list only those
// that were.
func (r *release) fillIn(f facts) error {
	for name, from := range generated {
		text, err := r.fill(from, f)
		if err != nil {
			return err
		}
		if err := r.write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// fill returns a template with its gaps filled in. What ends in .json is checked and
// indented.
func (r *release) fill(name string, f facts) ([]byte, error) {
	path := filepath.Join(r.root, "packaging", filepath.FromSlash(name)+".tmpl")
	t, err := template.New(filepath.Base(path)).Option("missingkey=error").Funcs(template.FuncMap{
		"json": asJSON, "systems": f.systems, "platform": platform, "processor": processor, "npmName": npmName,
	}).ParseFiles(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, f); err != nil {
		return nil, err
	}
	if filepath.Ext(name) != ".json" {
		return out.Bytes(), nil
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, out.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return indented.Bytes(), nil
}

// systems returns the products of a system.
func (f facts) systems(system string) (found []product) {
	for _, p := range f.Products {
		if p.OS == system {
			found = append(found, p)
		}
	}
	return found
}

// Systems returns the systems for which there are products, without Windows.
func (f facts) Systems() (names []string) {
	for _, p := range f.Products {
		if p.OS != "windows" && !slices.Contains(names, p.OS) {
			names = append(names, p.OS)
		}
	}
	return names
}

// asJSON returns a value as JSON, with < and > as they are.
func asJSON(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSpace(out.Bytes())), err
}
