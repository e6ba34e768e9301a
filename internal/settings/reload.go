package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// entry is the state of one settings file. It outlives its Config: some of the file's
// earlier content still holds.
type entry struct {
	layer   Layer
	content FileContent
	owned   Ownership // as last seen
	inside  bool      // it is, or was, in a workspace directory
	gone    bool      // it is no longer looked for, but its prohibitions hold
	// ignored is the reason why the file does not count; "" if it does.
	ignored string
	// waiting lists what of the file holds only after a restart.
	waiting string
}

// build makes a Config from its inputs and the files. It does not read a file again that
// old knew and that did not change.
func build(o origin, old *Config, changed []string) Config {
	base, wanted := workspace(o.flags, o.system)
	env := environment{System: o.system}
	for _, dir := range env.added(o.flags) {
		base = appendDir(base, dir)
	}
	if dir := env.Getenv("XDG_CONFIG_HOME"); dir != "" && !filepath.IsAbs(dir) {
		env.warn("XDG_CONFIG_HOME", dir, "an absolute name")
	}
	trust := env.decided(o.flags.TrustProject, "FSMCP_TRUST_PROJECT", false)
	claude := !env.decided(o.flags.NoClaudeSettings, "FSMCP_NO_CLAUDE_SETTINGS", false)

	r := reader{s: o.system, owners: o.flags.TrustOwners, trust: trust, settings: cmp.Or(o.flags.Settings, o.system.Getenv("FSMCP_SETTINGS")), claude: claude, old: old, changed: changed}
	entries, dirs, warnings := r.all(base)
	if old != nil && slices.Equal(base, old.base) {
		entries = append(entries, gone(old.entries, entries)...)
	}
	for i := range entries {
		e := &entries[i]
		e.inside = e.inside || o.system.inside(e.layer.File.Name, dirs)
		warnings = append(warnings, e.warnings()...)
	}
	m := merger{env: env, origin: o, trust: trust, layers: layersOf(entries)}
	c := m.merge(dirs)
	c.RootsWanted = wanted
	c.entries, c.base = entries, base
	c.origin = o
	c.origin.warnings = append(m.env.warnings, append(warnings, m.warnings...)...)
	if old != nil && slices.Equal(base, old.base) {
		c.keepStart(*old)
	}
	return c
}

// keepStart copies the settings that are read only at the start.
func (c *Config) keepStart(old Config) {
	c.MaxTokens, c.MaxFileBytes, c.clients, c.caps, c.Log = old.MaxTokens, old.MaxFileBytes, old.clients, old.caps, old.Log
	c.Tools = old.Tools
	c.Durability, c.KeepHardLinks, c.AskTimeout = old.Durability, old.KeepHardLinks, old.AskTimeout
}

// reader gathers the settings files.
type reader struct {
	s        System
	settings string // the file of --settings
	claude   bool   // Claude Code's files count
	trust    bool   // the project is trusted
	owners   []int  // other users whose files count as the user's own
	old      *Config
	changed  []string
}

// all reads the files of the workspace. They may add directories, which may
// have files of their own, and so on; the rounds are bounded.
func (r reader) all(base []string) (entries []entry, dirs, warnings []string) {
	const rounds = 8
	dirs = base
	read := make(map[string]entry)
	for range rounds {
		entries = entries[:0]
		for _, file := range Files(r.s, dirs, r.settings, r.claude) {
			if _, ok := read[file.Name]; !ok {
				read[file.Name] = r.entry(file)
			}
			entries = append(entries, read[file.Name])
		}
		before := len(dirs)
		dirs, warnings = additional(base, layersOf(entries), r.s, r.trust)
		if len(dirs) == before {
			break
		}
	}
	return entries, dirs, warnings
}

// entry returns the current state of one file.
func (r reader) entry(f SettingsFile) entry {
	var held []entry
	if r.old != nil {
		held = r.old.entries
	}
	i := slices.IndexFunc(held, func(e entry) bool { return e.layer.File == f })
	if i >= 0 && !held[i].gone && !r.touched(f) {
		return held[i]
	}
	e := r.read(f)
	if i >= 0 {
		e.inside = held[i].inside || r.s.inside(f.Name, r.old.Workspace)
		e = held[i].merge(e, r.s.FileRule)
	}
	return e
}

func (r reader) touched(f SettingsFile) bool {
	return r.changed == nil || slices.Contains(r.changed, f.Name) || slices.Contains(r.changed, filepath.Dir(f.Name))
}

