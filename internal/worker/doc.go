// Package worker runs jobs in separate processes: messages over their standard streams, a
// pool of warm processes, a deadline and a memory bound for each job, and a fresh process
// after a number of jobs or an idle time.
//
// The pool promises that every job gets an answer or an error within its deadline,
// whatever its process does: die, hang, stop, take too much memory, or write something
// else than messages; and whatever the disk does that the job's body comes from. It kills a
// misbehaving process with everything that it started, and only its one job fails. A
// process that died between two jobs costs nothing. On Linux the time for which a process
// waits for a processor does not count, up to three deadlines in all.
//
// The worker's side promises that it ends with its parent, leaves no core file, stays
// within its CPU time, and, on Linux, lets other processes run first. While calls come,
// workers keep off one processor (YieldCPU).
//
// The package does not know what the jobs do.
package worker
