// Package disk holds the system calls of the save path: as an interface whose every call a
// test can make fail, with interrupted calls made again, and the reads and writes by
// descriptor that are built on it. It knows no target and no order of steps.
package disk