// read reads a file without regard to its old state.
func (r reader) read(f SettingsFile) entry {
	found := r.s.content(f.Name)
	e := entry{content: found, layer: Layer{File: f, Found: !found.Missing}}
	switch {
	case found.Missing && f.Named:
		e.layer = unreadable(f, "does not exist")
	case found.Missing:
	case f.Level == perm.Managed && !found.Safe:
		e.ignored = "it has to belong to root and be writable by nobody else"
		if runtime.GOOS == "windows" {
			e.ignored = "it has to belong to Administrators or SYSTEM and be writable by nobody else"
		}
	case found.Why != "":
		e.layer = unreadable(f, found.Why)
	default:
		e.layer = Parse(f, found.Bytes)
		if broken := e.layer.overfull(r.s.FileRule); broken != nil {
			e.layer = Layer{File: f, Found: true, Broken: broken}
		} else if broken := e.layer.mistyped(r.s.RuleFault); broken != nil {
			e.layer = Layer{File: f, Found: true, Rules: prohibitions(e.layer.Rules), Broken: broken}
		}
	}
	e.owned = r.s.owned(f, found, r.trust, r.owners)
	e.layer.Ownership = e.owned
	if l := e.layer; f.Tightens {
		e.layer = Layer{File: f, Found: l.Found, Rules: prohibitions(l.Rules), Broken: l.Broken}
	}
	return e
}

// owned asks for the owner of a file that could loosen.
func (s System) owned(f SettingsFile, found FileContent, trust bool, owners []int) Ownership {
	if s.Owned == nil || found.Missing || f.Tightens || f.Level == perm.Managed || f.Level.InProject() && !trust {
		return Ownership{}
	}
	return s.Owned(f, owners)
}

// content reads a settings file.
func (s System) content(name string) FileContent {
	if s.Read == nil {
		return FileContent{Missing: true}
	}
	return s.Read(name)
}

// Stale reads the settings files again. It returns the changed ones for Reload, and the
// folder of managed settings if its list of files changed. half reports that a file is
// gone or cannot be understood: its writer may not have finished.
//
// It compares bytes: a writer through a memory map leaves no new stamp.
func (c Config) Stale() (names []string, half bool) {
	s := c.origin.system
	var managed []SettingsFile
	for _, e := range c.entries {
		if e.gone {
			continue
		}
		f := e.layer.File
		if f.Level == perm.Managed {
			managed = append(managed, f)
		}
		found := s.content(f.Name)
		if found.same(e.content) && s.owned(f, found, c.TrustProject, c.origin.flags.TrustOwners) == e.owned {
			continue
		}
		names = append(names, f.Name)
		half = half || found.Missing || isEmpty(f, found.Bytes) || Parse(f, found.Bytes).Broken != nil
	}
	if !slices.Equal(managed, managedFiles(s)) {
		names = append(names, dropIns(s))
	}
	return names, half
}

// warnings returns those about the file's own text.
func (e entry) warnings() []string {
	name, out := e.layer.File.Name, slices.Clone(e.layer.Warnings)
	if e.layer.Broken != nil {
		out = append(out, BrokenWarning(*e.layer.Broken))
	}
	if f := e.layer.File; f.Tightens && e.layer.Found {
		out = append(out, fmt.Sprintf("%s: only its deny and ask rules count, since XDG_CONFIG_HOME puts settings in another folder", name))
	}
	switch o := e.layer.Ownership; {
	case !e.layer.Found:
	case o.Foreign != "":
		out = append(out, name+": "+o.Effect())
	case o.Caution != "":
		out = append(out, fmt.Sprintf("%s: %s", name, o.Caution))
	}
	if e.ignored != "" {
		out = append(out, fmt.Sprintf("%s is ignored: %s", name, e.ignored))
	}
	if e.waiting != "" {
		out = append(out, fmt.Sprintf("%s changed while fsmcp runs; until a restart %s", name, e.waiting))
	}
	return out
}

// merge returns the state of a known file after it was found as now.
func (e entry) merge(now entry, concerns func(rule string) bool) entry {
	broken, owned := now.layer.Broken, now.owned
	// A program that writes a file in place empties it first, and may begin with a comment.
	emptied := now.layer.Found && isEmpty(now.layer.File, now.content.Bytes)
	if (now.inside || emptied) && owned.Foreign == "" && e.layer.Foreign != "" {
		owned = e.layer.Ownership // an agent could have made it the user's own
		owned.Foreign = strings.TrimSuffix(owned.Foreign, ownByNow) + ownByNow
	}
	if broken == nil && (now.inside || emptied) {
		layer, waiting := tighten(e.layer, now.layer)
		// Removed rules still hold, so rules add up from one state to the next.
		if !now.inside { // the user withdraws a looser mode at once
			layer.Mode, layer.floor = now.layer.Mode, tightest(layer.floor, e.layer.Mode.Text)
		}
		if broken = layer.overfull(concerns); broken == nil {
			now.layer, now.waiting = layer, waiting
		} else {
			broken.Why += ", counted with those that hold until a restart"
		}
	}
	if broken != nil {
		// Its last content still holds, with the new deny and ask rules if they are known, and
		// the file counts as broken.
		added := slices.DeleteFunc(prohibitions(now.layer.Rules), func(r perm.RuleText) bool { return hasRule(e.layer.Rules, r) })
		if now.layer.Broken == nil {
			added = nil // too many with those that hold until a restart
		}
		if e.layer.Foreign != "" {
			owned = e.layer.Ownership // its content is that of the other user
		}
		now.layer, now.waiting = e.layer, e.waiting
		now.layer.Rules = slices.Concat(e.layer.Rules, added)
		now.layer.Found, now.layer.Broken, now.layer.Warnings, now.layer.Misplaced = true, broken, nil, nil
	}
	now.layer.Ownership = owned
	return now
}

