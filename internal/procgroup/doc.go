// Package procgroup starts a command as the first process of a group, so that it is killed
// with all that it starts, also when a signal ends this process. On Linux the command also ends when this process dies.
//
// It does not reach a process that leaves the group (setsid).
package procgroup
