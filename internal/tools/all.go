package tools

import (
	"context"
	"errors"
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
		var notes []func()
		call.sent, call.account, call.args = &notes, &account{}, args
		if !call.File.parsed {
			call.File = h.ParseFile(args.Target())
		}
		result, err := run(ctx, call, args.(A))
		if err != nil {
			result = fail(name, args.Target(), endOf(ctx, err))
			if consent := (*needsConsent)(nil); errors.As(err, &consent) {
				result.Ask = consent.question
			}
		}
		if err == nil && call.account.path != "" {
			h.hint(call, call.account.path, result)
		}
		if call.account.path != "" && h.Watcher != nil {
			call.whenSent(func() { h.follow(call.Session, *call.account) })
		}
		if result.Ask == nil {
			h.audit(call, name, args.Target(), begun, result)
		} else { // it may never be sent: what is to be told waits for what becomes of the call
			result.Ask.unmade = func(r *Result) { h.auditSoon(call, name, args.Target(), begun, r) }
			call.whenSent(func() { result.Ask.unmade(result) })
		}
		if result.Ask == nil || !call.CanAsk {
			h.remind(ctx, call, result)
			h.appendNotices(result)
		}
		if len(notes) > 0 {
			result.Sent = func() {
				for _, note := range notes {
					note()
				}
			}
		}
		return result
	}
}
