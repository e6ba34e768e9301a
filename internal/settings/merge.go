package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// merger makes one Config of all layers, which are in order of precedence.
type merger struct {
	env      environment
	origin   origin
	trust    bool
	layers   []Layer
	warnings []string
	// modeFault is the error of a flag with an unknown mode.
	modeFault error
}

// noLevel is the level of a default.
const noLevel = perm.User + 1

// defaultAskTimeout bounds the wait for the user's answer. It is less than the minute after
// which many clients give up a call.
const defaultAskTimeout = 50 * time.Second

func (m *merger) merge(workspace []string) Config {
	f, s := m.origin.flags, m.origin.system
	m.refuse()
	c := Config{
		Workspace:        workspace,
		Home:             s.Home,
		Rules:            m.rules(),
		Mode:             m.mode(),
		ModeUntilRestart: m.modeUntilRestart(),
		PlanFile:         m.planFile(),
		TrustProject:     m.trust,
		Broken:           m.broken(),

		Durability:         cmp.Or(f.Durability, m.env.word("FSMCP_DURABILITY", durabilities()), pick(m, keyDurability, "full")),
		KeepHardLinks:      pick(m, keyHardLinks, false),
		Dedup:              m.env.decided(f.Dedup, "FSMCP_DEDUP", pick(m, keyDedup, true)),
		Gate:               pick(m, keyGate, "shown"),
		WhenChanged:        pick(m, keyWhenChanged, "apply"),
		StripTrailingSpace: pick(m, keyStrip, true),
		Overlong:           pick(m, keyOverlong, "page"),
		AskTimeout:         pick(m, keyAskTimeout, defaultAskTimeout),
		Log:                cmp.Or(f.Log, s.Getenv("FSMCP_LOG"), m.file(keyLog)),
		MaxTokens:          m.maxTokens(),
		MaxFileBytes:       m.maxFileBytes(),
		StateDir:           StateDir(s),
		History:            m.history(),
		Hooks:              Hooks{Before: m.hooksOf(keyHooksBefore), After: m.hooksOf(keyHooksAfter)},
		Hints:              pick(m, keyHints, true),
		Persist:            pick(m, keyPersist, true),
		Clipboard:          pick(m, keyClipboard, false),
		LSP:                pick(m, keyLSP, LSP{}),
		AuditFile:          m.file(keyAuditFile),
		AuditRequired:      pick(m, keyAuditNeeded, false),
		Images:             m.images(),
		PDFWarm:            pick(m, keyPDFWarm, true),
	}
	c.PDF, c.pdfMode, c.pdfClients = m.pdf()
	if c.Tools, c.fault = m.tools(); c.fault == nil {
		c.Tools, c.ReadOnly, c.fault = m.readOnly(c.Tools)
	}
	c.fault = cmp.Or(m.ruleFault(c.Rules), m.modeFault, c.fault)
	if api := pick(m, keyTokensAPI, TokensAPI{}); api != (TokensAPI{}) {
		c.TokensAPI = &api
	}
	c.clients, c.caps = m.clientLimits()
	return c
}

// refuse warns of values that a file may not set.
func (m *merger) refuse() {
	for _, l := range m.layers {
		for _, k := range keys() {
			v, said := l.values[k.path]
			switch {
			case !said || k.setBy == lower || l.Foreign != "" || l.may(k.setBy, m.trust):
			case k.setBy == userOnly:
				m.ignored(l, v.line, k.path, "only the user's own settings may say it")
			default:
				m.ignored(l, v.line, k.path, "the project is not trusted")
			}
		}
	}
}

// can says what a layer that only tightens can do.
func (l Layer) can(do string) string {
	if l.Foreign != "" {
		return "another user could have written it, and can only " + do
	}
	return "a project can only " + do
}

func (m *merger) ignored(l Layer, line int, path, why string) {
	m.warnings = append(m.warnings, fmt.Sprintf("%s:%d: %q is ignored: %s", l.File.Name, line, path, why))
}

// rules lists the rules of all sources, list by list, those of the nearest source first.
func (m *merger) rules() (all []perm.RuleText) {
	f := m.origin.flags
	for list, flags := range [][]string{perm.Deny: f.Deny, perm.Ask: f.Ask, perm.Allow: f.Allow} {
		all = append(all, m.env.rules(perm.List(list), flags)...)
	}
	for _, l := range m.layers {
		if l.Foreign != "" {
			l.Rules = prohibitions(l.Rules)
		}
		all = append(all, l.Rules...)
	}
	slices.SortStableFunc(all, func(a, b perm.RuleText) int {
		return cmp.Or(cmp.Compare(a.List, b.List), cmp.Compare(a.Source.Level, b.Source.Level))
	})
	return all
}

// setting is the value of a key in one layer.
type setting[T any] struct {
	Layer
	is   T
	line int
}

// settingsOf returns the settings of a key, in order of precedence.
func settingsOf[T any](m *merger, k *key) (all []setting[T]) {
	for _, l := range m.layers {
		if v, ok := l.values[k.path]; ok {
			all = append(all, setting[T]{l, v.is.(T), v.line})
		}
	}
	return all
}

// decide returns the value of a key, and the level of the file that sets it.
func decide[T any](m *merger, k *key, otherwise T) (is T, by perm.Level) {
	for _, s := range settingsOf[T](m, k) {
		if s.may(k.setBy, m.trust) {
			return s.is, s.File.Level
		}
	}
	return otherwise, noLevel
}

