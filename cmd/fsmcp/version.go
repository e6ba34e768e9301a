package main

import (
	"cmp"
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
		if info.Main.Version != "(devel)" {
			version = cmp.Or(version, info.Main.Version)
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = cmp.Or(commit, s.Value)
			}
		}
	}
	return cmp.Or(version, "devel"), cmp.Or(commit, "unknown")
}
