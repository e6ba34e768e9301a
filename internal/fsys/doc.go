// Package fsys turns what a caller wrote into a file: it parses paths, resolves them with
// every name a file has on the way, pins what was found, and reads it within bounds.
//
// It promises to open the object that it resolved: a [Target] holds a descriptor of the
// very object whose names it lists, so renames and links made after the decision cannot
// slip another file under it. It never opens anything but a regular file or a folder for
// reading, so no pipe or device can block or be touched by it. Nothing is opened before
// the first Resolve, and nothing stays open past Close.
//
// It does not decide on permissions, does not write, does not cache, and does not put
// failures into words for a model. Outside Linux the resolver walks by name and compares
// afterwards: races against a hostile program in the same folders are then made hard, but
// not ruled out.
package fsys
