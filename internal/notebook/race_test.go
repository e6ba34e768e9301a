//go:build race

package notebook

const raced = true
