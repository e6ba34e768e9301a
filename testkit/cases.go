package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// testCase is a folder of cases. The folders before, after and outside in it hold the files of
// the workspace at first, as they are if the task was done right, and what lies beside the
// workspace. Without after, and if Refuse is set, nothing may change.
type testCase struct {
	Title string `json:"title"`
	Steps []step `json:"steps"`

	Make      []made            `json:"make"`      // files that are generated
	Links     map[string]string `json:"links"`     // symbolic links and their targets
	HardLinks map[string]string `json:"hardLinks"` // further names of files
	Modes     map[string]string `json:"modes"`     // of files, if not 644

	Shows   string `json:"shows"`   // what the last answer has to show
	Picture bool   `json:"picture"` // the last answer has to show a picture
	Hides   string `json:"hides"`   // what no answer may show
	Refuse  bool   `json:"refuse"`  // the last step has to be refused
	Tries   int    `json:"tries"`   // how often it is played, until it goes wrong
	Timing  bool   `json:"timing"`  // what it costs depends on the machine

	dir    string
	number int
}

// step is one operation of the agent, or what happens beside it. Paths are relative to the
// workspace; {outside} is the folder around it.
type step struct {
	Op     string `json:"op"`
	Server int    `json:"server"` // which of several servers

	Path    string `json:"path"`
	Pattern string `json:"pattern"` // in place of path: all files that it matches
	To      string `json:"to"`      // of a move; a folder ends in /
	Old     string `json:"old"`
	New     string `json:"new"`
	Text    string `json:"text"` // {after}: the file as it is after the task
	Count   int    `json:"count"`
	Cell    string `json:"cell"`

	Steps   []step `json:"steps"`   // of "parallel": calls that are made at once
	OnError []step `json:"onError"` // what the agent does if the call fails
	Kill    bool   `json:"kill"`    // the server is killed while it works
}

// name returns the name of the case's folder, without its number.
func (c *testCase) name() string { return filepath.Base(c.dir)[4:] }

func readCases(dir string) (all []*testCase, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "case.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s: %w", dir, err)
	}
	for _, file := range files {
		c := &testCase{dir: filepath.Dir(file)}
		if err := readJSON(file, c); err != nil {
			return nil, err
		}
		if c.number, err = strconv.Atoi(filepath.Base(c.dir)[:3]); err != nil {
			return nil, fmt.Errorf("%s: its name has no number of three digits", c.dir)
		}
		all = append(all, c)
	}
	return all, nil
}

// node is a file or link.
type node struct {
	text string // its bytes, or the link's target
	mode fs.FileMode
	same string // the node is a further name of this file
}

// tree holds the files and links of an area by their names with slashes. Folders are not in it.
type tree map[string]node

// before returns the area at first.
func (c *testCase) before() (tree, error) {
	return c.area("before", func(m made) string { return m.text(m.Line) })
}

// after returns the area as it is if the task is done right.
func (c *testCase) after() (tree, error) {
	from := "after"
	if _, err := os.Stat(filepath.Join(c.dir, from)); err != nil {
		from = "before"
	}
	return c.area(from, made.after)
}

// area returns an area whose workspace is a folder of the case, with what is generated.
func (c *testCase) area(work string, text func(made) string) (tree, error) {
	t := make(tree)
	err := errors.Join(t.add(filepath.Join(c.dir, work), "work"), t.add(filepath.Join(c.dir, "outside"), ""))
	for _, m := range c.Make {
		t["work/"+m.Path] = node{text: text(m), mode: 0o644}
	}
	c.finish(t)
	return t, err
}

// finish adds the links and modes.
func (c *testCase) finish(t tree) {
	for name, target := range c.Links {
		t["work/"+name] = node{text: target, mode: fs.ModeSymlink}
	}
	for name, of := range c.HardLinks {
		t["work/"+name] = node{text: t["work/"+of].text, mode: 0o644, same: "work/" + of}
	}
	for name, octal := range c.Modes {
		n := t["work/"+name]
		mode, _ := strconv.ParseUint(octal, 8, 32)
		n.mode = fs.FileMode(mode)
		t["work/"+name] = n
	}
}

// add adds the files of a folder of a case, if it is there.
func (t tree) add(dir, under string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	found, err := readTree(dir)
	for name, n := range found {
		t[path.Join(under, name)] = node{text: n.text, mode: 0o644}
	}
	return err
}

// readTree returns what lies in a folder. A server may remove a file meanwhile: it is left out.
func readTree(dir string) (tree, error) {
	t := make(tree)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = t.read(dir, file, d)
		}
		if errors.Is(err, fs.ErrNotExist) && file != dir {
			return nil
		}
		return err
	})
	return t, err
}

// read adds a file or a link of a folder.
func (t tree) read(dir, file string, d fs.DirEntry) error {
	name, err := filepath.Rel(dir, file)
	if err != nil {
		return err
	}
	if d.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(file)
		if err == nil {
			t[filepath.ToSlash(name)] = node{text: target, mode: fs.ModeSymlink}
		}
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	info, err := d.Info()
	if err == nil {
		t[filepath.ToSlash(name)] = node{text: string(text), mode: info.Mode().Perm()}
	}
	return err
}

// write makes the files and links in a folder.
func (t tree) write(p place) error {
	for name, n := range t {
		file := filepath.Join(p.area, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		var err error
		switch {
		case n.mode&fs.ModeSymlink != 0:
			err = os.Symlink(p.fill(n.text), file)
		case n.same == "":
			if err = os.WriteFile(file, []byte(n.text), n.mode); err == nil {
				err = os.Chmod(file, n.mode) // whatever the umask is
			}
		}
		if err != nil {
			return err
		}
	}
	for name, n := range t {
		if n.same != "" {
			if err := os.Link(filepath.Join(p.area, n.same), filepath.Join(p.area, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill puts the folder around the workspace into a path of a case.
func (p place) fill(name string) string { return strings.ReplaceAll(name, "{outside}", p.area) }

// path returns the path of a step as the agent writes it: nothing in it is resolved.
func (p place) path(name string) string {
	if strings.HasPrefix(name, "{outside}") {
		return p.fill(name)
	}
	return p.work + "/" + name
}
