package settings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// drawSettings draws the text of a settings file; withComments says that it may have comments.
func drawSettings(r *rand.Rand, withComments bool) string {
	blank := func() string {
		if withComments && r.IntN(3) == 0 {
			return []string{" // {}\n", " /* {} */", "\n// x\n"}[r.IntN(3)]
		}
		return []string{"", " ", "\n"}[r.IntN(3)]
	}
	list := func() string {
		var out []string
		for _, rule := range []string{"Read(a)", "Edit(b)", "Read(//c/**)"} {
			if r.IntN(2) == 0 {
				out = append(out, blank()+fmt.Sprintf("%q", rule))
			}
		}
		return "[" + strings.Join(out, ",") + blank() + "]"
	}
	members := []string{`"deny":` + list(), `"ask":` + list(), `"allow":` + list(), `"additionalDirectories": ["/more"]`}
	if r.IntN(2) == 0 {
		members = append(members, fmt.Sprintf(`"defaultMode": %q`, []string{"bypassPermissions", "acceptEdits", "default", "dontAsk", "plan"}[r.IntN(5)]))
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return blank() + "{" + blank() + `"permissions":` + blank() + "{" + strings.Join(members[:1+r.IntN(len(members))], ","+blank()) + "}" + blank() + "}" + blank()
}

// Each part of a settings file that is written over another one leaves what was denied or asked
// about, and allows nothing more; outside the workspace, where a change waits for no restart, the
// whole file then holds as if it had come at once. Control:
// without the beginning of the file as it was, something is lost.
func TestHalfWrittenFilesAllowNothingMore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 63))
	lost := 0
	for range shortrun.Count(t, 60, 20, "files") {
		file := []string{claude, project, userClaude, userOwn, settingsFile, managed}[r.IntN(6)]
		comments := !strings.Contains(strings.ToLower(file), "claude")
		before, after := drawSettings(r, comments), drawSettings(r, comments)
		files := map[string]string{settingsFile: "{}"}
		files[file] = before
		s := with(env(nil), files)
		start := func() Config { return first2(New(Flags{Settings: settingsFile, TrustProject: new(true)}, s, 1000)) }
		held := start()
		files[file] = after
		want, _ := held.Reload([]string{file})
		for size := range len(after) {
			files[file] = after[:size]
			if strings.TrimSpace(after[size:]) == "" || Parse(SettingsFile{Name: file}, []byte(after[:size])).Broken == nil && strings.Contains(after[:size], "}") {
				break // it is all of the settings
			}
			half, _ := held.Reload([]string{file})
			wider := func(now Config) bool {
				more := slices.ContainsFunc(now.Workspace, func(dir string) bool { return !slices.Contains(held.Workspace, dir) })
				return more || rank(now.Mode) < rank(held.Mode) ||
					lacking(rulesIn(held.Rules, perm.Deny), now.Rules)+lacking(rulesIn(held.Rules, perm.Ask), now.Rules)+lacking(rulesIn(now.Rules, perm.Allow), held.Rules) > 0
			}
			if wider(half) {
				t.Fatalf("%s: %s became %s by %q", file, summary(held), summary(half), files[file])
			}
			if wider(start()) {
				lost++
			}
			files[file] = after
			if whole, _ := half.Reload([]string{file}); file != claude && file != project && summary(whole) != summary(want) {
				t.Fatalf("%s: %q behind %q: %s, want %s", file, after, after[:size], summary(whole), summary(want))
			}
		}
	}
	if t.Logf("control: %d are wider", lost); lost < 100 {
		t.Error("the comparison does not see what is lost")
	}
}
