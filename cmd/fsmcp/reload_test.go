//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// holdsWithin bounds the time until a change of a settings file holds.
const holdsWithin = time.Second

// rules are the permissions of a settings file.
type rules map[string]any

func deny(specs ...string) rules { return rules{"deny": specs} }

func (r rules) text() string {
	text, _ := json.MarshalIndent(map[string]any{"permissions": r}, "", "  ") // strings and lists of them
	return string(text) + "\n"
}

// soon waits until something is so, however long the machine takes, and notes how
// long that was.
func (f *fort) soon(what string, is func() bool) {
	f.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > 60*holdsWithin {
			f.t.Fatalf("%s: not after %v\nstandard error: %s", what, time.Since(began), f.stderr)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if f.took == nil {
		f.took = map[string]time.Duration{}
	}
	f.took[what] = max(f.took[what], time.Since(began))
}

// inTime plays a scene in which changes of settings have to hold soon. Where one was
// late the machine may have held it up, and not fsmcp: the scene is played again, a
// few times, until each of them was in time once. All else has to be right each time.
func inTime(t *testing.T, play func(f *fort)) {
	t.Helper()
	best := map[string]time.Duration{}
	for tries := 1; !t.Failed(); tries++ {
		f := newFort(t)
		play(f)
		f.close()
		var slowest string
		for what, took := range f.took {
			if before, ok := best[what]; !ok || took < before {
				best[what] = took
			}
			if slowest == "" || best[what] > best[slowest] {
				slowest = what
			}
		}
		if best[slowest] <= holdsWithin {
			t.Logf("the slowest change held after %v (%s)", best[slowest], slowest)
			return
		}
		if tries == 6 {
			t.Errorf("%s: only after %v, at best of %d times", slowest, best[slowest], tries)
			return
		}
	}
}

// closed and open tell what a Read of a name gets. What a file closes that was
// seen half written does not count.
func (f *fort) closed(name string) func() bool {
	return func() bool {
		res := f.call("Read", map[string]any{"file_path": f.abs(name)})
		return res.Slug == "denied" && !strings.Contains(res.Text, "Reason: broken settings file")
	}
}

func (f *fort) open(name string) func() bool {
	return func() bool { return !f.call("Read", map[string]any{"file_path": f.abs(name)}).IsError }
}

func (f *fort) want(what string, is func() bool) {
	f.t.Helper()
	if !is() {
		f.t.Errorf("%s: it is not so", what)
	}
}

// replace puts a file in place as editors do: a new file beside it, renamed
// over it.
func (f *fort) replace(name, text string) {
	f.t.Helper()
	f.put(name+".new", text)
	f.check(os.Rename(f.abs(name)+".new", f.abs(name)))
}

// A settingsFile is one that is followed, and whether the agent could have
// written it.
type settingsFile struct {
	name   string // from the workspace; ~ is the home directory
	agents bool
	words  []string // of the command line
}

func settingsFiles() []settingsFile {
	return []settingsFile{
		{name: "~/.config/fsmcp/settings.json"},
		{name: "~/.claude/settings.json"},
		{name: "~/elsewhere/claude/settings.json", words: []string{"CLAUDE_CONFIG_DIR=~/elsewhere/claude"}},
		{name: "~/mine.json", words: []string{"--settings", "~/mine.json"}},
		{name: ".fsmcp/settings.json", agents: true},
		{name: ".fsmcp/settings.local.json", agents: true},
		{name: ".claude/settings.json", agents: true},
		{name: ".claude/settings.local.json", agents: true},
	}
}

func (s settingsFile) in(f *fort) settingsFile {
	s.name = strings.Replace(s.name, "~", f.home, 1)
	s.words = slices.Clone(s.words)
	for i, w := range s.words {
		s.words[i] = strings.Replace(w, "~", f.home, 1)
	}
	return s
}

// eachFile plays a scene for each settings file that is followed.
func eachFile(t *testing.T, play func(f *fort, s settingsFile)) { eachOf(t, settingsFiles(), play) }

// eachOf plays a scene for each of some settings files, all at once: they wait more than
// they work.
func eachOf(t *testing.T, files []settingsFile, play func(f *fort, s settingsFile)) {
	t.Parallel()
	var scenes sync.WaitGroup
	for _, s := range files {
		scenes.Go(func() {
			t.Run(strings.ReplaceAll(s.name, "/", "_"), func(t *testing.T) {
				inTime(t, func(f *fort) {
					for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
						f.put(name, "x\n")
					}
					s := s.in(f)
					if len(s.words) == 2 { // a file that the command line names has to be there
						f.put(s.name, "{}")
					}
					play(f, s)
				})
			})
		})
	}
	scenes.Wait()
}

