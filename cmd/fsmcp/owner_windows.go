package main

import "io/fs"

// rootsOwn is not asked further here: below the program folder only
// administrators may write.
func rootsOwn(fs.FileInfo) bool { return true }