// ownByNow ends the reason of a file that another user could have written at the start.
const ownByNow = "; it is the user's own by now, and a restart of fsmcp applies that"

// tighten returns the part of a file that holds if an agent could have written it: all old
// and new prohibitions, and no permission that it did not give before.
func tighten(held, now Layer) (Layer, string) {
	out := now
	out.Rules = tightenRules(held.Rules, now.Rules)
	out.Dirs = slices.DeleteFunc(slices.Clone(now.Dirs), func(d Word) bool {
		return !slices.ContainsFunc(held.Dirs, func(h Word) bool { return h.Text == d.Text })
	})
	out.Mode, out.floor = held.Mode, held.floor
	if now.Mode.Text != "" && now.Mode.Text != held.Mode.Text {
		out.floor = tightest(out.floor, now.Mode.Text)
	}
	out.modeUntilRestart = looser(held, now, out)
	// Deleting a broken file repairs nothing: its rules are still unknown.
	if !now.Found && held.Broken != nil {
		out.Broken = &perm.BrokenFile{Name: held.Broken.Name, Line: held.Broken.Line, Why: "was deleted while it was not valid, and a restart of fsmcp applies that"}
	}
	out.values = mergeValues(held.values, now.values)
	return out, waiting(now, out)
}

// tightenRules returns all prohibitions of both, those that now lacks until a restart, and
// the permissions that both have.
func tightenRules(held, now []perm.RuleText) (out []perm.RuleText) {
	for _, r := range now {
		if r.List != perm.Allow || hasRule(held, r) {
			out = append(out, r)
		}
	}
	for _, r := range held {
		if r.List != perm.Allow && !hasRule(now, r) {
			r.Source.UntilRestart = true
			out = append(out, r)
		}
	}
	return out
}

// lacking counts the rules that others lack.
func lacking(rules, others []perm.RuleText) (n int) {
	for _, r := range rules {
		if !hasRule(others, r) {
			n++
		}
	}
	return n
}

func hasRule(rules []perm.RuleText, rule perm.RuleText) bool {
	return slices.ContainsFunc(rules, func(r perm.RuleText) bool { return r.Text == rule.Text && r.List == rule.List })
}

// mergeValues takes from now the values that any project's file may set at any time, and
// the rest from held.
func mergeValues(held, now map[string]value) map[string]value {
	out := make(map[string]value)
	for _, k := range keys() {
		from := held
		if k.setBy == anyone {
			from = now
		}
		if v, ok := from[k.path]; ok {
			out[k.path] = v
		}
	}
	return out
}

// waiting lists the ways in which a file was loosened.
func waiting(now, out Layer) string {
	var ways []string
	say := func(n int, one, many string) {
		switch {
		case n == 1:
			ways = append(ways, "1 "+one)
		case n > 1:
			ways = append(ways, fmt.Sprintf("%d %s", n, many))
		}
	}
	say(lacking(out.Rules, now.Rules), "removed deny or ask rule still holds", "removed deny or ask rules still hold")
	say(lacking(now.Rules, out.Rules), "added allow rule does not count", "added allow rules do not count")
	say(len(now.Dirs)-len(out.Dirs), "added directory does not count", "added directories do not count")
	if out.modeUntilRestart {
		ways = append(ways, keyMode+" stays as it was")
	}
	n := 0
	for _, k := range keys() {
		if fmt.Sprint(now.values[k.path].is) != fmt.Sprint(out.values[k.path].is) {
			n++
		}
	}
	say(n, "other setting stays as it was", "other settings stay as they were")
	if out.Broken != nil {
		ways = append(ways, "it counts as broken, though it was deleted")
	}
	return strings.Join(ways, ", ")
}

// looser reports whether the file names another mode than the one that holds.
func looser(held, now, out Layer) bool {
	if now.Mode.Text != tightest(out.Mode.Text, out.floor) {
		return true
	}
	// A user's file without a mode meant the default.
	return !now.File.Level.InProject() && now.Mode.Text != "" && rank(now.Mode.Text) < rank(cmp.Or(held.Mode.Text, "acceptEdits"))
}

// gone returns the files that are no longer looked for because no file adds their
// directory any more. Their prohibitions still hold: an agent may have removed the
// directory.
func gone(old, now []entry) (out []entry) {
	for _, e := range old {
		looked := slices.ContainsFunc(now, func(n entry) bool { return n.layer.File.Name == e.layer.File.Name })
		if looked || !e.inside || !e.layer.File.Level.InProject() {
			continue
		}
		l := e.layer
		e.layer = Layer{File: l.File, Found: l.Found, Rules: tightenRules(l.Rules, nil), Broken: l.Broken}
		e.gone, e.waiting = true, ""
		out = append(out, e)
	}
	return out
}

func layersOf(entries []entry) (out []Layer) {
	for _, e := range entries {
		out = append(out, e.layer)
	}
	return out
}
