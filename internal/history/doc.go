// Package history stores the bytes of files before each change, so that every change can be
// restored.
//
// What it promises:
//
//   - When Keep returns, the old bytes (Archive.Before) and the new ones
//     (Archive.After) can be read back.
//   - A process that dies at any moment leaves whole entries: an entry is written after
//     everything that it refers to.
//   - Several processes may write and read at once; none waits for another.
//   - Size and age are bounded. Packs that are younger than an hour, and packs that a
//     living process may still add to, are not removed.
//   - Damaged entries are reported and skipped. Damaged bytes are never returned.
//   - Files with secret names are not stored.
//
// How: each process writes two files of its own, a journal with one line for each change
// and a pack with the bytes. A pack stores each state of a file once, by its SHA-256: first
// whole and compressed, then as the bytes that a change put in, on top of the state before.
// No pack refers to another one, so that the oldest can be removed.
//
// Of a file above WholeLimit only the places that a change touched are stored.
//
// What it does not promise: to survive a loss of power (nothing is synced), and to know of
// changes that were not reported to it. It decides nothing, and changes no file but its own.
//
// Why an own line diff: a merge takes a change back as git would, and go-udiff 0.4.1
// does not. Of 540 generated merges it made 9 unlike git (2 with this package's
// placing of hunks on top), and it stops at a fixed depth: 300 changes of a file of
// 2,000 lines came as 3,491 changed lines where 803 do, of 100,000 lines as 181,940
// where 892 do, so that almost every merge would be a conflict. The own engine makes
// all 540 as git does, in 0.7 ms and 50 ms there (go-udiff: 1.0 ms and 38 ms). Diffs
// for showing come from package changes.
package history
