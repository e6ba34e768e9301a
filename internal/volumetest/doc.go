// Package volumetest mounts file systems for tests: one whose names ignore case and normal
// form, as on a Mac, and one that can clone files. Both need root; a test that cannot have
// one is skipped, and says so loudly. Nothing but tests imports it.
package volumetest
