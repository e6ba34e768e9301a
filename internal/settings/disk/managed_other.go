//go:build !unix

package disk

import "io/fs"

const doNotBlock = 0

// onlyRootWrites is true: below the administrator's folder only administrators may write.
func onlyRootWrites(fs.FileInfo) bool { return true }
