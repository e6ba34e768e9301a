// Package hooks runs commands of the user's before and after a file is changed.
//
// What it promises:
//
//   - A command is a list of arguments; no shell sees it. It reads the event from
//     its standard input as one line of JSON.
//   - Every run ends: at the command's deadline, or when its caller gives up, it is
//     killed with all processes of its group. A command that does not read what it
//     is told, or writes without end, blocks nobody.
//   - Of what a command writes only the first bytes are kept.
//   - A command that has ended is not waited for any longer, whatever it leaves
//     running behind itself.
//   - What a command is shown of the old bytes is gone when it has ended, and what a
//     dying process left of it when the next one sweeps.
//
// What it does not promise: to reach processes that left the group of their
// command (setsid). It does not know what a change is, and changes no file but
// those that it shows.
package hooks
