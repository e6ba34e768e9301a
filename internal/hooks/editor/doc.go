// Package editor shows changes of files in the user's editor, the old text beside the new
// file. The after hook "fsmcp hook diff" runs it.
//
// What it promises:
//
//   - It starts the editor and does not wait for it. The editor has a session of its own,
//     and no stream of this process.
//   - A file has at most one window per burst of changes. The window shows the text from
//     before the first change of the burst.
//   - The old text is in a folder that only the user can open. The next Show removes what
//     is older than keepCopies.
//   - A missing editor is one error per session.
//   - It writes no old text that the event does not name: secret files have an empty left
//     side.
//
// What it does not promise: that the editor opens a window. An editor that fails after its
// start is not noticed.
package editor
