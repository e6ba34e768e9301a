//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// besieged is a fort with a drawn tree, whose secrets are denied by rules of several forms.
type besieged struct {
	*fort
	r       *rand.Rand
	rules   []string
	secrets map[string]string // by their names, what they hold
	marks   []string          // in the name and the text of each secret, and nowhere else
	names   []string          // of all else
	faults  []string
}

// besiege draws folders, files, secrets, symbolic links and hard links.
func besiege(f *fort, r *rand.Rand) *besieged {
	b := &besieged{fort: f, r: r, secrets: map[string]string{}}
	folders := []string{f.ws, f.ws, f.outside, f.home}
	for range 6 {
		dir := filepath.Join(folders[r.IntN(len(folders))], []string{"a", "b", "sub", "vault", "Deep"}[r.IntN(5)])
		f.check(os.MkdirAll(dir, 0o755))
		folders = append(folders, dir)
	}
	b.names = append(b.names, folders...)
	for i := range 4 {
		name := filepath.Join(folders[r.IntN(len(folders))], fmt.Sprint("plain", i, ".txt"))
		b.names = append(b.names, f.put(name, fmt.Sprintf("plain %d\n", i)))
	}
	for i := range 4 {
		mark, hidden := fmt.Sprintf("QX%dJ", i), fmt.Sprint("hidden", i)
		dir := folders[r.IntN(len(folders))]
		name := dir + "/key-" + mark + []string{".txt", ".pem", ".ipynb", ""}[r.IntN(4)]
		kind := r.IntN(6)
		literal := ""
		switch kind {
		case 0:
			literal = "Read(/" + name + ")"
		case 1:
			literal = "Read(" + filepath.Base(name) + ")"
			if dir != f.ws { // a bare name holds below the workspace
				literal = "Read(//" + name[1:] + ")"
			}
		case 2:
			b.rules = append(b.rules, "--deny", "Read(//**/*"+mark+"*)")
		case 3:
			name = dir + "/" + hidden + "/" + filepath.Base(name)
			b.rules = append(b.rules, "--deny", "Read(//**/"+hidden+"/**)")
		case 4:
			name = dir + "/" + hidden + "/in/" + filepath.Base(name)
			b.rules = append(b.rules, "--deny", "Read(/"+dir+"/"+hidden+")")
		case 5:
			b.rules = append(b.rules, "--deny", "Read(/"+dir+"/[k]ey-"+strings.ToLower(mark)+"*)")
		}
		f.put(name, "CANARY "+mark+"\n")
		b.secrets[name], b.marks = "CANARY "+mark+"\n", append(b.marks, mark)
		if literal != "" {
			b.rules = append(b.rules, "--deny", literal)
			hard := filepath.Join(folders[r.IntN(len(folders))], fmt.Sprint("hard", i))
			f.check(os.Link(name, hard))
			b.names, b.secrets[hard] = append(b.names, hard), b.secrets[name]
		}
		b.names = append(b.names, name, filepath.Dir(name))
	}
	for i := range 8 {
		name := filepath.Join(folders[r.IntN(len(folders))], fmt.Sprint("link", i))
		f.check(os.Symlink(b.names[r.IntN(len(b.names))], name)) // absolute: it leads there also once it is moved
		b.names = append(b.names, name)
	}
	return b
}

// inside reports whether a name, as it is read in the end, lies in the folder of the test: the
// server may do all that no rule denies.
func (b *besieged) inside(name string) bool {
	name = strings.NewReplacer(`"`, "", "file://", "", "~", b.home).Replace(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(b.ws, name)
	}
	return strings.HasPrefix(filepath.Clean(name), filepath.Dir(b.ws)+"/")
}

// name draws a name, spelt in some way.
func (b *besieged) name() string {
	for {
		if name := b.spelt(); b.inside(name) {
			return name
		}
	}
}

func (b *besieged) spelt() string {
	r := b.r
	name := b.names[r.IntN(len(b.names))]
	for range r.IntN(3) {
		dir, base := filepath.Split(name)
		switch r.IntN(12) {
		case 0:
			name = dir + "./" + base
		case 1:
			name = dir + "nothing/../" + base
		case 2:
			name = dir + "/" + base
		case 3:
			name += "/"
		case 4:
			name += []string{"/.", " ", "/x", "/..", "\u200b"}[r.IntN(5)]
		case 5:
			if rel, err := filepath.Rel(b.ws, name); err == nil {
				name = rel
			}
		case 6:
			if rel, err := filepath.Rel(b.home, name); err == nil {
				name = "~/" + rel
			}
		case 7:
			name = dir + strings.ToUpper(base)
		case 8:
			name = `"` + name + `"`
		case 9:
			name = "file://" + name
		case 10: // behind a link
			links := slices.DeleteFunc(slices.Clone(b.names), func(n string) bool { return !strings.HasPrefix(filepath.Base(n), "link") })
			name = links[r.IntN(len(links))] + "/" + base
		default:
			other := b.names[r.IntN(len(b.names))]
			if rel, err := filepath.Rel(other, name); err == nil {
				name = other + "/" + rel
			}
		}
	}
	return name
}

