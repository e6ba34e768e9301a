// Package lock keeps writers of one name in several processes apart, by files. It decides
// neither where those files lie nor how the system locks them.
package lock
