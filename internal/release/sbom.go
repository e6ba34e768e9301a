package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A program is one that was built, with what Go recorded in it.
type program struct {
	name, hash string
	info       *debug.BuildInfo
}

// A module is one that is linked into a program.
type module struct {
	Path, Version, Sum string
	Dir                string
	licences           []string // identifiers of SPDX; none if unknown
	texts              []entry  // its licences and notices
}

// licenceFile matches the names of files with a licence or a notice.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)`)

// licencePhrases are sentences that only one licence has, with its identifier at SPDX.
// White space and case do not count.
var licencePhrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"Unlicense", "this is free and unencumbered software"},
	{"CC0-1.0", "cc0 1.0 universal"},
}

// licencesIn returns the licences that a text holds.
func licencesIn(text string) (ids []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, l := range licencePhrases {
		if strings.Contains(text, l.phrase) {
			ids = append(ids, l.id)
		}
	}
	if strings.Contains(text, "redistribution and use in source and binary forms") {
		id := "BSD-2-Clause"
		if strings.Contains(text, "endorse or promote products") {
			id = "BSD-3-Clause"
		}
		ids = append(ids, id)
	}
	// A program that holds such code would have to be under that licence itself. The
	// licence of Mozilla names it as a secondary one.
	if strings.Contains(text, "gnu general public license") && !slices.Contains(ids, "MPL-2.0") {
		ids = append(ids, "GPL")
	}
	return ids
}

// readLicences reads the licences in the top folder of a module.
func (m *module) readLicences(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		m.texts = append(m.texts, entry{name: f.Name(), data: text})
		for _, id := range licencesIn(string(text)) {
			if id == "GPL" {
				return fmt.Errorf("%s %s: %s holds the GNU General Public License: fsmcp cannot be given away with it", m.Path, m.Version, f.Name())
			}
			if !slices.Contains(m.licences, id) {
				m.licences = append(m.licences, id)
			}
		}
	}
	if len(m.texts) == 0 {
		return fmt.Errorf("%s %s has no licence", m.Path, m.Version)
	}
	return nil
}

// thirdParty returns the licences and notices of all modules, which have to go along with
// a program.
func thirdParty(modules []module) []byte {
	var out bytes.Buffer
	out.WriteString("The programs in this package contain the following modules, each under its own licence.\n")
	for _, m := range modules {
		for _, text := range m.texts {
			title := m.Path + " " + m.Version + ": " + text.name
			fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), title, strings.Repeat("=", 80), bytes.TrimSpace(text.data))
		}
	}
	return out.Bytes()
}

// A subject is the package that a list describes.
type subject struct {
	version, commit string
	system, arch    string
	time            time.Time
}

// object is one of CycloneDX 1.6, with its members (https://cyclonedx.org/docs/1.6/json/).
type object map[string]any

// billOfMaterials returns the list of contents (SBOM) of a package, as JSON of CycloneDX.
// What each module itself needs is not in it: Go records only what a program holds.
func billOfMaterials(s subject, programs []program, modules []module) ([]byte, error) {
	whole := component("application", "fsmcp", "fsmcp", s.version, ownLicence)
	whole["properties"] = []object{property("fsmcp:commit", s.commit), property("fsmcp:os", s.system), property("fsmcp:arch", s.arch)}
	var components, needs []object
	var built []string
	for _, p := range programs {
		ref := "program:" + p.name
		built = append(built, ref)
		settings, holds := []object{}, []string{packageURL("std", strings.TrimPrefix(p.info.GoVersion, "go"))}
		for _, setting := range p.info.Settings {
			settings = append(settings, property("go:build:"+setting.Key, setting.Value))
		}
		for _, m := range p.info.Deps {
			holds = append(holds, packageURL(m.Path, m.Version))
		}
		c := component("application", ref, p.name, s.version, ownLicence)
		c["hashes"], c["properties"] = []object{{"alg": "SHA-256", "content": p.hash}}, settings
		components, needs = append(components, c), append(needs, object{"ref": ref, "dependsOn": holds})
	}
	for _, m := range modules {
		address := packageURL(m.Path, m.Version)
		c := component("library", address, m.Path, m.Version, m.licences...)
		if c["purl"] = address; m.Sum != "" {
			c["properties"] = []object{property("go:sum", m.Sum)}
		}
		components = append(components, c)
	}
	list := object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   object{"timestamp": s.time.Format(time.RFC3339), "component": whole},
		"components": components, "dependencies": append([]object{{"ref": "fsmcp", "dependsOn": built}}, needs...),
	}
	// The number of a list is made of its content, so that the same list has the same one.
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	list["serialNumber"] = serial(text)
	text, err = json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

const ownLicence = "MIT"

// component returns a program or a module, with its licences by their identifiers.
func component(kind, ref, name, version string, ids ...string) object {
	c := object{"type": kind, "bom-ref": ref, "name": name, "version": version}
	var licences []object
	for _, id := range ids {
		licences = append(licences, object{"license": object{"id": id}})
	}
	if licences != nil {
		c["licenses"] = licences
	}
	return c
}

func property(name, value string) object { return object{"name": name, "value": value} }

// packageURL names a module as package-url does, type golang.
func packageURL(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial returns a UUID of version 8 (RFC 9562) made of a hash.
func serial(text []byte) string {
	sum := sha256.Sum256(text)
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