// TestDenyAddedHolds: a deny rule holds within a second, in a file that was not
// there at the start, nor its folder, however it is written, and whatever
// becomes of the folder. What it forbade opens again only where the agent
// could not have done that itself.
func TestDenyAddedHolds(t *testing.T) {
	eachFile(t, playDenyAdded)
}

func playDenyAdded(f *fort, s settingsFile) {
	f.t.Helper()
	f.serve(s.words...)
	f.want("open at the start", f.open("a.txt"))
	f.put(s.name, deny("Read(/"+f.abs("a.txt")+")").text()) // and its folder
	f.soon("a deny in a new file", f.closed("a.txt"))
	f.want("the others", f.open("b.txt"))

	f.replace(s.name, deny("Read(/"+f.abs("b.txt")+")").text())
	f.soon("a deny after a rename over the file", f.closed("b.txt"))
	f.stillOrAgain(s, "a.txt")

	f.check(os.Rename(f.abs(s.name), f.abs(s.name)+"~")) // as editors do that keep a backup
	f.put(s.name, deny("Read(/"+f.abs("c.txt")+")").text())
	f.soon("a deny in a file that took the place of one that was moved away", f.closed("c.txt"))
	f.stillOrAgain(s, "b.txt")

	f.check(os.RemoveAll(filepath.Dir(f.abs(s.name))))
	if !s.agents && len(s.words) < 2 {
		f.soon("the folder is gone, and what it forbade", f.open("c.txt"))
	}
	f.put(s.name, deny("Read(/"+f.abs("d.txt")+")").text())
	f.soon("a deny in a folder that was deleted and made again", f.closed("d.txt"))

	up := filepath.Dir(filepath.Dir(f.abs(s.name)))
	if strings.HasPrefix(up, f.home+"/") { // the folder above changes places with another
		f.check(os.Rename(up, up+"-old"))
		f.put(s.name, deny("Read(/"+f.abs("a.txt")+")").text())
		f.soon("a deny below a folder that was replaced", f.closed("a.txt"))
		f.soon("what the old one forbade", f.open("d.txt"))
	}
	f.put(s.name, deny("Read(/"+f.abs("b.txt")+")").text())
	f.soon("a deny written in place", f.closed("b.txt"))

	f.close() // a restart takes the file as it is
	f.start()
	f.want("after a restart", f.closed("b.txt"))
	for _, name := range []string{"a.txt", "c.txt", "d.txt"} {
		f.want(name+" after a restart", f.open(name))
	}
}

