// Package save is the only way to write the user's files: it locks and replaces a file,
// and cleans up after a process that died meanwhile.
//
// What it promises (on Linux, on a local file system):
//
//   - Killed at any moment, a file is wholly old or wholly new, and a success that was
//     reported stays; with Durability Full through loss of power too.
//   - An error leaves the old bytes, unless the error itself says otherwise, and no
//     temporary file.
//   - No update is lost: not between goroutines, not between processes that use this
//     package, and not against a program that knows nothing of it, be it one that
//     renames, truncates or appends. Where a program writes at the same moment, its
//     bytes win and the caller is told ErrModified.
//   - Bytes that are known nowhere else are never deleted. They stay beside the file as
//     NAME.fsmcp-saved and are reported.
//   - Mode, owner, access lists, extended attributes and inode flags (chattr) are kept,
//     also those that another program changes while the file is replaced. Capabilities
//     go, as the kernel removes them at a write.
//
// How: the new content is written to an unnamed file in the same folder, synced, linked to
// a name of its own and exchanged with the target in one step. Then the displaced file is
// checked: if it is not the file that the caller compared, or if the read lease that was
// held on it since before the comparison was broken, the two are exchanged back. Only when
// the check was good is the displaced file removed.
//
// Every temporary name says what it may hold: it carries a fingerprint of the new file and
// one of the file that was compared. So another process can judge the file of a dead one
// without further facts: new content that was never published, old bytes that were
// compared, or unknown bytes. The state folder only remembers which folders to search.
//
// What it does not promise:
//
//   - Where exchange, unnamed files or leases are missing (network and FUSE file
//     systems, files of other owners without privileges), a program that appends at just
//     that moment can lose its line. A program that renames a new version into place is
//     seen, unless it does so between the last check and the rename.
//   - A file that can only be written in place (a single-file mount, a folder that
//     refuses, an owner that cannot be kept) may be half written when the process dies.
//     The next Sweep finishes it from a journal. If no write lease can be had, because a
//     program has the file open or it has another owner, a line that is appended right
//     after the last check of its size is lost.
//   - The creation time is carried over on Windows alone. Folders that were made for a
//     new file stay when the process is killed before the file exists.
//   - Windows has no lease, but an open that does not share writing keeps other writers out
//     for as long as the change takes. A volume that replaces no open file is served by two
//     renames: the name is missing in between, after a death until the next Sweep.
//   - On macOS there are no leases: a program that writes between the check and the exchange
//     is seen, one that writes later to the old file loses its bytes.
//
// Txn.change is the driver: it holds the order of steps of every change, on every system.
// A strategy takes the steps: exchange, rename, twoRenames, create, inPlace or removal.
// Package sys has the system calls.
//
// NamesTxn is the second driver, for names: Move, Copy, Look, Keep, Remove and Recreate, of one
// call, with one sync of each folder. LockAll has the locks of all its names.
//
// It does not decide whether a write is allowed or was seen by the caller, and keeps no
// history.
package save
