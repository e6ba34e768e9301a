// Package filelock locks whole files among processes, without ever waiting.
//
// Its one risk is two processes that both believe they have a file. It promises that
// of those who try by this package one has it at a time, from when Try says so until
// Unlock, the file's Close or the end of its process, and that a process that opened
// the file twice counts as two. It keeps nobody from reading or writing the file, and
// says so where a file system has no locks: what holds then is the caller's to say.
package filelock

import "errors"

// ErrNone: the file system has no locks.
var ErrNone = errors.New("the file system has no locks")
