// Package statedir opens the folder in which processes that save files find each other: lock
// files, notes of the folders they work in, journals. Where the configured folder cannot be
// used, one in the temp directory serves for locks and notes. A folder that another user
// may have written is refused. What a note or a journal means is not decided here.
package statedir
