// Package lsp is a client of language servers. It tells them which files were changed, and
// returns the problems that a change brought and no earlier ones.
//
// What it promises:
//
//   - Nothing is started, looked up or kept while Options.Servers names no server.
//   - A server starts with the first change of a file of its languages, in the nearest
//     folder above the file that holds one of its root markers, inside a workspace folder.
//   - Changed waits at most 1.5 s. No other call waits for a server. What comes
//     later is in a later Report.
//   - A server that hangs, crashes or floods costs bounded time and memory. It is started
//     again at most three times; then it stays off, with one notice.
//   - Nothing is sent or said of a file for which Options.Readable is false.
//   - After Close no process of any server's group is left.
//
// It does not look for programs, and it knows neither settings nor tools.
package lsp
