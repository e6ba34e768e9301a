// Package hooks runs commands of the user's before and after a file is changed.
//
// What it promises:
//
//   - A command is a list of arguments; no shell sees it. It reads the event from
//     its standard input as one line of JSON.
//   - A program is never looked for in the directory in which it runs. What the
//     caller bars is run neither as the program nor as the script, the command or
//     the shell text that its arguments give to it; a word that only a shell can
//     expand counts as barred. What a program reads by itself is not known.
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
// command (setsid), or after SIGKILL of this one what the command itself started. It
// does not know what a change is, and changes no file but those that it shows.
package hooks
