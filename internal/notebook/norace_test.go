//go:build !race

package notebook_test

const raced = false
