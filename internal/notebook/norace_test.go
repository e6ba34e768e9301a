//go:build !race

package notebook

const raced = false
