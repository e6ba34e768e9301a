package main

import (
	"runtime/debug"
	"sync"
)

// Set by "make build" and "make release"; builtFrom is a commit.
var (
	version   string
	builtFrom string
)

// buildVersion returns the program's version and commit. What the linker set counts; else
// what the go command recorded, as "go install" in a checkout does: a version made of the
// last tag, the commit's time and its hash. Without either it returns "devel" and
// "unknown".
var buildVersion = sync.OnceValues(func() (string, string) {
	info, _ := debug.ReadBuildInfo()
	return versionOf(version, builtFrom, info)
})

// versionOf decides between the values of the linker and those of the go command; info may
// be nil.
func versionOf(version, commit string, info *debug.BuildInfo) (string, string) {
	if info != nil {
		if version == "" && info.Main.Version != "(devel)" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			if commit == "" && s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if version == "" {
		version = "devel"
	}
	if commit == "" {
		commit = "unknown"
	}
	return version, commit
}
