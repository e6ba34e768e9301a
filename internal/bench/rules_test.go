//go:build linux

package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// manyRules returns n rules of common shapes; none names a measured file.
func manyRules(n int) (lists map[string][]string) {
	shapes := []string{
		"secret-%d.txt", "*.ext%d", "dir%d/**", "//srv/data%d/**", "~/private%d/*.key", "/gen%d/*/out",
		"**/build%d/**", "conf%d-*/[a-z]*.json", "tmp-?%d", "*%d*/x",
	}
	lists = map[string][]string{}
	for i := range n {
		list := []string{"deny", "ask", "allow"}[i%3]
		tool := []string{"Read", "Edit"}[i/3%2]
		lists[list] = append(lists[list], fmt.Sprintf("%s(%s)", tool, fmt.Sprintf(shapes[i%len(shapes)], i)))
	}
	return lists
}

const deepPath = "/home/u/proj/internal/server/handlers/v2/users/profile.go" // ten segments

// deciding measures the decision alone, without a look at the disk.
func deciding(t *testing.T, r run, _ bins, _ []string, tb *table) {
	policy := func(n int) *perm.Policy {
		c := perm.Config{Workspace: []perm.Dir{{Name: "/home/u/proj"}}, Home: "/home/u", CaseSensitive: true}
		words := map[string]perm.List{"deny": perm.Deny, "ask": perm.Ask, "allow": perm.Allow}
		for word, rules := range manyRules(n) {
			for _, text := range rules {
				c.Rules = append(c.Rules, perm.RuleText{Text: text, List: words[word], Source: perm.Source{Name: "bench", Level: perm.User, Anchor: "/home/u"}})
			}
		}
		p, _ := perm.Compile(c)
		return p
	}
	names := []string{deepPath}
	noHead := func(string) bool { return false }
	p := policy(1000)
	const each = 1000
	var took []float64
	for range r.starts {
		begin := time.Now()
		for range each {
			if d := p.Decide(perm.Edit, names, noHead); d.Verdict != perm.Allow {
				t.Fatalf("%+v", d)
			}
		}
		took = append(took, float64(time.Since(begin))/each/float64(time.Microsecond))
	}
	tb.row("a decision under 1,000 rules, ten segments", median(took), 20, "us", fmt.Sprintf("median of %d x %d", r.starts, each))
	allocs := func(n int) float64 {
		p := policy(n)
		return testing.AllocsPerRun(200, func() { p.Decide(perm.Edit, names, noHead) })
	}
	few, many := allocs(10), allocs(2000)
	tb.row("  allocations more than under 10 rules", many-few, 0, "", fmt.Sprintf("%.0f under 10 rules, %.0f under 2,000", few, many))
}

// ruled compares a session with 100 rules and one without any, in pairs that
// take turns.
func ruled(t *testing.T, r run, b bins, env []string, tb *table) {
	dir, home := t.TempDir(), t.TempDir()
	text, err := json.MarshalIndent(map[string]any{"permissions": manyRules(100)}, "", "  ")
	must(t, err)
	settings := filepath.Join(home, "settings.json")
	write(t, settings, text)
	const files = 60 // more than 50, so that no answer is a stub
	line := []byte("a line of a program's text as there are many of, sixty-four long\n")
	var content []byte
	for len(content) < 1<<10 {
		content = append(content, line...)
	}
	for i := range files {
		write(t, name(dir, i), content[:1<<10])
	}
	with := spawn(t, b.fsmcp, env, "serve", "--settings", settings, dir)
	without := spawn(t, b.fsmcp, env, "serve", dir)
	with.shake()
	without.shake()
	turn := 0
	one := func(p *peer) float64 {
		took, _ := p.call("Read", map[string]any{"file_path": name(dir, turn%files)})
		return ms(took)
	}
	reads := r.reads / 2
	var ratios, ruled, free []float64
	for range r.pairs {
		var w, o []float64
		for range reads {
			turn++
			if turn%2 == 0 {
				w, o = append(w, one(with)), append(o, one(without))
			} else {
				o, w = append(o, one(without)), append(w, one(with))
			}
		}
		ratios = append(ratios, median(w)/median(o))
		ruled, free = append(ruled, median(w)), append(free, median(o))
	}
	with.close()
	without.close()
	tb.row("Read 1 KB under 100 rules, times under none", median(ratios), 1.1, "x",
		fmt.Sprintf("median of %d pairs of %d reads: %.3f ms against %.3f ms", r.pairs, reads, median(ruled), median(free)))
}
