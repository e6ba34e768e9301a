//go:build unix && !linux

package disk

func madeUpModes(uint64) string { return "" }

func hasAccessList(string) bool { return false }
