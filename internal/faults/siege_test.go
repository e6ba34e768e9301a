//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// siege counts what happened to a server while it read files made to harm.
type siege struct {
	files, shown, crashes int
	slowest               time.Duration
	most                  int             // the server's memory in bytes
	texts                 []time.Duration // reads of a small text meanwhile
}

// missile is one file that is made to harm, and what to think of the answer.
type missile struct {
	name    string // with its extension
	content []byte
	check   func(mcptest.Result)
}

// besiege has so many callers read n files made to harm, and another a small text
// meanwhile. Each caller has its own source of chance, so that a run can be told
// again.
func besiege(t *testing.T, c *mcptest.Client, p place, n, many int, more args, next func(i int, r *rand.Rand) missile) (s siege) {
	t.Helper()
	stop := make(chan struct{})
	var watchers, callers sync.WaitGroup
	watchers.Go(func() { s.texts = ordinaryReads(t, c, p, stop) })
	watchers.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				s.most = max(s.most, resident(t, c.PID()))
			}
		}
	})
	var mu sync.Mutex
	for caller := range many {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(51, uint64(caller)))
			for i := caller; i < n; i += many {
				m := next(i, r)
				res, took, err := m.strike(c, p, caller, more)
				if err != nil {
					t.Errorf("%s: %v", m.name, err)
					return
				}
				mu.Lock()
				s.files++
				s.slowest = max(s.slowest, took)
				switch {
				case !res.IsError:
					s.shown++
				case res.Slug == "io":
					if s.crashes++; s.crashes <= 5 {
						fmt.Printf("%s: %s: %s\n", t.Name(), keptFile(m), clip(res.Text))
					}
				}
				mu.Unlock()
				if m.check != nil {
					m.check(res)
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	watchers.Wait()
	return s
}

// slowestAnswer bounds the time of the answer to a file made to harm.
const slowestAnswer = 12 * time.Second

// strike has a file made to harm read, and where that took longer than it may, for
// which the machine may have to answer, once more under another name. So does one whose answer
// is looked at if its decoder, which runs at a low priority, was given up at its deadline: the
// answer asks for that. It returns the first answer of a decoder that was not, else the last,
// and the least time.
func (m missile) strike(c *mcptest.Client, p place, caller int, more args) (first mcptest.Result, least time.Duration, err error) {
	givenUp := func(res mcptest.Result) bool {
		return m.check != nil && res.Slug == "too_large" && strings.Contains(res.Text, "within the time")
	}
	for try := range 4 {
		file := p.file(fmt.Sprintf("%d%s-%s", caller, strings.Repeat("again", try), m.name))
		if err := os.WriteFile(file, m.content, 0o666); err != nil {
			return first, least, err
		}
		a := args{"file_path": file}
		for name, v := range more {
			a[name] = v
		}
		begin := time.Now()
		res, err := c.Call("Read", a)
		took := time.Since(begin)
		if err != nil {
			return first, least, err
		}
		if try == 0 {
			least = took
		}
		if try == 0 || givenUp(first) {
			first = res
		}
		if least = min(least, took); least <= slowestAnswer && !givenUp(first) {
			break
		}
	}
	return first, least, nil
}

// keptFile puts a file that broke a worker where it can be looked at.
func keptFile(m missile) string {
	f, err := os.CreateTemp("", "*-"+m.name)
	if err != nil {
		return m.name
	}
	defer f.Close()
	f.Write(m.content)
	return f.Name()
}

// smallTexts are the files of ordinary reads.
func smallTexts(t *testing.T, p place) {
	t.Helper()
	for i := range 10 {
		must(t, os.WriteFile(p.file(fmt.Sprintf("small%d.txt", i)), bytes.Repeat([]byte("a small file\n"), 20), 0o666))
	}
}

// judge says what a siege came to, beside one of harmless files. Where texts were read
// too slowly meanwhile, which may be the machine's, it is laid again a few times.
func (s siege) judge(t *testing.T, what string, harmless siege, again func() siege) {
	t.Helper()
	before, meanwhile := at99(harmless.texts), at99(s.texts)
	// Below the bound that ordinary reads have beside any calls, it is the machine
	// that is measured.
	bound := max(2*before, time.Duration(count(t, "FSMCP_P99_MS", 60))*time.Millisecond)
	tries := 1
	for ; tries < 4 && meanwhile > bound; tries++ {
		if next := again(); at99(next.texts) < meanwhile {
			s.texts, meanwhile = next.texts, at99(next.texts)
		}
	}
	report(t, "%s: %d files, %d shown, %d broke a worker, the slowest answered in %v, server at most %.1f MB; %d reads of a text meanwhile: median %v, p99 %v (beside %d harmless files: %v, %v), in try %d",
		what, s.files, s.shown, s.crashes, s.slowest.Round(time.Millisecond), float64(s.most)/1e6,
		len(s.texts), median(s.texts), meanwhile, harmless.files, median(harmless.texts), before, tries)
	if s.slowest > slowestAnswer || s.most > 64e6 {
		t.Errorf("%s: slowest %v, %.1f MB", what, s.slowest, float64(s.most)/1e6)
	}
	if meanwhile > bound {
		t.Errorf("%s: reads of a text meanwhile: p99 %v, more than %v", what, meanwhile, bound)
	}
}

func median(took []time.Duration) time.Duration {
	took = slices.Sorted(slices.Values(took))
	return took[len(took)/2]
}
