package settings

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
)

// History says how much of the old bytes the history keeps, and which files it leaves out.
type History struct {
	// Enabled is false if the history is off.
	Enabled bool
	// Required stops a change whose old bytes cannot be stored.
	Required bool
	MaxSize  int64 // bytes
	MaxAge   time.Duration
	Exclude  []string // globs of names
}

// Patterns that the schema has, too.
const (
	sizes = `^([0-9]+(\.[0-9]+)?) ?(([kKmMgGtT])[iI]?)?[bB]?$`
	ages  = `^([0-9]+(\.[0-9]*)?(ms|s|m|h|d))+$`
)

const (
	defaultMaxSize = 1 << 30
	defaultMaxAge  = 30 * 24 * time.Hour
)

// defaultExclude returns names that are mostly secret.
func defaultExclude() []string { return []string{".env", ".env.*", "*.pem", "*.key", "id_*"} }

func (m *merger) history() History {
	most := pick(m, keyHistoryMaxSize, int64(defaultMaxSize))
	return History{
		Enabled:  pick(m, keyHistoryEnabled, true) && most > 0,
		Required: pick(m, keyHistoryRequired, true),
		MaxSize:  most,
		MaxAge:   pick(m, keyHistoryMaxAge, defaultMaxAge),
		Exclude:  m.exclude(),
	}
}

// exclude returns the globs of all sources together.
func (m *merger) exclude() (globs []string) {
	found := false
	for _, s := range settingsOf[[]string](m, keyHistoryExclude) {
		if s.may(trusted, m.trust) {
			found = true
			for _, glob := range s.is {
				globs = append(globs, m.excludes(s.Layer, s.line, glob)...)
			}
		}
	}
	if !found {
		return defaultExclude()
	}
	return globs
}

// excludes returns a glob as it is matched on this system. A glob that cannot be understood
// excludes every file, because it was meant to keep a secret.
func (m *merger) excludes(l Layer, line int, glob string) []string {
	all, err := globsOf(m.origin.system.Notation(), glob)
	if err != nil {
		m.warnings = append(m.warnings, fmt.Sprintf("%s:%d: the glob %s of %q %v; until it is mended the history keeps no file's text", l.File.Name, line, glob, keyHistoryExclude.path, err))
		return []string{everyFile}
	}
	return all
}

// takeSize reads a number of bytes: 1048576, "1MB", "1.5 GB".
func takeSize(v hujson.Value) (any, bool) {
	if lit, is := v.Value.(hujson.Literal); is && lit.Kind() == '0' {
		n, err := strconv.ParseFloat(string(lit), 64)
		return wholeBytes(n), err == nil && n >= 0 && n == math.Trunc(n)
	}
	s, ok := jsonc.Text(v)
	n, parsed := size(s)
	return n, ok && parsed
}

// takeBytes reads a number of bytes above 0.
func takeBytes(v hujson.Value) (any, bool) {
	n, ok := takeSize(v)
	return n, ok && n.(int64) > 0
}

// size reads a number of bytes as text. K, M, G and T are powers of 1024.
func size(s string) (n int64, ok bool) {
	parts := regexp.MustCompile(sizes).FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(parts[1], 64)
	for range strings.Index("kmgt", strings.ToLower(parts[4])) + 1 {
		if parts[4] != "" {
			f *= 1024
		}
	}
	return wholeBytes(f), err == nil
}

func wholeBytes(n float64) int64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// takeAge reads a length of time, also in days.
func takeAge(v hujson.Value) (any, bool) {
	s, _ := jsonc.Text(v)
	if !matches(ages, s) {
		return time.Duration(0), false
	}
	total := time.Duration(0)
	for _, part := range regexp.MustCompile(`[0-9.]+(ms|s|m|h|d)`).FindAllString(s, -1) {
		unit := time.Duration(1)
		if days, ok := strings.CutSuffix(part, "d"); ok {
			part, unit = days+"h", 24
		}
		d, err := time.ParseDuration(part)
		if err != nil || d > math.MaxInt64/unit-total {
			return time.Duration(0), false
		}
		total += d * unit
	}
	return total, true
}

func takeGlobs(v hujson.Value) (any, bool) {
	globs, ok := jsonc.Texts(v)
	return globs, ok && !slices.ContainsFunc(globs, func(g string) bool { return g == "" || !doublestar.ValidatePattern(g) })
}
