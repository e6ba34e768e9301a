//go:build linux

package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/faults/histories"
	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestHistoriesAreLegal has two servers, with two calls at a time each, and another program work
// on two small files. In some histories there is a hook too, a restore by the command, or a kill
// of a server. Each of them must have a legal order: see package histories.
//
// FSMCP_HISTORY_SEED plans the calls of a run again; when they meet each other is left to chance.
func TestHistoriesAreLegal(t *testing.T) {
	n := count(t, "FSMCP_HISTORIES", 30)
	seed := uint64(count(t, "FSMCP_HISTORY_SEED", int(time.Now().UnixNano()%1e9)+1))
	begin, calls, steps := time.Now(), map[string]int{}, 0
	for made := 0; made < n && !t.Failed(); {
		pair := newPair(t, fsmcp, []string{"none", "full"}[made/historiesOfPair%2])
		for range min(historiesOfPair, n-made) {
			w := pair.witness(seed, made, 5)
			v := w.judge(pair.p)
			if v.TakenBack {
				calls["history with a change that was taken back"]++
			}
			if len(w.faults) > 0 || !v.Legal {
				t.Errorf("seed %d, history %d:\n%s%s", seed, made, strings.Join(w.faults, "\n"), w.story(v))
			}
			for k, c := range w.calls {
				calls[k] += c
			}
			steps += len(w.h.Ops)
			made++
		}
		pair.close()
	}
	report(t, "%d histories of %d steps in %v, seed %d, each with a legal order: %s", n, steps, time.Since(begin).Round(time.Millisecond), seed, countsInWords(calls))
	happens := []string{"Edit", "Write", "Read", "other program", "kill"}
	if n >= 300 {
		happens = append(happens, "Append", "Move", "Delete", "Restore", "Recreate", "hook Append", "hook Replace", "Edit modified", "Edit not_read")
	}
	for _, k := range happens {
		if calls[k] == 0 && !t.Failed() {
			t.Errorf("nothing of this happened: %s", k)
		}
	}
}

// TestBrokenServersAreCaught is the control arm: servers in which one part of the protocol is
// missing make histories without a legal order. Their system calls take random time around each
// exchange; servers that lack nothing pass all the same.
func TestBrokenServersAreCaught(t *testing.T) {
	shortrun.Leave(t, "a broken server may need many histories until one has no legal order")
	rounds := count(t, "FSMCP_BROKEN_HISTORIES", 3)
	long := rounds >= 20
	self, err := os.Executable()
	must(t, err)
	for _, broken := range []string{"", "lock,look", "look", "lease"} {
		t.Run("without_"+strings.ReplaceAll(broken, ",", "_and_"), func(t *testing.T) {
			begin := time.Now()
			pair := newPair(t, self, "none", "FAULTS_ROLE=broken-server", "FAULTS_BROKEN="+broken)
			defer pair.close()
			caught, made, first := 0, 0, ""
			for ; (made < rounds || broken != "" && caught == 0 && made < 300) && !t.Failed(); made++ {
				w := pair.witness(uint64(begin.UnixNano()), made, 0)
				v := w.judge(pair.p)
				if broken == "" && (!v.Legal || len(w.faults) > 0) {
					t.Fatalf("%s%s", strings.Join(w.faults, "\n"), w.story(v))
				}
				if v.Legal {
					continue
				}
				if caught++; !long {
					made++
					break
				} else if caught == 1 {
					first = "; the first:\n" + w.story(v)
				}
			}
			if broken != "" && caught == 0 {
				t.Fatalf("%d histories all have a legal order: the test proves nothing", made)
			}
			report(t, "%d of %d histories have no legal order, in %v%s", caught, made, time.Since(begin).Round(time.Millisecond), first)
		})
	}
}

// historiesOfPair is the number of histories that two servers make before new ones start.
const historiesOfPair = 25

func countsInWords(counts map[string]int) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(all, ", ")
}

// pair is two servers on one workspace.
type pair struct {
	t       *testing.T
	p       place
	program string
	env     []string
	servers [2]*mcptest.Client
}

func newPair(t *testing.T, program, durability string, env ...string) *pair {
	p := &pair{t: t, p: newPlace(t), program: program, env: append(env, "FSMCP_TOOLS=all")}
	script := p.p.file("../home/hook.sh")
	must(t, os.WriteFile(script, []byte(historyHook), 0o700))
	p.p.settings(t, fmt.Sprintf(`{"durability": %q, "dedup": false, "hooks": {"afterFileEdited": [{"glob": "hooked*", "command": ["sh", %q, %q]}]}}`,
		durability, script, p.p.file("../home/hooks.log")))
	for i := range p.servers {
		p.start(i)
	}
	return p
}