// attack draws a call.
func (b *besieged) attack() (tool string, args map[string]any) {
	r, name := b.r, b.name()
	pattern := func() string {
		dir := filepath.Dir(name)
		if !b.inside(dir) {
			dir = b.ws
		}
		return dir + "/" + []string{"*", "**", "*.txt", "**/*", "k*", "*/*", "?*", "hard*", "link*"}[r.IntN(9)]
	}
	switch r.IntN(10) {
	case 0, 1:
		all := append(ways(name, "CANARY"), furtherWays(name, b.ws+"/plain-new")...)
		w := all[r.IntN(len(all))]
		return w.tool, w.args
	case 2:
		return "Glob", map[string]any{"pattern": []string{"**", "**/*", "*", "*/", "{k,h}*", "**/key*"}[r.IntN(6)], "path": name, "include_ignored": r.IntN(2) == 0}
	case 3:
		return "Glob", map[string]any{"pattern": pattern()}
	case 4:
		return "Grep", map[string]any{"pattern": []string{"CANARY", ".", "^", "plain|CAN"}[r.IntN(4)], "path": name, "output_mode": []string{"content", "count", "files_with_matches"}[r.IntN(3)], "-C": 2, "multiline": r.IntN(2) == 0}
	case 5, 6:
		from := name
		if r.IntN(3) == 0 {
			from = pattern()
		}
		to := b.name()
		if r.IntN(2) == 0 {
			to = filepath.Join(b.ws, fmt.Sprint("new", r.IntN(1000)))
		}
		if r.IntN(3) == 0 {
			to += "/"
		}
		return "Move", map[string]any{"from": from, "to": to, "copy": r.IntN(2) == 0}
	case 7:
		if r.IntN(3) == 0 {
			name = pattern()
		}
		return "Delete", map[string]any{"paths": []any{name}, "recursive": r.IntN(2) == 0}
	case 8:
		edit := func(path string) any {
			return map[string]any{"file_path": path, "old_string": "CANARY", "new_string": "x"}
		}
		return "MultiEdit", map[string]any{"edits": []any{edit(b.name()), edit(name)}}
	}
	return "Write", map[string]any{"file_path": name, "content": "CHANGED\n", "append": r.IntN(2) == 0}
}

// keeps asks that each secret is in its place as it was, and that nothing else holds its text. It
// returns all other names: a call may make some that bear a mark.
func (b *besieged) keeps() (names string) {
	for name, text := range b.secrets {
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			b.faults = append(b.faults, fmt.Sprintf("%s holds %q now, %v", name, now, err))
		}
	}
	for _, top := range []string{b.ws, b.outside, b.home} {
		_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			if b.secrets[name] != "" || err != nil {
				return nil
			}
			if names += "\n" + name; d.Type().IsRegular() {
				if raw, _ := os.ReadFile(name); strings.Contains(string(raw), "CANARY Q") {
					b.faults = append(b.faults, fmt.Sprintf("%s holds %q", name, raw))
				}
			}
			return nil
		})
	}
	return names
}

// play makes calls until one has a fault, and returns them.
func (b *besieged) play(rules ...string) (calls []string, done int) {
	b.serve(append(rules, "--tools", "all", "--permission-mode", "bypassPermissions")...)
	defer b.close()
	names := b.keeps()
	for range 150 {
		tool, args := b.attack()
		asked, err := json.Marshal(args)
		b.check(err)
		for _, key := range []string{"file_path", "notebook_path", "path", "from", "to"} {
			if name, ok := args[key].(string); ok && !b.inside(name) {
				b.t.Fatalf("%s %s leaves the folder of the test", tool, asked)
			}
		}
		res := b.call(tool, args)
		if !res.IsError {
			done++
		}
		calls = append(calls, fmt.Sprintf("%s %s: %s", tool, asked, clipText(res.Text)))
		if strings.Contains(string(res.Raw), "CANARY Q") {
			b.faults = append(b.faults, "the text of a secret is told")
		}
		known := string(asked) + names
		names = b.keeps()
		for _, mark := range b.marks {
			if strings.Contains(string(res.Raw), mark) && !strings.Contains(known+names, mark) {
				b.faults = append(b.faults, "a secret is named: "+mark)
			}
		}
		if len(b.faults) > 0 {
			break
		}
	}
	return calls, done
}

// TestDrawnAttacks draws trees, rules and calls of every tool, also with wildcards and behind
// links, without any question (bypassPermissions): a denied file is neither shown, nor named
// unasked, nor changed, moved or copied. The control arm has no rules.
func TestDrawnAttacks(t *testing.T) {
	t.Parallel()
	done, unruled := 0, 0
	for round := range shortrun.Count(t, 8, 3, "trees") {
		b := besiege(newFort(t), rand.New(rand.NewPCG(uint64(round), 53)))
		calls, n := b.play(b.rules...)
		if done += n; len(b.faults) > 0 {
			t.Fatalf("round %d: %q\nrules %q, secrets %q, after\n%s", round, b.faults, b.rules, b.secrets, strings.Join(calls[max(0, len(calls)-4):], "\n"))
		}
		if round < 3 {
			control := besiege(newFort(t), rand.New(rand.NewPCG(uint64(round), 53)))
			control.play()
			unruled += len(control.faults)
		}
	}
	t.Logf("%d calls were not refused; without rules there are %d faults in 3 trees", done, unruled)
	if unruled < 3 {
		t.Error("the test does not see faults")
	}
}
