package tools

import (
	"context"
	"errors"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// list returns the published tools in their fixed order.
func (s *Service) list(read *reader, write *writer, edit *editor, cells *cellEditor) []Tool {
	return []Tool{
		{Name: nameRead, ReadOnly: true, Args: func() Args { return new(ReadArgs) }, Run: typed(s, nameRead, read.run)},
		{Name: nameWrite, Args: func() Args { return new(WriteArgs) }, Run: typed(s, nameWrite, write.run)},
		{Name: nameEdit, Args: func() Args { return new(EditArgs) }, Run: typed(s, nameEdit, edit.run)},
		{Name: nameNotebookEdit, Args: func() Args { return new(NotebookEditArgs) }, Run: typed(s, nameNotebookEdit, cells.run)},
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
func typed[A Args](s *Service, name string, run func(context.Context, Call, A) (*Result, error)) func(context.Context, Call, Args) *Result {
	return func(ctx context.Context, call Call, args Args) *Result {
		begun := s.now()
		call.Session.files.CountCall()
		call.account, call.args = &account{}, args
		if !call.File.parsed {
			call.File = s.ParseFile(args.Target())
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
			result.hint(call.Session.reminders.Hint(call.account.path, s.preferences().HintsBelow))
		}
		result.about = *call.account
		entry := entryOf(call, name, args.Target(), begun)
		entry.path = call.account.path
		if result.Ask == nil {
			s.auditor.audit(entry, result)
		} else { // it may never be sent: the log waits for what becomes of the call
			result.Ask.unlogged, result.unlogged = &entry, &entry
		}
		if result.Ask == nil || !call.CanAsk {
			result.remind(ctx, call)
			s.notices.end(result)
		}
		return result
	}
}

// remind ends an answer with what changed outside in files that were shown in full.
func (r *Result) remind(ctx context.Context, call Call) {
	r.report = call.Session.reminders.Remind(ctx, call.account.path, call.Client.room(r))
	if r.report != nil {
		r.Blocks = append(r.Blocks, Block{Text: r.report.Text})
	}
}

// hint ends an answer with one line that names files for agents, if there is one.
func (r *Result) hint(line string) {
	if line == "" {
		return
	}
	if last := &r.Blocks[len(r.Blocks)-1]; last.MIME == "" && last.Text != "" {
		last.Text += "\n" + line // clients join blocks as they stand
		return
	}
	r.Blocks = append(r.Blocks, Block{Text: line})
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
