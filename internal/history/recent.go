package history

// recent is a map that forgets what was put into it longest ago.
type recent[K comparable, V any] struct {
	most  int
	has   map[K]V
	order []K // a ring once it is full
	next  int
}

func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.has[k]
	return v, ok
}

func (r *recent[K, V]) put(k K, v V) {
	if r.has == nil {
		r.has = make(map[K]V)
	}
	_, there := r.has[k]
	r.has[k] = v
	switch {
	case there:
	case len(r.order) < r.most:
		r.order = append(r.order, k)
	default:
		delete(r.has, r.order[r.next])
		r.order[r.next] = k
		r.next = (r.next + 1) % r.most
	}
}
