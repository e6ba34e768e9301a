// Package histories decides whether a history is legal: whether one order of what callers, other
// programs and crashes did to a few small files explains all that anyone saw of them.
//
// In that order each step is a moment within its interval, and
//
//   - an acknowledged change is made, once, and to the file as it is at that moment: an Edit finds
//     its text once, an answer's hash and lines are those of the file;
//   - a Write, an Edit and a Delete replace only lines that an earlier answer of the same
//     conversation showed, or that its caller sent;
//   - a refused change changes nothing. While its call runs others may see it: fsmcp makes a
//     change, looks once more, and takes it back;
//   - a call that a crash cut off is made or not;
//   - what another program writes into an open file is in the file, or in one that was kept
//     beside it or in the history.
//
// Model has the steps. The search for an order is that of porcupine, the checker that etcd uses
// for its own histories. Lines are the units: what a history does with a line it does with the
// whole of it, and all lines that it adds are different.
package histories
