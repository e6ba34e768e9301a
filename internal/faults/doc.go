// Package faults holds the long runs: what fsmcp promises when it is killed, when system
// calls fail, when other programs write the same files and when another process swaps
// folders for links meanwhile. All of it runs over the real binary, as shipped.
//
// Every test has a control arm, a naive program under the same treatment, that must fail;
// a run whose control arm does not fail proves nothing and is an error. A loss of power is
// played: see package crashstates.
//
// Counts come from the environment ("make faults" sets the long ones); without it the same
// code runs with small counts, which each test prints.
package faults
