package decoder

import (
	"encoding/json"
	"errors"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// breakdowns names what the worker's errors mean for a file.
var breakdowns = []struct {
	err error
	why media.Breakdown
}{
	{worker.ErrStart, media.Absent},
	{worker.ErrDied, media.Died},
	{worker.ErrDeadline, media.Late},
	{worker.ErrUnread, media.Unread},
	{worker.ErrMemory, media.Greedy},
	{worker.ErrStopped, media.Stopped},
	{worker.ErrForbidden, media.Forbidden},
	{worker.ErrUnready, media.Unready},
	{worker.ErrClosed, media.Absent},
}

// Codes of failures that come back as their own errors. Those with a detail are in
// encodeFailure and decodeFailure.
const (
	codeDamaged = "damaged"
	codeRegion  = "region"
	codePages   = "pages"
)

// plainFailures are the codes of errors without a detail.
var plainFailures = map[string]error{
	"bounds": media.ErrTooLarge,
	"no_fit": media.ErrNoFit,
	"locked": media.ErrLocked,
	"no_pdf": media.ErrNoPDF,

	"not_office": media.ErrNotOffice,
	"old_office": media.ErrOldOffice,
}

// translate returns the meaning of a worker's error.
func translate(err error) error {
	if f, ok := errors.AsType[*worker.Failure](err); ok {
		return decodeFailure(f)
	}
	for _, b := range breakdowns {
		if errors.Is(err, b.err) {
			return &media.BreakdownError{Why: b.why, Err: err}
		}
	}
	return err
}

// decodeFailure returns the error that was encoded as a failure.
func decodeFailure(f *worker.Failure) error {
	if err := plainFailures[f.Code]; err != nil {
		return err
	}
	var err error
	switch f.Code {
	case codeDamaged:
		err = new(media.DamageError)
	case codeRegion:
		err = new(media.RegionError)
	case codePages:
		err = new(media.OutlineError)
	}
	if err == nil || json.Unmarshal(f.Detail, err) != nil {
		return &media.BreakdownError{Why: media.Died, Err: f}
	}
	return err
}

// encodeFailure returns an error in its form between the processes.
func encodeFailure(err error) error {
	for code, plain := range plainFailures {
		if errors.Is(err, plain) {
			return &worker.Failure{Code: code, Text: err.Error()}
		}
	}
	var damage *media.DamageError
	var region *media.RegionError
	var outline *media.OutlineError
	switch {
	case errors.As(err, &outline):
		return detailed(codePages, outline)
	case errors.As(err, &damage):
		return detailed(codeDamaged, damage)
	case errors.As(err, &region):
		return detailed(codeRegion, region)
	}
	return err
}

// detailed returns the failure for an error of strings and numbers.
func detailed(code string, err error) error {
	detail, _ := json.Marshal(err)
	return &worker.Failure{Code: code, Text: err.Error(), Detail: detail}
}
