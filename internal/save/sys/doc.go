// Package sys holds the system calls of the save path: as an interface whose every call a
// test can make fail, and the reads and writes by descriptor that are built on it. Kernel is
// Linux; Portable serves the other systems, and is tested on Linux. The package knows no
// target and no order of steps.
package sys
