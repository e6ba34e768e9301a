// Package hooks runs the user's commands before and after a file is changed.
//
// What it promises:
//
//   - A command is a list of arguments; no shell sees it. It reads the event from its
//     standard input as one line of JSON.
//   - A program is never looked for in its working directory. A file that the caller bars
//     is run neither as the program nor as the script, the command or the shell text in
//     its arguments. A word that only a shell can expand counts as barred. The package
//     does not know what a program reads by itself.
//   - Every run ends: at the command's deadline, or when its caller gives up, all
//     processes of its group are killed. A command that does not read its input, or writes
//     without end, blocks nothing.
//   - Only the first bytes of a command's output are kept.
//   - A run ends with its command, whatever processes the command leaves behind.
//   - The copy of the old bytes is removed when the command ends, and the copy of a dead
//     process at the next sweep.
//
// What it does not promise: to reach processes that left the group of their command
// (setsid), or, after SIGKILL of this process, processes that the command itself started.
// It does not know what a change is, and writes no file but its copies of old bytes.
package hooks
