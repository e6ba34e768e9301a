//go:build !race

package shortrun

const raced = false
