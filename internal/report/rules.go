package report

import (
	"fmt"
	"text/tabwriter"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/search"
)

// place is the place of a rule, as JSON.
type place struct {
	Source *string `json:"source"`
	Line   *int    `json:"line"`
}

func (p place) String() string {
	if p.Line != nil {
		return fmt.Sprintf("%s:%d", fsys.Printable(*p.Source), *p.Line)
	}
	return fsys.Printable(*p.Source)
}

// decision is one tool's part of an explanation as JSON.
type decision struct {
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason"`
	Rule    *string `json:"rule"`
	place
}

func decisionOf(v access.Explanation, op perm.Op) decision {
	if v.Device {
		return decision{Verdict: perm.Deny.String(), Reason: "device or another process's stream"}
	}
	d := v.Decisions[op]
	out := decision{Verdict: d.Verdict.String(), Reason: d.Why()}
	if d.Rule != "" {
		out.Rule, out.Source = &d.Rule, &d.Source.Name
		if d.Source.Line > 0 {
			out.Line = &d.Source.Line
		}
	}
	return out
}

// ExplanationJSON returns the object that explain --json prints. A name that is not UTF-8 is
// told in base64, too: JSON has no other form for its bytes.
func ExplanationJSON(v access.Explanation, left search.LeftOut) any {
	return struct {
		Path         string   `json:"path"`
		PathBytes    []byte   `json:"pathBase64,omitempty"`
		Names        []string `json:"names"`
		NameBytes    [][]byte `json:"namesBase64,omitempty"`
		Read         decision `json:"read"`
		Edit         decision `json:"edit"`
		Write        decision `json:"write"`
		NotebookEdit decision `json:"notebookEdit"`
		Move         decision `json:"move"`
		Delete       decision `json:"delete"`
		Search       *leftOut `json:"search,omitempty"`
	}{v.Path, bytesOf(v.Path), v.Names, allBytesOf(v.Names), decisionOf(v, perm.Read), decisionOf(v, perm.Edit), decisionOf(v, perm.Write), decisionOf(v, perm.NotebookEdit), decisionOf(v, perm.MoveAway), decisionOf(v, perm.Delete), leftOutOf(v, left)}
}

// leftOut says in JSON why searches leave a name out.
type leftOut struct {
	Reason string `json:"leftOut"`
	place
}

// leftOutOf returns nil for a name that searches find, and for one that Read does not show
// without a question: the decision on Read says why.
func leftOutOf(v access.Explanation, l search.LeftOut) *leftOut {
	words := map[search.Reason]string{
		search.ByIgnoreFile: "an ignore file names it", search.ByGit: ".git is never searched", search.ByOwnFolder: "fsmcp's own folders are never searched",
		search.ByLink: "links and special files are not searched",
	}
	out := &leftOut{Reason: words[l.Reason]}
	if out.Reason == "" || v.Decisions[perm.Read].Verdict != perm.Allow {
		return nil
	}
	if l.Reason == search.ByIgnoreFile {
		out.Source, out.Line = &l.File, &l.Line
	}
	return out
}

// Explanation writes the names of a file, a line for each tool, and one where searches leave
// the file out.
func (o Output) Explanation(v access.Explanation, left search.LeftOut) error {
	fmt.Fprintln(o, fsys.Printable(v.Path))
	for _, name := range v.Names[1:] {
		fmt.Fprintf(o, "  which leads to %s\n", fsys.Printable(name))
	}
	if v.Unresolved != nil {
		fmt.Fprintf(o, "  and no further: %s\n", fsys.Printable(v.Unresolved.Error()))
	}
	table := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	for _, op := range []perm.Op{perm.Read, perm.Edit, perm.Write, perm.NotebookEdit, perm.MoveAway, perm.Delete} {
		d := decisionOf(v, op)
		why := d.Reason
		if d.Rule != nil {
			why = fsys.Printable(*d.Rule) + "\t" + d.place.String()
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", op, o.verdict(d.Verdict), why)
	}
	if out := leftOutOf(v, left); out != nil {
		why := out.Reason
		if out.Line != nil {
			why += "\t" + out.place.String()
		}
		fmt.Fprintf(table, "  search\tskip\t%s\n", why)
	}
	return table.Flush()
}

func (o Output) verdict(word string) string {
	return o.paint(map[string]colour{perm.Allow.String(): green, perm.Ask.String(): yellow, perm.Deny.String(): red}[word], word)
}
