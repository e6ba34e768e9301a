//go:build linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

func commandOf(o mcptest.Options) *exec.Cmd {
	cmd := exec.Command(o.Path, o.Args...)
	cmd.Dir, cmd.Env = o.Dir, o.Env
	return cmd
}

func (d *disk) put(name, text string) {
	must(d.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(d.t, os.WriteFile(name, []byte(text), 0o640))
}

// twoPages is a text of more than two pages.
func twoPages(line string) string { return strings.Repeat(line+"\n", 9000/(len(line)+1)) }

func crashScenes() []crashScene {
	file := func(d *disk) string { return d.p.file("f.txt") }
	putFile := func(d *disk) { d.put(file(d), "first\nold\n") }
	edit := func(d *disk) crashCall {
		return crashCall{tool: "Edit", args: args{"file_path": file(d), "old_string": "old", "new_string": "new and longer"}}
	}
	readFile := func(d *disk) crashCall { return crashCall{tool: "Read", args: args{"file_path": file(d)}} }
	return []crashScene{
		{name: "exchange", put: putFile, calls: func(d *disk) []crashCall { return []crashCall{readFile(d), edit(d)} }},
		{name: "rename", put: putFile, env: []string{"FAULTS_NO_EXCHANGE=1"}, calls: func(d *disk) []crashCall { return []crashCall{readFile(d), edit(d)} }},
		{name: "create", put: func(*disk) {}, calls: func(d *disk) []crashCall {
			return []crashCall{{tool: "Write", args: args{"file_path": d.p.file("d/e/new.txt"), "content": twoPages("new")}}}
		}},
		{name: "in place", settings: `{"keepHardLinks": true}`, put: func(d *disk) {
			d.put(file(d), "first\nold\n"+twoPages("the rest"))
			must(d.t, os.Link(file(d), d.p.file("g.txt")))
		}, calls: func(d *disk) []crashCall { return []crashCall{readFile(d), edit(d)} }},
		{name: "in place and shorter", settings: `{"keepHardLinks": true}`, put: func(d *disk) {
			d.put(file(d), "first\nold\n"+twoPages("the rest")+"a long end\n")
			must(d.t, os.Link(file(d), d.p.file("g.txt")))
		}, calls: func(d *disk) []crashCall {
			return []crashCall{readFile(d), {tool: "Edit", args: args{"file_path": file(d), "old_string": "first\nold\n", "new_string": "new\n"}}}
		}},
		{name: "several files", put: func(d *disk) {
			for _, name := range []string{"f.txt", "g.txt", "d/h.txt"} {
				d.put(d.p.file(name), name+" old\n")
			}
		}, calls: func(d *disk) []crashCall {
			var calls []crashCall
			var edits []args
			for _, name := range []string{"f.txt", "g.txt", "d/h.txt"} {
				calls = append(calls, crashCall{tool: "Read", args: args{"file_path": d.p.file(name)}})
				edits = append(edits, args{"file_path": d.p.file(name), "old_string": "old", "new_string": "new"})
			}
			return append(calls, crashCall{tool: "MultiEdit", args: args{"edits": edits}})
		}},
		{name: "move", put: putTree, calls: func(d *disk) []crashCall {
			return []crashCall{{tool: "Move", args: args{"moves": []args{{"from": d.p.file("a.txt"), "to": d.p.file("d/b.txt")}, {"from": d.p.file("tree"), "to": d.p.file("d/x/tree")}, {"from": d.p.file("l"), "to": d.p.file("d/m")}}}}}
		}},
		{name: "move across", put: putTree, calls: func(d *disk) []crashCall {
			return []crashCall{{tool: "Move", args: args{"moves": []args{{"from": d.p.file("a.txt"), "to": d.far("b.txt")}, {"from": d.p.file("tree"), "to": d.far("x/tree")}, {"from": d.p.file("l"), "to": d.far("m")}}}}}
		}},
		{name: "delete", deletes: true, put: putTree, calls: func(d *disk) []crashCall {
			return []crashCall{{tool: "Delete", args: args{"paths": []string{d.p.file("a.txt"), d.p.file("tree"), d.p.file("l")}, "recursive": true}}}
		}},
		{name: "restore", put: func(d *disk) {
			putFile(d)
			c := d.p.start(d.t)
			mustCall(d.t, c, "Read", readFile(d).args)
			mustCall(d.t, c, "Edit", edit(d).args)
			must(d.t, c.Close())
		}, calls: func(d *disk) []crashCall {
			return []crashCall{{command: func() []string { return []string{"history", "restore", d.p.listed(d.t)[0].ID} }}}
		}},
		{name: "client file", put: func(d *disk) {
			d.put(filepath.Join(d.p.home, ".cursor/mcp.json"), "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}\n")
		}, calls: func(*disk) []crashCall {
			return []crashCall{{command: func() []string { return []string{"config", "cursor", "--write"} }}}
		}},
		{name: "history eviction", put: func(d *disk) {
			putFullHistory(d)
			putFile(d)
			d.p.settings(d.t, `{"history": {"maxSize": "96KB"}}`)
		}, calls: func(d *disk) []crashCall {
			return []crashCall{readFile(d), edit(d)}
		}},
	}
}

// putTree makes a file, a folder with two files, and a link. The lock files are there, as they are
// after the first Move.
func putTree(d *disk) {
	d.put(d.p.file("moved/before.txt"), "before\n")
	c := d.p.start(d.t, "FSMCP_TOOLS=all")
	mustCall(d.t, c, "Move", args{"from": d.p.file("moved"), "to": d.p.file("d/moved")})
	must(d.t, c.Close())
	d.put(d.p.file("a.txt"), "the first\n")
	d.put(d.p.file("tree/b.txt"), "the second\n")
	d.put(d.p.file("tree/inner/c.txt"), "the third\n")
	must(d.t, os.Symlink("a.txt", d.p.file("l")))
}

// putFullHistory makes a history of some days ago that is larger than 96 KB, and in which one file
// has more than its part.
func putFullHistory(d *disk) {
	text := func(n int, size int) string {
		b := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(n)}).Read(b)
		return fmt.Sprintf("old %x\n", b)
	}
	for i := range 4 {
		c := d.p.start(d.t)
		mustCall(d.t, c, "Write", args{"file_path": d.p.file(fmt.Sprintf("big%d.txt", i)), "content": text(i, 12<<10)})
		for n := range 3 {
			if i+n > 0 {
				mustCall(d.t, c, "Read", args{"file_path": d.p.file("f.txt")})
			}
			mustCall(d.t, c, "Write", args{"file_path": d.p.file("f.txt"), "content": text(10+3*i+n, 4<<10)})
		}
		must(d.t, c.Close())
		all, _ := filepath.Glob(filepath.Join(d.p.home, ".local/state/fsmcp/history/*2"))
		for _, name := range all {
			must(d.t, os.Chtimes(name, time.Time{}, time.Now().Add(time.Duration(-10)*24*time.Hour)))
		}
	}
}
