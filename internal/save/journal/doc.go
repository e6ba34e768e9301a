// Package journal writes down both contents of a file that cannot be replaced, before it is
// written in place, so that a later process can finish what was interrupted. It proves that
// a journal is complete and compares a file with it; what is done then, its callers decide.
// It is used on Linux alone.
package journal
