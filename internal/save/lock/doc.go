// Package lock keeps writers of one name apart: in this process by keys, among processes
// by files. It decides neither where those files lie nor how the system locks them.
package lock
