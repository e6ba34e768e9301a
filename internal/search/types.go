package search

// Types returns the names of the file types, sorted.
func Types() []string { return nil }
