package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	recorded := &debug.BuildInfo{
		Main:     debug.Module{Version: "v0.0.0-20261122200000-0123456789ab"},
		Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef"}},
	}
	for _, c := range []struct {
		name, version, commit string
		info                  *debug.BuildInfo
		wantVersion, wantHash string
	}{
		{"from the linker", "v1.2.3", "abc", recorded, "v1.2.3", "abc"},
		{"from the go command", "", "", recorded, "v0.0.0-20261122200000-0123456789ab", "0123456789abcdef"},
		{"without version control", "", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel", "unknown"},
		{"without build information", "", "", nil, "devel", "unknown"},
	} {
		if v, h := versionOf(c.version, c.commit, c.info); v != c.wantVersion || h != c.wantHash {
			t.Errorf("%s: %s %s, want %s %s", c.name, v, h, c.wantVersion, c.wantHash)
		}
	}
}
