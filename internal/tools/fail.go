package tools

import (
	"context"
	"errors"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// fail answers a call that failed.
func fail(tool, raw string, err error) *Result {
	return Refuse(tool, refusal.Of(raw, err))
}

// endOf returns why a call's context ended where err only says that it did: a deadline
// is no cancelling.
func endOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