// TestDenyAddedWithoutAnEventHolds: a deny rule also holds if it is written through
// another hard link of the file or through a memory map, which cause no event. The last
// change leaves even the stamps as they were.
func TestDenyAddedWithoutAnEventHolds(t *testing.T) {
	eachFile(t, func(f *fort, s settingsFile) {
		text := func(name string) string { return deny("Read(/" + f.abs(name) + ")").text() }
		f.put(s.name, text("a.txt"))
		other := f.outside + "/other name"
		f.check(os.Link(f.abs(s.name), other))
		f.serve(s.words...)
		f.want("denied at the start", f.closed("a.txt"))
		f.put(other, text("b.txt"))
		f.soon("a deny written by another hard link", f.closed("b.txt"))
		f.stillOrAgain(s, "a.txt")

		file, err := os.OpenFile(other, os.O_RDWR, 0)
		f.check(err)
		defer file.Close()
		page, err := syscall.Mmap(int(file.Fd()), 0, len(text("c.txt")), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		f.check(err)
		defer syscall.Munmap(page)
		copy(page, text("c.txt"))
		f.soon("a deny written through a memory map", f.closed("c.txt"))
		f.stillOrAgain(s, "b.txt")
		before, err := file.Stat()
		f.check(err)
		copy(page, text("d.txt"))
		after, err := file.Stat()
		f.check(err)
		if before.ModTime() != after.ModTime() {
			t.Log("the second write through the map left a stamp")
		}
		f.soon("a deny written through a memory map without a stamp", f.closed("d.txt"))
		f.stillOrAgain(s, "c.txt")
	})
}

// passes waits until the change that was made last would have been followed: until a
// later one of another file is.
func (f *fort) passes() {
	f.t.Helper()
	f.put(f.home+"/.config/fsmcp/settings.json", deny("Read(passed)").text())
	f.soon("a later change of another file", f.closed("passed"))
}

// stillOrAgain returns the state of a file whose deny rule was removed by a change that
// already holds.
func (f *fort) stillOrAgain(s settingsFile, name string) {
	f.t.Helper()
	if s.agents {
		f.want("a deny that was taken away inside the workspace holds until a restart: "+name, f.closed(name))
	} else {
		f.want("a deny that was taken away is gone: "+name, f.open(name))
	}
}

// TestLooseningWaits adds allow rules, directories and a looser mode, each with
// a deny that shows when the file was read again.
func TestLooseningWaits(t *testing.T) {
	eachFile(t, func(f *fort, s settingsFile) {
		claude := strings.Contains(s.name, "claude/")
		allowed := f.put(f.outside+"/allowed.txt", "x\n")
		added := f.put(f.outside+"/dir/x.txt", "x\n")
		before := deny("Read(b.txt)")
		if !claude {
			before["defaultMode"] = "default"
		}
		f.put(s.name, before.text())
		f.serve(append([]string{"--trust-project"}, s.words...)...)
		write := func() bool {
			return !f.call("Write", map[string]any{"file_path": f.abs("new.txt"), "content": "x\n"}).IsError
		}
		f.want("denied from the start", f.closed("b.txt"))
		f.want("outside from the start", f.closed(allowed))
		if !claude {
			f.want("the mode asks for writes", func() bool { return !write() })
		}
		after := rules{"deny": []string{"Read(/" + f.abs("a.txt") + ")"}, "allow": []string{"Read(/" + allowed + ")"}, "additionalDirectories": []string{f.outside + "/dir"}}
		if !claude {
			after["defaultMode"] = "acceptEdits"
		}
		f.put(s.name, after.text())
		f.soon("the deny", f.closed("a.txt"))
		if !s.agents {
			f.want("the allow rule counts at once", f.open(allowed))
			f.want("the directory counts at once", f.open(added))
			f.want("the deny is gone at once", f.open("b.txt"))
			f.want("the mode is looser at once", write)
			return
		}
		f.want("the deny that was taken away", f.closed("b.txt"))
		f.want("the allow rule waits", f.closed(allowed))
		f.want("the directory waits", f.closed(added))
		if !claude {
			f.want("the mode waits", func() bool { return !write() })
		}
		f.check(os.Remove(f.abs(s.name)))
		f.passes()
		f.want("the file was deleted: its deny holds", f.closed("a.txt"))
		f.put(s.name, after.text())
		f.close()
		f.start()
		f.want("the allow rule after a restart", f.open(allowed))
		f.want("the directory after a restart", f.open(added))
		f.want("the deny that was taken away, after a restart", f.open("b.txt"))
		if !claude {
			f.want("a project cannot loosen the mode, but the default is as loose", write)
		}
	})
}

// TestModeTightened: a project's file may tighten the mode while the server runs.
func TestModeTightened(t *testing.T) {
	t.Parallel()
	inTime(t, func(f *fort) {
		f.serve()
		write := func() string {
			return f.call("Write", map[string]any{"file_path": f.abs("new.txt"), "content": time.Now().String()}).Slug
		}
		f.want("written at the start", func() bool { return write() == "" })
		f.put(".fsmcp/settings.json", rules{"defaultMode": "plan"}.text())
		f.soon("plan mode", func() bool { return write() == "plan_mode" })
		f.put(".fsmcp/settings.json", rules{"defaultMode": "acceptEdits", "deny": []string{"Read(seen)"}}.text())
		f.soon("the change was seen", f.closed("seen"))
		f.want("still plan mode", func() bool { return write() == "plan_mode" })
	})
}

// TestBrokenFileCloses: while a file cannot be understood, nothing is written
// and nothing outside is read, reads inside are asked for, and each answer
// names the file and the line; its last good rules hold on. A mended one opens.
func TestBrokenFileCloses(t *testing.T) {
	eachFile(t, playBroken)
}

func playBroken(f *fort, s settingsFile) {
	f.t.Helper()
	outside := f.put(f.outside+"/allowed.txt", "x\n")
	good := deny("Read(b.txt)", "Read(seen)").text()
	f.put(s.name, good)
	f.serve(append([]string{"--allow", "Read(/" + outside + ")"}, s.words...)...)
	write := func() map[string]any {
		return map[string]any{"file_path": f.abs("new.txt"), "content": time.Now().String()}
	}
	where := f.abs(s.name) + ":4" // as the broken text has it
	named := func(tool string, args map[string]any) func() bool {
		return func() bool {
			res := f.call(tool, args)
			return res.Slug == "denied" && strings.Contains(res.Text, where)
		}
	}
	broken := "{\n  \"permissions\": {\n    \"deny\": [\"Read(b.txt)\"],\n    \"ask\": [,\n  }\n}\n"
	for i, breaks := range []func(){
		func() { f.put(s.name, broken) },
		func() { f.replace(s.name, broken) },
	} {
		f.want("open before", f.open(outside))
		breaks()
		f.soon("nothing is written, and the file is named", named("Write", write()))
		f.want("nothing outside is read", named("Read", map[string]any{"file_path": outside}))
		f.want("a read inside needs consent", named("Read", map[string]any{"file_path": f.abs("a.txt")}))
		f.want("what was denied still is, and the file is named there, too", named("Read", map[string]any{"file_path": f.abs("b.txt")}))
		f.want("what was denied still is", f.closed("b.txt"))
		if res := f.call("Read", map[string]any{"file_path": f.abs("a.txt")}); !strings.Contains(res.Text, "needs the user's consent") {
			f.t.Errorf("a read inside: %s", res.Text)
		}
		mended := good
		if i == 1 {
			mended = deny("Read(c.txt)", "Read(b.txt)", "Read(seen)").text()
		}
		f.put(s.name, mended)
		f.soon("a mended file opens", f.open("a.txt"))
		f.want("writing", func() bool { return !f.call("Write", write()).IsError })
		f.want("outside", f.open(outside))
		f.want("the rules", f.closed("b.txt"))
	}
	f.want("the mended file's new rule", f.closed("c.txt"))

	// A file that breaks and then goes: of the agent's it stays broken.
	f.put(s.name, `{"permissions": {"deny": "x"}}`)
	where = f.abs(s.name) + ":1"
	f.soon("the wrong shape is broken, too", named("Write", write()))
	f.check(os.Remove(f.abs(s.name)))
	switch {
	case s.agents:
		f.passes()
		f.want("deleting it mends nothing", named("Write", write()))
	case len(s.words) == 2:
		f.soon("a file that was named has to be there", func() bool {
			res := f.call("Write", write())
			return res.Slug == "denied" && strings.Contains(res.Text, "does not exist")
		})
	default:
		f.soon("without the user's file there is nothing broken", func() bool { return !f.call("Write", write()).IsError })
		f.want("nor denied", f.open("b.txt"))
	}
}

// TestBrokenFromTheStart closes, too, and for a file that is there but cannot
// be read.
func TestBrokenFromTheStart(t *testing.T) {
	eachFile(t, func(f *fort, s settingsFile) {
		os.Remove(f.abs(s.name))
		f.check(os.MkdirAll(f.abs(s.name), 0o755)) // a folder is no settings file
		f.serve(s.words...)
		res := f.call("Write", map[string]any{"file_path": f.abs("new.txt"), "content": "x\n"})
		if res.Slug != "denied" || !strings.Contains(res.Text, f.abs(s.name)) {
			f.t.Errorf("answered %s", res.Text)
		}
		if res := f.call("Read", map[string]any{"file_path": f.abs("a.txt")}); !strings.Contains(res.Text, "needs the user's consent (Reason: broken settings file") {
			f.t.Errorf("reads inside are asked for: %s", res.Text)
		}
		f.check(os.Remove(f.abs(s.name)))
		f.put(s.name, deny("Read(b.txt)").text())
		f.soon("a mended file opens, and denies", func() bool { return f.open("a.txt")() && f.closed("b.txt")() })
	})
}

// TestLinkedSettings follows settings that are links into a folder of dotfiles.
func TestLinkedSettings(t *testing.T) {
	t.Parallel()
	inTime(t, func(f *fort) {
		f.put("a.txt", "x\n")
		f.put("b.txt", "x\n")
		one := f.put(f.home+"/dotfiles/one.json", "{}")
		two := f.put(f.home+"/dotfiles/two.json", deny("Read(b.txt)").text())
		f.link(one, f.home+"/.config/fsmcp/settings.json")
		f.serve()
		f.want("open", f.open("a.txt"))
		f.replace(one, deny("Read(a.txt)").text())
		f.soon("what the link leads to was replaced", f.closed("a.txt"))
		f.check(os.Remove(f.home + "/.config/fsmcp/settings.json"))
		f.link(two, f.home+"/.config/fsmcp/settings.json")
		f.soon("the link was laid elsewhere", f.closed("b.txt"))
		f.want("and no longer there", f.open("a.txt"))
	})
}

// TestRulesEditedByTheAgent lets the agent itself edit the rules: that is asked
// for, and what its user consents to loosens nothing before a restart, but
// tightens at once.
func TestRulesEditedByTheAgent(t *testing.T) {
	for _, revision := range bothEras {
		for _, file := range []string{".fsmcp/settings.json", ".claude/settings.local.json"} {
			t.Run(revision+strings.ReplaceAll(file, "/", "_"), func(t *testing.T) {
				t.Parallel()
				inTime(t, func(f *fort) {
					f.put(".env", canary+"\n")
					f.put("a.txt", "x\n")
					outside := f.put(f.outside+"/o.txt", canary+"\n")
					path := f.put(file, deny("Read(.env)").text())
					s := scene{revision: revision, dir: f.ws, home: f.home}
					p := s.meet(t, "--trust-project", f.ws)
					read := func(name string) map[string]any { return map[string]any{"file_path": f.abs(name)} }
					p.call("Read", read(file), false)

					write := map[string]any{"file_path": path, "content": rules{"allow": []string{"Read(/" + outside + ")"}, "deny": []string{"Read(a.txt)"}}.text()}
					p.call("Write", write, true, "declined", "protected path")
					p.wasAsked("Write " + path)
					wantFile(t, path, deny("Read(.env)").text())
					p.will("accept", "once")
					p.call("Write", write, false)
					p.wasAsked("Write " + path)
					p.will("decline", "")
					f.soon("the new deny", func() bool { return p.try("Read", read("a.txt")).slug == "denied" })
					p.questions()
					p.call("Read", read(".env"), true, "denied by your permission settings")
					p.wasAsked()
					p.call("Read", map[string]any{"file_path": outside}, true, "declined")
					p.wasAsked("Read " + outside)
				})
			})
		}
	}
}

// TestDenyWhileAsked: a deny that is added while the user decides wins over the yes. A
// later deny wins over a yes for the session. The settings file is replaced at once: a
// half-written file is broken, and the user is asked about it, too.
func TestDenyWhileAsked(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			inTime(t, func(f *fort) {
				file := f.put(f.outside+"/a.txt", canary+"\n")
				other := f.put(f.outside+"/b.txt", "free\n")
				settings := f.home + "/.config/fsmcp/settings.json"
				f.put("seen", "x\n")
				p := scene{revision: revision, dir: f.ws, home: f.home}.meet(t, f.ws)
				seen := func() bool {
					return p.try("Read", map[string]any{"file_path": f.abs("seen")}).slug == "denied"
				}
				var asked sync.WaitGroup
				asked.Add(1)
				thought := make(chan bool)
				p.says = func(context.Context, string) (*mcp.ElicitResult, error) {
					asked.Done()
					<-thought
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "session"}}, nil
				}
				done := make(chan answer)
				go func() { done <- p.try("Read", map[string]any{"file_path": file}) }()
				asked.Wait()
				f.replace(settings, deny("Read(/"+file+")", "Read(seen)").text())
				f.soon("the deny", seen)
				close(thought)
				if a := <-done; a.slug != "denied" || !strings.Contains(a.text, "denied by your permission settings") || strings.Contains(a.text, canary) {
					t.Errorf("answered %+v", a)
				}
				p.will("accept", "session")
				p.questions()
				p.call("Read", map[string]any{"file_path": other}, false, "free")
				p.call("Read", map[string]any{"file_path": other}, false)
				p.wasAsked(other)
				f.replace(settings, deny("Read(/"+other+")").text())
				f.soon("a deny beats a grant", func() bool { return p.try("Read", map[string]any{"file_path": other}).slug == "denied" })
				p.call("Read", map[string]any{"file_path": other}, true, fmt.Sprintf("Read(/%s) (%s:4)", other, settings))
			})
		})
	}
}

