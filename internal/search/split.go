package search

import "github.com/bmatcuk/doublestar/v4"

// SplitPattern splits a pattern before the first segment with a wildcard. The directory is
// "." for a pattern that begins with one; of a pattern without wildcards the rest is its
// last segment.
func SplitPattern(pattern string) (dir, rest string) { return doublestar.SplitPattern(pattern) }