func (p *pair) start(i int) {
	c, err := mcptest.Start(mcptest.Options{Path: p.program, Args: []string{"serve", p.p.ws}, Dir: p.p.ws,
		Env: p.p.env(append(p.env, fmt.Sprintf("FAULTS_SERVER=%d", i))...), Stderr: &stderrOf{t: p.t}})
	must(p.t, err)
	_, err = c.Initialize(mcptest.Latest)
	must(p.t, err)
	p.servers[i] = c
}

func (p *pair) close() {
	for _, c := range p.servers {
		if err := c.Close(); err != nil {
			p.t.Error(err)
		}
	}
}

// Kinds of histories.
const (
	plain = iota
	withHook
	withRestore
	withKill
)

// witness makes the history of a number. Of every kinds histories one has hooks, one a restore
// and one a kill; 0: none has.
func (p *pair) witness(seed uint64, number, kinds int) *witness {
	w := &witness{t: p.t, rng: rand.New(rand.NewPCG(seed, uint64(number))), dir: p.p.file(fmt.Sprintf("h%d", number)),
		names: []string{"a.txt", "b.txt"}, calls: map[string]int{}, made: make(chan change, 1), lines: []string{"@b1\n", "@b2\n"}}
	kind := plain
	if kinds > 0 && number%kinds <= withKill {
		kind = number % kinds
	}
	if kind == withHook {
		w.names, w.hooks = []string{"hooked.txt", "hooked-too.txt"}, p.p.file("../home/hooks.log")
	}
	must(p.t, os.Mkdir(w.dir, 0o755))
	w.h.Start = map[string]string{w.names[0]: "@b1\n@b2\n" + lastLine}
	if w.rng.IntN(2) == 0 {
		w.h.Start[w.names[1]] = "@c1\n" + lastLine
	}
	for name, text := range w.h.Start {
		must(p.t, os.WriteFile(w.path(name), []byte(text), 0o666))
	}
	p.play(w, kind)
	w.last()
	return w
}

// play has all actors act at the same time.
func (p *pair) play(w *witness, kind int) {
	moves := kind != withHook && w.rng.IntN(3) == 0
	chance := func() *rand.Rand { return rand.New(rand.NewPCG(w.rng.Uint64(), 1)) }
	var callers, others sync.WaitGroup
	over := make(chan struct{})
	for i := range p.servers {
		a := &conversation{witness: w, c: p.servers[i], session: i, server: i, views: map[string]string{}}
		slots := []*rand.Rand{chance(), chance()}
		killed := kind == withKill && i == 1
		a.killed = killed
		callers.Go(func() {
			p.converse(a, slots, moves)
			if killed {
				p.start(i)
				p.converse(&conversation{witness: w, c: p.servers[i], session: 2, server: i, views: map[string]string{}}, slots, moves)
			}
		})
		if r := chance(); killed {
			others.Go(func() {
				pause(r, 8*time.Millisecond)
				a.c.Kill()
				w.mu.Lock()
				w.calls["kill"]++
				w.mu.Unlock()
			})
		}
	}
	if r := chance(); r.IntN(8) > 0 {
		others.Go(func() {
			for range 1 + r.IntN(4) {
				pause(r, 3*time.Millisecond)
				w.foreign(r)
			}
		})
	}
	r := chance()
	others.Go(func() {
		for range 6 {
			pause(r, 3*time.Millisecond)
			w.observe(w.names[min(1, r.IntN(4)/3)])
		}
	})
	if kind == withRestore {
		others.Go(func() {
			select {
			case c := <-w.made:
				w.restore(p.p, c)
			case <-over:
			}
		})
	}
	callers.Wait()
	close(over)
	others.Wait()
}

// converse makes some calls, as many at a time as there are slots, unless the server dies.
func (p *pair) converse(a *conversation, slots []*rand.Rand, moves bool) {
	var wg sync.WaitGroup
	for _, r := range slots {
		wg.Go(func() {
			for range 3 + r.IntN(3) {
				if !a.call(r, moves) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// judge looks for a legal order. Lines that no file has any more may be in the history.
func (w *witness) judge(p place) histories.Verdict {
	w.t.Helper()
	v, err := histories.Check(w.h, time.Minute)
	must(w.t, err)
	if !v.Legal {
		w.rescued(p)
		v, err = histories.Check(w.h, time.Minute)
		must(w.t, err)
	}
	if v.Undecided {
		w.t.Fatalf("no verdict on a history of %d steps within a minute", len(w.h.Ops))
	}
	return v
}

// story prints an illegal history, shrunk.
func (w *witness) story(v histories.Verdict) string {
	if v.Legal {
		return ""
	}
	if os.Getenv("FSMCP_HISTORY_WHOLE") != "" {
		fmt.Printf("%s\n", w.h.Timeline(v))
	}
	less := histories.Shrink(w.h, 10*time.Second)
	v, _ = histories.Check(less, time.Minute)
	return fmt.Sprintf("of %d steps these %d have no legal order; the number is a step's place in the longest one:\n%s", len(w.h.Ops), len(less.Ops), less.Timeline(v))
}
