package report

import (
	"fmt"
	"text/tabwriter"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// decision is one tool's part of an explanation as JSON.
type decision struct {
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Rule    *string `json:"rule"`
	Source  *string `json:"source"`
	Line    *int    `json:"line"`
}

func decisionOf(v access.Explanation, op perm.Op) decision {
	if v.Device {
		return decision{Verdict: perm.Deny.String(), Reason: "device or another process's stream"}
	}
	d := v.Decisions[op]
	out := decision{Verdict: d.Verdict.String(), Reason: d.Reason.String()}
	if d.Rule != "" {
		out.Rule, out.Source = &d.Rule, &d.Source.Name
	}
	if d.Rule != "" && d.Source.Line > 0 {
		out.Line = &d.Source.Line
	}
	return out
}

// place names where a rule stands.
func (d decision) place() string {
	if d.Line != nil {
		return fmt.Sprintf("%s:%d", fsys.Printable(*d.Source), *d.Line)
	}
	return fsys.Printable(*d.Source)
}

// ExplanationJSON returns the object that explain --json prints.
func ExplanationJSON(v access.Explanation) any {
	return struct {
		Path         string   `json:"path"`
		Names        []string `json:"names"`
		Read         decision `json:"read"`
		Edit         decision `json:"edit"`
		Write        decision `json:"write"`
		NotebookEdit decision `json:"notebookEdit"`
	}{v.Path, v.Names, decisionOf(v, perm.Read), decisionOf(v, perm.Edit), decisionOf(v, perm.Write), decisionOf(v, perm.NotebookEdit)}
}

// Explanation writes the names of a file, then a line for each tool.
func (o Output) Explanation(v access.Explanation) error {
	fmt.Fprintln(o, fsys.Printable(v.Path))
	for _, name := range v.Names[1:] {
		fmt.Fprintf(o, "  which leads to %s\n", fsys.Printable(name))
	}
	if v.Unresolved != nil {
		fmt.Fprintf(o, "  and no further: %s\n", fsys.Printable(v.Unresolved.Error()))
	}
	table := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	for _, op := range []perm.Op{perm.Read, perm.Edit, perm.Write, perm.NotebookEdit} {
		d := decisionOf(v, op)
		why := d.Reason
		if d.Rule != nil {
			why = fsys.Printable(*d.Rule) + "\t" + d.place()
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", op, o.verdict(d.Verdict), why)
	}
	return table.Flush()
}

func (o Output) verdict(word string) string {
	return o.paint(map[string]colour{perm.Allow.String(): green, perm.Ask.String(): yellow, perm.Deny.String(): red}[word], word)
}
