//go:build !race

package main

// slowdown stretches deadlines of workers where the build makes them slow.
const slowdown = 1
