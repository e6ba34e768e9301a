package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/procgroup"
)

const (
	// outputTimeout bounds the time for which a command's output is read after its end: a
	// process that it left running may never close it.
	outputTimeout = 200 * time.Millisecond
	// killTimeout bounds the wait for a killed command to end; it may hang in the file
	// system.
	killTimeout = 2 * time.Second
	// maxOutput bounds what is kept of each output stream, in bytes.
	maxOutput = 4 << 10
)

// Options of a Runner.
type Options struct {
	// Dir makes the state folder, if it is missing, and returns its name. Copies of old
	// bytes go there.
	Dir func(context.Context) (string, error)
	// Env is the environment of commands, in the form of os.Environ. nil: this process's
	// environment, since a user's programs need PATH, HOME and others.
	Env []string
}

// Runner runs commands. It is safe for concurrent use, and touches nothing before
// the first one.
type Runner struct {
	o    Options
	life context.Context
	end  context.CancelFunc

	mu      sync.Mutex // guards closed, and running.Add against running.Wait
	closed  bool
	running sync.WaitGroup
}

// New makes a Runner.
func New(o Options) *Runner {
	life, end := context.WithCancel(context.Background())
	return &Runner{o: o, life: life, end: end}
}

// Close kills running commands, and waits for their end for at most killTimeout. The
// Runner starts nothing afterwards.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	gone := make(chan struct{})
	go func() {
		r.running.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(killTimeout + outputTimeout):
	}
}

// Round is the list of commands for one change; they run one after the other.
type Round struct {
	Hooks List
	Event HookInput
	// Dir is their working directory.
	Dir string
	// Barred reports whether no command may come from a file, by its absolute name; nil:
	// every file may be run.
	Barred func(name string) bool
	// Old holds the replaced bytes for the event's Before; nil: none are shown.
	Old []byte
}

// Ending says how a run ended.
type Ending uint8

// The endings.
const (
	Passed  Ending = iota // exit status 0
	Refused               // exit status 2, before a change
	Failed                // any other exit status
	NotRun                // not started, or the event could not be written to it
	Late                  // killed at its deadline
	Stopped               // killed because its caller gave up
)

// Report describes one run.
type Report struct {
	Hook   Hook
	Ending Ending
	// Why says how it ended, as the rest of a sentence about the command; "" if it passed.
	Why string
	// Said is the beginning of its standard error, or of its standard output if that was
	// empty.
	Said string
	Took time.Duration
}

// Before runs the commands before a change until one refuses, is late or does not run:
// stop is its report, and the change must not be made. all holds the reports of all that
// ran. If one of them is broken, none runs. An error is that of ctx.
func (r *Runner) Before(ctx context.Context, round Round) (all []Report, stop *Report, err error) {
	if i := slices.IndexFunc(round.Hooks, func(h Hook) bool { return h.Broken != "" }); i >= 0 {
		return nil, &Report{Hook: round.Hooks[i], Ending: NotRun, Why: round.Hooks[i].Broken}, nil
	}
	for _, h := range round.Hooks {
		report := r.run(ctx, h, round)
		all = append(all, report)
		switch report.Ending {
		case Refused, Late, NotRun:
			return all, &report, nil
		case Stopped:
			if err = context.Cause(ctx); err == nil {
				err = context.Canceled // the Runner was closed
			}
			return all, nil, err
		}
	}
	return all, nil, nil
}

// After runs the commands after a change, all of them. shown is the reason why the old
// bytes could not be shown.
func (r *Runner) After(ctx context.Context, round Round) (all []Report, shown error) {
	if round.Old != nil && r.enter() {
		defer r.running.Done() // the copy is removed before Close returns
		var e *oldCopy
		if e, shown = r.copyOld(ctx, round.Event.Path, round.Old); shown == nil {
			defer e.remove()
			round.Event.Before = e.name
		}
	}
	for _, h := range round.Hooks {
		report := r.run(ctx, h, round)
		if report.Ending == Refused { // after the change a hook cannot refuse
			report = report.as(Failed, "failed (exit status 2)")
		}
		all = append(all, report)
		if report.Ending == Stopped {
			break
		}
	}
	return all, shown
}

// errLate is the cause of a context whose command was too slow.
var errLate = errors.New("its time was over")

// enter counts a run that Close waits for, unless the Runner is closed.
func (r *Runner) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Add(1)
	}
	return !r.closed
}

// run runs one command.
func (r *Runner) run(ctx context.Context, h Hook, round Round) (p Report) {
	p.Hook = h
	begun := time.Now()
	defer func() { p.Took = time.Since(begun) }()
	line, err := round.Event.line()
	if err != nil {
		return p.as(NotRun, "could not be told of the change: "+err.Error())
	}
	if ctx.Err() != nil || !r.enter() {
		return p.as(Stopped, "was not started")
	}
	defer r.running.Done()
	ctx, cancel := context.WithTimeoutCause(ctx, h.Timeout, errLate)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()

	cmd, err := r.command(h, round)
	switch barred := (*BarredError)(nil); {
	case errors.As(err, &barred):
		return p.as(NotRun, barred.Error())
	case err != nil:
		return p.as(NotRun, "could not be started: "+phrase.Cause(err))
	}
	var out, complaints = procgroup.Head{Limit: maxOutput}, procgroup.Head{Limit: maxOutput}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(line), &out, &complaints
	group, err := procgroup.Start(cmd)
	if err != nil {
		return p.as(NotRun, "could not be started: "+phrase.Cause(err))
	}
	killed, err := group.Wait(ctx, killTimeout)
	if p.Said = said(&complaints); strings.TrimSpace(p.Said) == "" {
		p.Said = said(&out)
	}
	switch {
	case killed && context.Cause(ctx) == errLate:
		return p.as(Late, fmt.Sprintf("did not end within %v", h.Timeout))
	case killed:
		return p.as(Stopped, "was stopped")
	}
	return p.ended(cmd, err)
}

// said returns the text of an output.
func said(h *procgroup.Head) string {
	kept, more := h.Bytes()
	if more {
		return string(kept) + "…"
	}
	return string(kept)
}

// ended judges a command that ended by itself.
func (p Report) ended(cmd *exec.Cmd, err error) Report {
	const refusing, notFound = 2, 9009 // of cmd.exe
	state := cmd.ProcessState
	switch {
	case state == nil:
		return p.as(NotRun, "was lost: "+phrase.Cause(err))
	case state.Success():
		return p
	case state.ExitCode() == refusing:
		return p.as(Refused, "refused")
	case onWindows && state.ExitCode() == notFound:
		return p.as(NotRun, "did not do its work: cmd.exe found no program of the name that it was to run")
	}
	return p.as(Failed, "failed ("+state.String()+")")
}

func (p Report) as(e Ending, why string) Report {
	p.Ending, p.Why = e, why
	return p
}