// TestDirectoryAddedWhileRunning brings its own rules along, which are followed
// from then on; taking it away again loosens nothing that its files forbid.
func TestDirectoryAddedWhileRunning(t *testing.T) {
	t.Parallel()
	inTime(t, func(f *fort) {
		dir := f.outside + "/lib"
		for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
			f.put(dir+"/"+name, "x\n")
		}
		f.put(dir+"/.fsmcp/settings.json", deny("Read(b.txt)").text())
		settings := f.home + "/.config/fsmcp/settings.json"
		f.serve()
		f.want("outside at the start", f.closed(dir+"/a.txt"))
		f.put(settings, rules{"additionalDirectories": []string{dir}}.text())
		f.soon("inside", f.open(dir+"/a.txt"))
		f.want("with its rules", f.closed(dir+"/b.txt"))
		f.put(dir+"/.fsmcp/settings.json", deny("Read(c.txt)").text())
		f.soon("its rules are followed", f.closed(dir+"/c.txt"))
		f.want("and loosened only by a restart", f.closed(dir+"/b.txt"))
		f.check(os.Remove(settings))
		f.soon("outside again", f.closed(dir+"/a.txt"))
	})
}

// TestFolderThatLeadsElsewhereLaterIsOutside: however a directory came into the
// workspace, a link that is laid in its place, or above it, opens nothing when
// settings are read again; a restart takes it as it is.
func TestFolderThatLeadsElsewhereLaterIsOutside(t *testing.T) {
	for _, c := range []struct {
		name  string
		words func(f *fort, dir string) []string
		moved string // the folder that becomes a link, from outside
		made  bool   // it is there at the start
	}{
		{"command line", func(_ *fort, dir string) []string { return []string{dir} }, "far/dir", true},
		{"not there at the start", func(_ *fort, dir string) []string { return []string{dir} }, "far/dir", false},
		{"a folder above", func(_ *fort, dir string) []string { return []string{dir} }, "far", true},
		{"a folder above, not there at the start", func(_ *fort, dir string) []string { return []string{dir} }, "far", false},
		{"add-dir", func(_ *fort, dir string) []string { return []string{"--add-dir", dir} }, "far/dir", true},
		{"additionalDirectories", func(f *fort, dir string) []string {
			f.put(f.home+"/.config/fsmcp/settings.json", rules{"additionalDirectories": []string{dir}}.text())
			return nil
		}, "far", true},
		{"a rule starts there", func(_ *fort, dir string) []string {
			return []string{dir, "--deny", "Read(/" + dir + "/never)", "--allow", "Read(/" + filepath.Dir(dir) + "/x)"}
		}, "far", true},
		{"CLAUDE_PROJECT_DIR", func(_ *fort, dir string) []string { return []string{"--nodir", "CLAUDE_PROJECT_DIR=" + dir} }, "far/dir", true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			dir, secret := f.outside+"/far/dir", f.put(f.home+"/secret/dir/s.txt", canary+"\n")
			if c.made {
				f.put(dir+"/a.txt", "x\n")
			}
			f.serve(c.words(f, dir)...)
			f.want("inside at the start", func() bool { return f.open(dir+"/a.txt")() == c.made })
			moved := f.outside + "/" + c.moved
			if c.made {
				f.check(os.Rename(moved, moved+"-old"))
			}
			to := f.home + "/secret"
			if c.moved == "far/dir" {
				to = filepath.Dir(secret)
			}
			f.link(to, moved)
			f.put(f.home+"/.claude/settings.json", deny("Read(/"+dir+"/x)").text())
			f.soon("settings were read again", func() bool {
				return strings.Contains(f.call("Read", map[string]any{"file_path": dir + "/x"}).Text, "denied by your permission settings")
			})
			if res := f.call("Read", map[string]any{"file_path": dir + "/s.txt"}); res.Slug != "denied" || strings.Contains(res.Text, canary) {
				t.Errorf("read by the workspace's name: %s", res.Text)
			}
			if res := f.call("Read", map[string]any{"file_path": secret}); res.Slug != "denied" {
				t.Errorf("read by its own name: %s", res.Text)
			}
			if res := f.call("Write", map[string]any{"file_path": dir + "/new.txt", "content": "x"}); res.Slug != "denied" {
				t.Errorf("written: %s", res.Text)
			}
			f.lacks(filepath.Dir(secret) + "/new.txt")
			f.want("a deny rule holds where its folder leads now", func() bool {
				res := f.call("Read", map[string]any{"file_path": filepath.Dir(secret) + "/x"})
				return strings.Contains(res.Text, "denied by your permission settings")
			})
			f.close()
			f.start()
			f.want("inside after a restart", f.open(dir+"/s.txt"))
		})
	}
}

