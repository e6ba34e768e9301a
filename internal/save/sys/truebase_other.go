//go:build !windows

package sys

import "github.com/fsmcp/fsmcp/internal/fsys"

// TrueBase returns base: here a rename to a name gives just that name.
func TrueBase(_ *fsys.File, base string) string { return base }
