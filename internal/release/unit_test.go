package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3-rc.1", "v1.2.3-4-gabcdef0": "1.2.3-4-gabcdef0",
		"0681234": "0.0.0-g0681234", "abc-dirty": "0.0.0-gabc-dirty", "devel": "0.0.0-gdevel", "a/b c": "0.0.0-ga-b-c",
	} {
		if got := packageVersion(version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

func TestLicencesIn(t *testing.T) {
	const bsd = "Redistribution and use in source and binary\n   forms, with or without modification"
	for text, want := range map[string][]string{
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy": {"MIT"},
		bsd: {"BSD-2-Clause"},
		bsd + " ... may be used to endorse or promote products":                            {"BSD-3-Clause"},
		"Apache License\n Version 2.0, January 2004":                                       {"Apache-2.0"},
		"GNU GENERAL PUBLIC LICENSE Version 3":                                             {"GPL"},
		"Mozilla Public License Version 2.0 ... the GNU General Public License, Version 2": {"MPL-2.0"},
		"All rights reserved.":                                                             nil,
	} {
		if got := licencesIn(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestTemplates fills in all templates for all systems.
func TestTemplates(t *testing.T) {
	f := facts{Version: "1.2.3", Tag: "v1.2.3", Address: address, Tools: []tool{{"Read", "Reads \"a\" <file>.\n"}}, Manual: []string{"man/fsmcp.1"}}
	for _, target := range allTargets {
		p := product{ArchiveHash: hash([]byte(target)), BundleHash: hash([]byte("b" + target)), ProgramNames: []string{"fsmcp", "fsmcp-media"}}
		p.OS, p.Arch, _ = strings.Cut(target, "/")
		p.Archive, p.Bundle = p.OS+p.Arch+".tar.gz", p.OS+p.Arch+".mcpb"
		f.Products = append(f.Products, p)
	}
	r := release{root: top}
	for _, name := range []string{"manifest.json", "server.json", "fsmcp.json", "fsmcp.rb", "npm/package.json", "npm/system.json"} {
		f.Product = f.Products[4]
		text, err := r.fill(name, f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(text) {
			t.Errorf("%s is no JSON", name)
		}
		if want := name == "fsmcp.rb"; strings.Contains(string(text), "/man/fsmcp.1") != want {
			t.Errorf("%s: the manual page is there: %v", name, !want)
		}
		for _, p := range f.Products {
			sum, in := p.ArchiveHash, p.OS != "windows"
			switch name {
			case "server.json":
				sum, in = p.BundleHash, true
			case "fsmcp.json":
				in = p.OS == "windows"
			case "fsmcp.rb":
			default:
				continue
			}
			if strings.Contains(string(text), sum) != in {
				t.Errorf("%s: %s/%s is there: %v", name, p.OS, p.Arch, !in)
			}
		}
	}
}

// An archive depends neither on the order of its files nor on the clock.
func TestArchivesAreReproducible(t *testing.T) {
	files := []entry{{"b", []byte("bb"), 0o755}, {"a/c", []byte("c"), 0o644}}
	turned := []entry{files[1], files[0]}
	for _, system := range []string{"linux", "windows"} {
		one, err := pack(system, "x/", files, time.Unix(0, 0).UTC(), bestCompression)
		if err != nil {
			t.Fatal(err)
		}
		other, err := pack(system, "x/", turned, time.Unix(0, 0).UTC(), bestCompression)
		if err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s: the order of the files shows: %v", system, err)
		}
	}
	if files[0].name != "b" {
		t.Error("pack changes its argument")
	}
	zipped, err := packZip(files, time.Now(), bestCompression)
	if err != nil {
		t.Fatal(err)
	}
	got, err := unpackZip(zipped)
	if err != nil || len(got) != 2 || got[1].mode != 0o755 || string(got[0].data) != "c" {
		t.Errorf("%v %v", got, err)
	}
}

// A folder that is no earlier release is left alone.
func TestOutIsNotCleared(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := release{out: dir}
	if err := r.clearOut(); err == nil {
		t.Error("a folder with files of others was cleared")
	}
	if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.clearOut(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.txt")); err == nil {
		t.Error("an earlier release was left")
	}
}
