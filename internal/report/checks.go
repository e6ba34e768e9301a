package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/doctor"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Checks writes a line for each check of doctor, and its remedy below it.
func (o Output) Checks(r doctor.Report) error {
	var b strings.Builder
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "%s%s  %-16s  %s\n", o.status(c.Status), "    "[len(c.Status):], c.Name, fsys.Printable(c.Detail))
		if c.Remedy != "" {
			fmt.Fprintf(&b, "%24s%s\n", "", fsys.Printable(c.Remedy))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(o, b.String())
	return err
}

func (o Output) status(s doctor.Status) string {
	return o.paint(map[doctor.Status]colour{doctor.OK: green, doctor.Warn: yellow, doctor.Skip: cyan, doctor.Fail: red}[s], string(s))
}

// Tools writes a tools/list result: each tool's name and description.
func (o Output) Tools(list []byte) error {
	var published struct {
		Tools []struct {
			Name, Description string
		}
	}
	if err := json.Unmarshal(list, &published); err != nil {
		return err
	}
	for i, t := range published.Tools {
		if i > 0 {
			fmt.Fprintln(o)
		}
		if _, err := fmt.Fprintf(o, "%s\n\n%s\n", o.paint(yellow, t.Name), t.Description); err != nil {
			return err
		}
	}
	return nil
}
