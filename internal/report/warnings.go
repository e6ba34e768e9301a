package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Warnings writes lines of the log as sentences for people. A line that is not of the log's
// form is written as it is.
type Warnings struct{ io.Writer }

func (w Warnings) Write(line []byte) (int, error) {
	var event struct {
		Message, Error, Stderr string
		Panic                  any
	}
	if json.Unmarshal(line, &event) != nil || event.Message == "" {
		return w.Writer.Write(line)
	}
	if event.Error != "" {
		event.Message += ": " + event.Error
	}
	if event.Panic != nil {
		event.Message += fmt.Sprintf(": %v", event.Panic)
	}
	if event.Stderr != "" {
		event.Message += ": " + event.Stderr
	}
	_, err := fmt.Fprintf(w.Writer, "fsmcp: %s\n", fsys.Printable(event.Message))
	return len(line), err
}
