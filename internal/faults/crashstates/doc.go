// Package crashstates enumerates what a file system may hold after a loss of power.
//
// A Log has the file system calls of a program, in the order in which they ended, with their
// data. A Model says what of them may be missing: a state is a set of effects that is closed
// under "needs", and has all that a completed sync covers. The models:
//
//   - Weakest: what POSIX promises. Each name of a folder, each sector of a file, its size and its
//     attributes last each by themselves, in their own order. fsync makes a file last, but not its
//     name; fsync of a folder makes its names last. A rename is one step, in both folders.
//   - Ordered (ext4 with data=ordered, xfs): names and attributes last in the order of the calls.
//     A file grows when its sectors are on the disk, at any time later. fsync makes all earlier
//     names last.
//   - Writeback (ext4 with data=writeback): likewise, but a file may grow before its sectors are on
//     the disk, and then has stale bytes there.
//   - Btrfs: like Ordered up to the last commit; fsync writes the file with its names to a log,
//     and nothing else.
//
// Sectors of 512 bytes are written whole or not. What reached the disk stays there as it is: a
// disk that lies about a flush is outside of every model.
package crashstates
