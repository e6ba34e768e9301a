//go:build race

package shortrun

const raced = true