// What settings say of pictures holds for the next call, without a restart.
func TestPictureSettingsAreFollowed(t *testing.T) {
	t.Parallel()
	media, err := companion()
	if err != nil {
		t.Fatal(err)
	}
	inTime(t, func(f *fort) {
		name := f.put("a.pdf", string(drawingsPDF(1)))
		var b bytes.Buffer
		f.check(encodeAs(&b, "png", drawn(1100, 1000, false)))
		picture := f.put("a.png", b.String())
		f.serve("FSMCP_MEDIA="+media, "XDG_CACHE_HOME="+media+"-cache")
		kinds := func(name string) string {
			res := f.call("Read", map[string]any{"file_path": name})
			if res.IsError {
				return res.Slug
			}
			var answer struct{ Content []struct{ Type string } }
			f.check(json.Unmarshal(res.Raw, &answer))
			var out []string
			for _, c := range answer.Content {
				out = append(out, c.Type)
			}
			return strings.Join(out, " ")
		}
		is := func(pdf, image string) func() bool {
			return func() bool { return kinds(name) == pdf && kinds(picture) == image }
		}
		f.want("at first", is("text text image", "text image"))
		f.replace(f.home+"/.config/fsmcp/settings.json", `{"pdf": {"images": "never"}, "images": {"maxMegapixels": 1}}`)
		f.soon("without pictures", is("text text", "too_large"))
		f.replace(f.home+"/.config/fsmcp/settings.json", `{"pdf": {"mode": "document"}, "images": {"maxMegapixels": 2}}`)
		f.soon("as a document", is("text resource", "text image"))
		f.replace(".fsmcp/settings.json", `{"pdf": {"mode": "pages"}}`)
		f.soon("as the project has it", is("text text image", "text image"))
	})
}
