package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// results is what a template of a page is filled with.
type results struct {
	Cases   []*testCase
	Servers []*played
}

// render fills a template with the results.
func render(file string, cases []*testCase, servers []*played) (string, error) {
	t, err := template.New(filepath.Base(file)).Funcs(template.FuncMap{"number": number}).ParseFiles(file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, results{cases, servers})
	return b.String(), err
}

// Table returns a row for each case, with the columns of each server.
func (r results) Table() string {
	var b strings.Builder
	b.WriteString("|#|case|")
	for _, s := range r.Servers {
		fmt.Fprintf(&b, "%s|calls|bytes|", s.Title)
	}
	b.WriteString("better|\n|---|---|" + strings.Repeat("---|---|---|", len(r.Servers)) + "---|\n")
	for i, c := range r.Cases {
		fmt.Fprintf(&b, "|%d|%s|", c.number, c.Title)
		for _, s := range r.Servers {
			b.WriteString(s.Results[i].cells())
		}
		b.WriteString(r.best(i) + "|\n")
	}
	return b.String()
}

// cells returns the columns of one server.
func (r result) cells() string {
	verdict := r.Verdict
	if verdict == wrong {
		verdict = "**WRONG**"
	}
	if r.Timing || r.Verdict == noTool {
		return verdict + "|–|–|"
	}
	return fmt.Sprintf("%s|%s|%s|", verdict, number(r.Cost.Calls), number(r.Cost.Bytes))
}

// best names the server that is better than each other one, if there is one.
func (r results) best(i int) string {
	for _, s := range r.Servers {
		wins := 0
		for _, other := range r.Servers {
			wins += max(0, compare(s.Results[i], other.Results[i]))
		}
		if wins > 0 && wins == len(r.Servers)-1 {
			return s.Title
		}
	}
	return "–"
}

// compare returns 1 if the first result is better, -1 if the second is, else 0: by the verdict,
// then, if both are right, by calls, then by bytes that differ by more than a tenth and 500.
func compare(a, b result) int {
	rank := map[string]int{right: 0, refused: 1, noTool: 1, wrong: 2}
	pairs := [][2]int{{rank[a.Verdict], rank[b.Verdict]}}
	if x, y := a.Cost.Bytes, b.Cost.Bytes; a.Verdict == right && b.Verdict == right && !a.Timing {
		pairs = append(pairs, [2]int{a.Cost.Calls, b.Cost.Calls})
		if 10*min(x, y) < 9*max(x, y) && max(x, y)-min(x, y) > 500 {
			pairs = append(pairs, [2]int{x, y})
		}
	}
	for _, pair := range pairs {
		if pair[0] < pair[1] {
			return 1
		} else if pair[0] > pair[1] {
			return -1
		}
	}
	return 0
}

// Better counts the cases in which one server is better than another: {{.Better 0 1}}.
func (r results) Better(one, other int) (n int) {
	for i := range r.Cases {
		n += max(0, compare(r.Servers[one].Results[i], r.Servers[other].Results[i]))
	}
	return n
}

// Even counts the cases in which none of two servers is better.
func (r results) Even(one, other int) int {
	return len(r.Cases) - r.Better(one, other) - r.Better(other, one)
}

// Count returns how many cases of a server have a verdict.
func (s *played) Count(verdict string) (n int) {
	for _, one := range s.Results {
		if one.Verdict == verdict {
			n++
		}
	}
	return n
}

// Faults lists what a server does wrong, with the numbers of the cases.
func (r results) Faults(server int) string {
	var reasons []string
	numbers := make(map[string][]string)
	for i, one := range r.Servers[server].Results {
		if one.Verdict != wrong {
			continue
		}
		if !slices.Contains(reasons, one.Reason) {
			reasons = append(reasons, one.Reason)
		}
		numbers[one.Reason] = append(numbers[one.Reason], fmt.Sprint(r.Cases[i].number))
	}
	for i, reason := range reasons {
		reasons[i] = strings.Join(numbers[reason], ", ") + ": " + reason
	}
	return strings.Join(reasons, "; ")
}

// number writes a number with commas.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// listTools counts the tools of a server, and the bytes of their list.
func listTools(a *adapter, dir string) (tools, size int, err error) {
	p, err := newPlace(dir)
	if err != nil {
		return 0, 0, err
	}
	server, err := a.start(p)
	if err != nil {
		return 0, 0, err
	}
	defer server.close()
	list, err := server.request("tools/list", map[string]any{})
	if err != nil {
		return 0, 0, err
	}
	var all struct{ Tools []json.RawMessage }
	err = json.Unmarshal(list, &all)
	return len(all.Tools), len(strings.ReplaceAll(string(list), p.work, "/project")), err
}
