//go:build !race

package main

// slowdown is 1 where the race detector does not slow the programs down.
const slowdown = 1
