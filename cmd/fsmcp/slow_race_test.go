//go:build race

package main

// slowdown: the race detector makes decoding ten times slower.
const slowdown = 10
