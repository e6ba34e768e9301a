// Package archtest holds tests of the code's shape and nothing else: which
// package may import what, that every package says what it promises, and that
// published schemas and argument structs are the same.
package archtest
