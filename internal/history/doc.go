// Package history stores the bytes of files before each change, so that every change can be
// restored.
//
// What it promises:
//
//   - When Keep returns, the old bytes (Archive.Before) and the new ones
//     (Archive.After) can be read back.
//   - A process that dies at any moment leaves whole entries: an entry is written after
//     everything that it refers to.
//   - A change that was not made, since its process died before it, is not listed: an entry is
//     followed by a line that says that its change was made. Where that line is missing, the
//     files tell.
//   - Several processes may write and read at once; none waits for another.
//   - Size and age are bounded. One file has at most a quarter of the room: the bytes of its
//     middle changes are removed first. The newest change stays, and the oldest one if both
//     fit. Segments that a living process may still add to are neither removed nor thinned,
//     nor those younger than an hour, up to twice the size.
//   - A restore that has read an entry once can read it until it ends.
//   - Damaged entries are reported and skipped. Damaged bytes are never returned.
//   - Files with secret names are not stored.
//
// How: each process writes segments of two files, a journal with one line of JSON for each
// change and a pack of zstd frames. A segment stores each state of a file once, by its
// SHA-256: whole, or as changes of an earlier whole state. No segment refers to
// another one, so that the oldest can be removed.
//
// Of a file above WholeLimit only the places that a change touched are stored. They are not
// thinned, since a restore needs to know where all later changes are.
//
// A Delete, and a restore that removes a file, have what goes synced (SyncMarks) before the first
// name goes. A file above WholeLimit that Delete removes is kept whole, in the folder "deleted",
// and counts in the size.
//
// What it does not promise: to survive a loss of power (an edit syncs nothing), and to know of
// changes that were not reported to it. It decides nothing, and changes no file but its own.
package history
