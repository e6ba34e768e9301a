package tools

import (
	"context"
	"errors"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// fail answers a call that failed.
func fail(tool, raw string, err error) *Result {
	r := refusal.Of(raw, err)
	return Failure(r.Code(tool), r.Slug, r.Text)
}

// ErrStopping is the cause of a call's context that ends with the server.
var ErrStopping = refusal.ErrStopping

// endOf returns why a call's context ended where err only says that it did: a deadline
// is no cancelling.
func endOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
