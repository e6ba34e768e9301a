package tools

import (
	"context"
	"math"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// tokenCounter counts the tokens of one answer. Where the user has the model's provider
// count, it is asked once; from then on the local count goes by the ratio of the
// two, since an answer that has to be cut is counted many times.
type tokenCounter struct {
	local tokens.Counter
	exact func(b []byte) (n int, ok bool) // nil: no provider is asked
	ratio float64                         // 0 until it is known
}

// Count implements tokens.Counter.
func (m *tokenCounter) Count(b []byte) int {
	n := m.local.Count(b)
	if m.ratio == 0 {
		m.ratio = 1
		if m.exact != nil && n > 0 {
			if exact, ok := m.exact(b); ok {
				m.ratio = float64(exact) / float64(n)
			}
		}
	}
	return int(math.Ceil(float64(n) * m.ratio))
}

// newTokenCounter returns the counter for the answer to one Read. Text that the user was asked
// for, now or earlier, never leaves the machine.
func (h *Service) newTokenCounter(ctx context.Context, call Call, s *target) *tokenCounter {
	m := &tokenCounter{local: h.Counter}
	asked := call.Consent != nil || call.Session.grants.Granted(s.Op, s.Path) || h.Access.Policy().AskedFor(perm.Read, s.Names)
	if h.Exact != nil && !asked {
		m.exact = func(b []byte) (int, bool) { return h.Exact(ctx, b) }
	}
	return m
}