func pick[T any](m *merger, k *key, otherwise T) T {
	is, _ := decide(m, k, otherwise)
	return is
}

// file returns a file that a setting names; "~/" is the home directory.
func (m *merger) file(k *key) string {
	s := m.origin.system
	if name := pick(m, k, ""); name != "" {
		return s.Absolute(name, s.Home)
	}
	return ""
}

func (m *merger) planFile() string {
	s := m.origin.system
	if name := cmp.Or(m.origin.flags.PlanFile, s.Getenv("FSMCP_PLAN_FILE")); name != "" {
		return s.Absolute(name, s.WorkDir)
	}
	return ""
}

func (m *merger) broken() (out []perm.BrokenFile) {
	for _, l := range m.layers {
		if l.Broken != nil {
			out = append(out, *l.Broken)
		}
	}
	return out
}

// mode returns the mode for files that no rule names. Flag, variable and --settings win;
// below them a project's files may tighten the user's mode.
func (m *merger) mode() string {
	if mode := m.modeFrom(flagMode, m.origin.flags.PermissionMode); mode != "" {
		return mode
	}
	if mode := m.modeFrom("FSMCP_PERMISSION_MODE", m.env.Getenv("FSMCP_PERMISSION_MODE")); mode != "" {
		return mode
	}
	mode, by := "acceptEdits", noLevel
	for _, l := range m.layers {
		if l.Mode.Text != "" && !l.File.Level.InProject() && l.Foreign == "" {
			mode, by = l.Mode.Text, l.File.Level
			break
		}
	}
	base := mode
	for _, l := range m.layers {
		if l.File.Level > by {
			continue // a source nearer to the user decided
		}
		if l.Mode.Text != "" && (l.File.Level.InProject() || l.Foreign != "") {
			mode = tightest(mode, l.Mode.Text)
			if rank(l.Mode.Text) < rank(base) {
				m.ignored(l, l.Mode.Line, keyMode, l.can("tighten it"))
			}
		}
		if l.floor != "" {
			mode = tightest(mode, l.floor)
		}
	}
	return mode
}

// modeUntilRestart reports whether a file names a looser mode now, which waits for a
// restart.
func (m *merger) modeUntilRestart() bool {
	ofFiles := m.origin.flags.PermissionMode == "" && m.env.Getenv("FSMCP_PERMISSION_MODE") == ""
	return ofFiles && slices.ContainsFunc(m.layers, func(l Layer) bool { return l.modeUntilRestart })
}

// modeFrom returns a mode given by a flag or a variable; "" if there is none.
func (m *merger) modeFrom(where, word string) string {
	if word == "" {
		return ""
	}
	mode, ok := knownMode(word)
	if !ok && where == flagMode {
		m.modeFault = fmt.Errorf("%s takes %s, not %q%s", where, strings.Join(modes()[:5], ", "), word, didYouMean(word, modes()))
	} else if !ok {
		m.warnings = append(m.warnings, unknownMode(where, word))
	}
	return mode
}

const flagMode = "--permission-mode"

// ruleFault returns an error for the first rule of a flag or a variable that cannot be
// understood: without it more would be open than the user wants.
func (m *merger) ruleFault(rules []perm.RuleText) error {
	for _, r := range rules {
		if level := r.Source.Level; m.origin.system.RuleFault == nil || level != perm.Flag && level != perm.Env {
			continue
		}
		if why := m.origin.system.RuleFault(r); why != "" {
			return fmt.Errorf("%s %s", r.Source.Name, why)
		}
	}
	return nil
}

func (m *merger) maxTokens() int {
	for _, name := range []string{"FSMCP_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"} {
		if n, ok := m.env.positive(name); ok {
			return n
		}
	}
	return bounded(m, keyMaxTokens, m.origin.tokens)
}

// defaultFileBytes bounds a Read of a whole file (docs/tools.md).
const defaultFileBytes = int64(256 << 10)

func (m *merger) maxFileBytes() int64 {
	if n, ok := m.env.bytes("FSMCP_MAX_FILE_BYTES"); ok {
		return n
	}
	return bounded(m, keyMaxBytes, defaultFileBytes)
}

// bounded returns the value of a bound; a project's file can only lower it.
func bounded[T cmp.Ordered](m *merger, k *key, otherwise T) T {
	n, by := decide(m, k, otherwise)
	base := n
	for _, s := range settingsOf[T](m, k) {
		switch {
		case !s.tightens(m.trust) || s.File.Level > by:
		case s.is > base:
			m.ignored(s.Layer, s.line, k.path, s.can("lower it"))
		default:
			n = min(n, s.is)
		}
	}
	return n
}

// clientLimits returns the user's bounds by client, and the bounds that can only lower
// them.
func (m *merger) clientLimits() (own, caps map[string]ClientLimit) {
	own, caps = make(map[string]ClientLimit), make(map[string]ClientLimit)
	for _, s := range slices.Backward(settingsOf[map[string]ClientLimit](m, keyClients)) {
		if s.may(lower, m.trust) {
			maps.Copy(own, s.is)
			continue
		}
		for name, limit := range s.is {
			caps[name] = limit.lowest(caps[name])
		}
	}
	return own, caps
}
