package tools

import (
	"context"
	"errors"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Tools lists the published tools in their fixed order.
func (h *Service) Tools() []Tool {
	return []Tool{
		{Name: nameRead, ReadOnly: true, Args: func() Args { return new(ReadArgs) }, Run: typed(h, nameRead, h.read)},
		{Name: nameWrite, Args: func() Args { return new(WriteArgs) }, Run: typed(h, nameWrite, h.write)},
		{Name: nameEdit, Args: func() Args { return new(EditArgs) }, Run: typed(h, nameEdit, h.edit)},
		{Name: nameNotebookEdit, Args: func() Args { return new(NotebookEditArgs) }, Run: typed(h, nameNotebookEdit, h.notebookEdit)},
	}
}

// The tools' names, as published.
const (
	nameRead         = "Read"
	nameWrite        = "Write"
	nameEdit         = "Edit"
	nameNotebookEdit = "NotebookEdit"
)

// typed turns a tool written as (ctx, call, its own args) to (result, error)
// into one that answers every error in the words of package refusal.
func typed[A Args](h *Service, name string, run func(context.Context, Call, A) (*Result, error)) func(context.Context, Call, Args) *Result {
	return func(ctx context.Context, call Call, args Args) *Result {
		begun := h.Now()
		call.Session.files.CountCall()
		call.account, call.args = &account{}, args
		if !call.File.parsed {
			call.File = h.ParseFile(args.Target())
		}
		result, err := run(ctx, call, args.(A))
		if err != nil {
			result = fail(name, args.Target(), endOf(ctx, err))
			result.Shown, _ = shownIn(err)
			if consent := (*needsConsent)(nil); errors.As(err, &consent) {
				result.Ask = consent.question
			}
		}
		if err == nil && call.account.path != "" {
			h.hint(call, call.account.path, result)
		}
		result.about = *call.account
		entry := logEntry{session: call.Session.id, call: call.ID, tool: name, given: args.Target(), path: call.account.path, begun: begun}
		if result.Ask == nil {
			h.audit(entry, result)
		} else { // it may never be sent: the log waits for what becomes of the call
			result.Ask.unlogged, result.unlogged = &entry, &entry
		}
		if result.Ask == nil || !call.CanAsk {
			h.remind(ctx, call, result)
			h.appendNotices(result)
		}
		return result
	}
}

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
