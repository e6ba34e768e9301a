//go:build race

package main

// slowdown: the race detector, which only tests are built with, makes decoding
// ten times slower.
const slowdown = 10
