// Package worker runs jobs in processes of their own: frames over their standard
// streams, a pool of warm ones, a deadline and a bound on memory for each job,
// and a fresh process after so many jobs or so long without one.
//
// It promises the pool's side that every job gets an answer or an error within
// its deadline, whatever the process does: die, hang, stop, eat memory, or write
// what is no frame; and whatever the disk does that a job's body comes from. A
// process that has misbehaved is killed with all that it has started, and takes
// nothing with it but its one job; one that turns out to have died between two jobs costs
// nothing at all. The worker's side promises that it ends with its parent, leaves
// no core file, stays within its processor time, and, on Linux, stands behind whoever
// else wants to run; while others call, workers keep off one processor (GiveWay).
//
// It knows nothing of what the jobs are.
package worker
