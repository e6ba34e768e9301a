// Package clipboard reads the user's clipboard by a program of the system: wl-paste, xclip,
// osascript or PowerShell.
//
// What it promises:
//
//   - Read returns a picture if there is one in a form that fsmcp reads, else the text.
//   - Read ends within its deadline, and kills the program and what it started.
//   - A program's output goes through pipes and memory: no file is made. Output beyond the
//     limit ends the read.
//
// The programs are values (Program), so that another system is another value. What it does
// not promise: that the picture is whole. It writes nothing to the clipboard, and words
// nothing for a model.
//
// No library does this: golang.design/x/clipboard knows no clipboard of Wayland, and
// atotto/clipboard no pictures.
package clipboard
