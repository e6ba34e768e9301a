package perm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/notation"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

var windowsVariables = map[string]string{
	"USERPROFILE": `C:\Users\u`, "APPDATA": `C:\Users\u\AppData\Roaming`,
	"LOCALAPPDATA": `C:\Users\u\AppData\Local`, "PROGRAMDATA": `C:\ProgramData`,
}

// windowsConfig is a session in C:\Users\u\proj.
func windowsConfig(rules ...RuleText) Config {
	return Config{
		Workspace: []Dir{{Name: `C:\Users\u\proj`}}, Home: `C:\Users\u`, Windows: true, Rules: rules,
		Getenv: func(name string) string { return windowsVariables[name] },
	}
}

// spellings are the ways in which people write a pattern below a folder, with that folder in
// the form of the matchers. anchor is the folder of "/path" rules.
func windowsSpellings(below string, deny bool) (absolute string, all []string) {
	back := func(s string) string { return strings.ReplaceAll(s, "/", `\`) }
	absolute = "//C:/" + below
	drive := "C:/" + below
	all = []string{drive, back(drive), "c" + drive[1:], strings.ReplaceAll(back(drive), `\`, `\\`), "//c/" + below, `\\?\` + back(drive), `\\.\` + back(drive), "/" + drive, "//c:/" + below}
	if deny {
		all = append(all, "/c/"+below, `\c\`+back(below), "/mnt/c/"+below, "/cygdrive/c/"+below)
	}
	for name, dir := range windowsVariables {
		if rest, ok := strings.CutPrefix(drive, strings.ReplaceAll(dir, `\`, "/")+"/"); ok {
			all = append(all, "%"+name+"%/"+rest, back("%"+name+"%/"+rest), "%"+strings.ToLower(name)+`%\`+rest)
			if name == "USERPROFILE" {
				all = append(all, "~/"+rest, back("~/"+rest), "$env:USERPROFILE/"+rest, back("$env:USERPROFILE/"+rest))
			}
		}
	}
	return absolute, all
}

// Each spelling of a rule decides on each name as the spelling with "//C:/" does, in every
// list and source.
func TestWindowsSpellings(t *testing.T) {
	tops := []string{"Users/u/proj/", "Users/u/proj/sub/", "Users/u/", "Users/u/AppData/Roaming/", "Users/u/AppData/Local/x/", "ProgramData/", "proj/"}
	tails := []string{"secrets/**", "secrets", "secrets/", "*.pem", ".env", "**/.env", "a?b/**", "[sx]ecrets/*", "[[]2024] Reports/**", "Straße/*", "x y/*.t"}
	below := []string{"secrets/k", "Secrets/a/b", "secrets", "x.pem", "a/x.pem", ".env", "a/.ENV", "axb/c", "xecrets/k", "[2024] Reports/a", "2 Reports/a", "STRASSE/x", "x y/z.t", "other"}
	sources := []Source{flagSource, ownUser, claudeUser, {Level: Env, Name: "FSMCP_DENY"}}
	rng := rand.New(rand.NewPCG(25, 1))
	compared, denied := 0, 0
	for range shortrun.Count(t, 120, 40, "rules") {
		top, tail := tops[rng.IntN(len(tops))], tails[rng.IntN(len(tails))]
		list, tool := List(rng.IntN(3)), []string{"Read", "Edit"}[rng.IntN(2)]
		src := sources[rng.IntN(len(sources))]
		absolute, all := windowsSpellings(top+tail, list != Allow)
		want, _ := Compile(windowsConfig(rule(list, tool+"("+absolute+")", src)))
		if len(want.InForce()) != 1 {
			t.Fatalf("%s is not in force", absolute)
		}
		for _, spec := range all {
			r := rule(list, tool+"("+spec+")", src)
			got, ws := Compile(windowsConfig(r))
			if why := Fault(r, windowsNotation()); why != "" {
				t.Fatalf("%s: %s", r.Text, why)
			}
			for _, w := range ws {
				t.Errorf("%s: a warning: %s", r.Text, w)
			}
			for _, from := range append(tops, "Users/c/") {
				for _, rest := range below {
					name := `C:\` + strings.ReplaceAll(from+rest, "/", `\`)
					for _, op := range []Op{Read, Write} {
						a, b := want.Decide(op, []string{name}, nil), got.Decide(op, []string{name}, nil)
						compared++
						if a.Verdict == Deny {
							denied++
						}
						if a.Verdict != b.Verdict || a.Reason != b.Reason {
							t.Fatalf("%s %s of %s: %v (%s), but as %s %v (%s)", list, r.Text, name, b.Verdict, b.Reason, absolute, a.Verdict, a.Reason)
						}
					}
				}
			}
		}
	}
	if denied == 0 || denied == compared {
		t.Errorf("%d of %d decisions are denials", denied, compared)
	}
	t.Logf("%d decisions compared, %d of them denials", compared, denied)
}

func windowsNotation() notation.Convention {
	c := windowsConfig()
	return c.notation()
}

// A relative rule with backslashes decides as the one with slashes.
func TestWindowsRelative(t *testing.T) {
	names := []string{`C:\Users\u\proj\secrets\k`, `C:\Users\u\proj\a\secrets\k`, `C:\Users\u\proj\secrets`, `C:\Users\u\.claude\secrets\k`, `C:\x\secrets\k`, `C:\Users\u\proj\c\x\k`}
	for _, spec := range []string{"secrets/**", "./secrets/**", "/secrets/**", "secrets/*", "a/secrets/", "**/secrets/**"} {
		for _, list := range []List{Deny, Ask, Allow} {
			for _, src := range []Source{flagSource, claudeUser} {
				a, _ := Compile(windowsConfig(rule(list, "Edit("+spec+")", src)))
				back := rule(list, "Edit("+strings.ReplaceAll(spec, "/", `\`)+")", src)
				b, ws := Compile(windowsConfig(back))
				for _, w := range ws {
					t.Errorf("%s: %s", back.Text, w)
				}
				for _, name := range names {
					if x, y := a.Decide(Edit, []string{name}, nil), b.Decide(Edit, []string{name}, nil); x.Verdict != y.Verdict {
						t.Errorf("%s %s of %s: %v, with slashes %v", list, back.Text, name, y.Verdict, x.Verdict)
					}
				}
			}
		}
	}
}

// In deny "/c/x" is the drive and the anchored folder, in allow the folder alone.
func TestWindowsBothReadings(t *testing.T) {
	for list, want := range map[List][2]Verdict{Deny: {Deny, Deny}, Ask: {Ask, Ask}, Allow: {Ask, Allow}} {
		c := windowsConfig(rule(list, "Edit(/c/x/**)", flagSource))
		c.Mode = Default
		p, _ := Compile(c)
		got := [2]Verdict{p.Decide(Edit, []string{`C:\x\k`}, nil).Verdict, p.Decide(Edit, []string{`C:\Users\u\proj\c\x\k`}, nil).Verdict}
		if got != want {
			t.Errorf("%s: %v, want %v", list, got, want)
		}
	}
}

// A rule that cannot be understood closes in every source, and is never silent.
func TestWindowsFaults(t *testing.T) {
	for _, spec := range []string{`\\server\share\**`, "//server/share/**", `%TEMP%\x`, `$env:APPDATA\x`, `$HOME\x`, "C:x", `\\.\pipe\x`} {
		for _, src := range []Source{flagSource, ownUser, claudeUser} {
			r := rule(Deny, "Read("+spec+")", src)
			if why := Fault(r, windowsNotation()); !strings.Contains(why, `"Read(`+spec+`)"`) {
				t.Errorf("%s: %q", r.Text, why)
			}
			r.List = Allow
			p, ws := Compile(windowsConfig(r))
			if len(ws) != 1 || !strings.Contains(ws[0].String(), `"Read(`+spec+`)"`) || len(p.InForce()) > 0 {
				t.Errorf("%s: %v", r.Text, ws)
			}
		}
	}
	if got := Fault(rule(Deny, `Read($HOME\.ssh\**)`, ownUser), windowsNotation()); !strings.HasSuffix(got, `did you mean "Read(~/.ssh/**)"?`) {
		t.Errorf("%s", got)
	}
}

// What is understood and may be meant otherwise is warned of, also on Linux.
func TestDriveWarnings(t *testing.T) {
	for text, want := range map[string]string{
		`Read(x\[2024\]\a)`: string(notation.Escape), "Read(//etc/**)": string(notation.UnixTop), "Read(x/a:b)": string(notation.Colon),
	} {
		if _, ws := Compile(windowsConfig(rule(Deny, text, flagSource))); len(ws) != 1 || !strings.Contains(ws[0].String(), want) {
			t.Errorf("%s: %v", text, ws)
		}
	}
	for _, wsl := range []bool{false, true} {
		for _, spec := range []string{`C:\proj\secrets\**`, "c:/proj/secrets/**", "//C:/proj/secrets/**"} {
			c := Config{Workspace: []Dir{{Name: "/mnt/c/proj"}}, CaseSensitive: true, Rules: []RuleText{rule(Deny, "Read("+spec+")", flagSource)}, WSL: func() bool { return wsl }}
			p, ws := Compile(c)
			if len(ws) != 1 || !strings.Contains(ws[0].String(), string(notation.NoDrives)) {
				t.Errorf("%s: %v", spec, ws)
			}
			if got := p.Decide(Read, []string{"/mnt/c/proj/secrets/k"}, nil).Verdict == Deny; got != wsl {
				t.Errorf("%s on WSL (%v): denied is %v", spec, wsl, got)
			}
		}
	}
}

// The rule to paste allows exactly its file.
func TestWindowsPasteLines(t *testing.T) {
	for _, name := range []string{`D:\a\b.txt`, `D:\a[1]\[b`, `D:\%FOO%\$HOME\x`, `D:\${a}\100%`, `D:\{a,b}\x`} {
		c := windowsConfig()
		p, _ := Compile(c)
		line := p.Decide(Edit, []string{name}, nil).PasteLine
		for _, src := range []Source{flagSource, ownUser} {
			p, ws := Compile(windowsConfig(rule(Allow, line, src)))
			if d := p.Decide(Edit, []string{name}, nil); d.Verdict != Allow {
				t.Errorf("%s does not allow %s: %v", line, name, ws)
			}
			if d := p.Decide(Edit, []string{name + "x"}, nil); d.Verdict == Allow {
				t.Errorf("%s allows %sx", line, name)
			}
		}
	}
}

// Directories to resolve are named as the system names them.
func TestWindowsAnchors(t *testing.T) {
	c := windowsConfig(rule(Deny, "Read(//C:/secrets/x/*.pem)", flagSource), rule(Deny, "Read(~/.ssh/**)", flagSource), rule(Deny, "Read(//D:/*.pem)", flagSource))
	for _, dir := range Anchors(c) {
		if len(dir) < 3 || dir[1:3] != `:\` || strings.Contains(dir, "/") {
			t.Errorf("%q", dir)
		}
	}
	if got := fmt.Sprint(Anchors(c)); !strings.Contains(got, `C:\secrets\x`) {
		t.Error(got)
	}
}
