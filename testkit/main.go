// Command testkit plays cases with MCP servers for files, and judges them by the bytes on the
// disk afterwards and by whether their answers were true. It prints a line for each case, or
// writes a page of results by a template.
//
// It promises to play the same agent for each server: it makes the obvious call, does as an
// error says, and believes an answer that reports success. No model takes part, and it measures
// no time.
//
// Usage: testkit [-cases DIR] [-only TEXT] [-v] [-page TEMPLATE -o FILE] ADAPTER...
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

var verbose bool

func main() {
	dir := flag.String("cases", "cases", "read the cases in `DIR`")
	only := flag.String("only", "", "play the cases whose folders have `TEXT` in their names")
	page := flag.String("page", "", "write a page by this `TEMPLATE`")
	out := flag.String("o", "", "write the page to `FILE`")
	flag.BoolVar(&verbose, "v", false, "print calls and answers, cut off")
	flag.Parse()
	if err := testkit(*dir, *only, *page, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testkit:", err)
		os.Exit(1)
	}
}

func testkit(dir, only, page, out string, adapters []string) error {
	cases, err := readCases(dir)
	if err != nil {
		return err
	}
	var chosen []*testCase
	for _, c := range cases {
		if strings.Contains(filepath.Base(c.dir), only) {
			chosen = append(chosen, c)
		}
	}
	var servers []*played
	for _, file := range adapters {
		a, err := readAdapter(file)
		if err != nil {
			return err
		}
		s, err := playAll(a, chosen)
		if err != nil {
			return err
		}
		servers = append(servers, s)
		for i, c := range chosen {
			fmt.Printf("%-12s %-28s %-8s %s\n", a.Name, filepath.Base(c.dir), s.Results[i].Verdict, s.Results[i].Reason)
		}
	}
	if page == "" {
		return nil
	}
	text, err := render(page, chosen, servers)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o644)
}

// played holds the results of all cases with one server.
type played struct {
	*adapter
	Results   []result
	Tools     int // how many the server has
	ListBytes int // of their list, which a client loads first
}

// playAll sets a server up and plays all cases with it, as many at once as there are processors.
func playAll(a *adapter, cases []*testCase) (s *played, err error) {
	temp, err := os.MkdirTemp("", "testkit-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := a.setUp(filepath.Join(temp, "tools")); err != nil {
		return nil, err
	}
	s = &played{adapter: a, Results: make([]result, len(cases))}
	if s.Tools, s.ListBytes, err = listTools(a, filepath.Join(temp, "list")); err != nil {
		return nil, err
	}
	faults := make([]error, len(cases))
	places := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, c := range cases {
		all.Go(func() {
			places <- struct{}{}
			s.Results[i], faults[i] = attempt(c, a, filepath.Join(temp, fmt.Sprint(c.number)))
			<-places
		})
	}
	all.Wait()
	return s, errors.Join(faults...)
}
