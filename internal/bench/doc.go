// Package bench holds fsmcp against a floor: the least that a Go program does
// to answer the same requests over the same pipes (see floor). It promises
// figures taken side by side in one run, in pairs, so that a busy machine slows
// both alike; it does not promise the same figures on another machine.
//
// The measurements are tests: a short run that only shows that they work, or,
// with FSMCP_BENCH=full ("make bench"), the run whose figures count.
package bench
