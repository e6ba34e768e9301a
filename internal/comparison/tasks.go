package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// script plays a task and returns the last answer.
type script func(*agent) (answer, error)

// task is one row of the table.
type task struct {
	title string
	file  string
	text  string // of the file, at first
	want  map[string]string
	mode  os.FileMode        // of the file, at first and at the end; 0: usual
	files map[string]string  // what else there is in the workspace
	gone  []string           // files that must not be there at the end
	pdf   bool               // the program that reads PDFs is needed
	extra func(string) error // makes what else there is in the workspace
	saw   func(answer) bool  // whether the last answer shows what was asked for; nil: nothing is

	fsmcp, official script
}

// setUp makes the workspace and returns its files as they are.
func (t task) setUp(dir string) (map[string]string, error) {
	mode := t.mode
	if mode == 0 {
		mode = 0o644
	}
	if t.extra != nil {
		if err := t.extra(dir); err != nil {
			return nil, err
		}
	}
	for name, text := range t.files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	if t.text == "" {
		return t.files, nil
	}
	path := filepath.Join(dir, t.file)
	if err := os.WriteFile(path, []byte(t.text), mode); err != nil {
		return nil, err
	}
	return map[string]string{t.file: t.text}, os.Chmod(path, mode)
}

// change is one edit of a file.
type change struct{ old, new string }

// editing returns the scripts of a task that changes one place: read, edit, and where
// that is refused, edit once more, by again where the text has to be another one. Between
// reading and editing the file may be changed by another program.
func (t task) editing(c, again change, foreign string) task {
	play := func(read, edit func(*agent, change) (answer, error)) script {
		return func(a *agent) (answer, error) {
			got, err := read(a, c)
			if err != nil || got.failed {
				a.gaveUp = true
				return got, err
			}
			if foreign != "" {
				if err := a.foreign(t.file, foreign); err != nil {
					return got, err
				}
			}
			got, err = edit(a, c)
			if err == nil && got.failed {
				got, err = edit(a, again)
			}
			a.gaveUp = got.failed
			return got, err
		}
	}
	t.fsmcp = play(
		func(a *agent, _ change) (answer, error) {
			return a.call("Read", arguments{"file_path": a.path(t.file)})
		},
		func(a *agent, c change) (answer, error) {
			return a.call("Edit", arguments{"file_path": a.path(t.file), "old_string": c.old, "new_string": c.new})
		})
	t.official = play(
		func(a *agent, _ change) (answer, error) {
			return a.call("read_text_file", arguments{"path": a.path(t.file)})
		}, officialEdit(t.file))
	return t
}

func officialEdit(file string) func(*agent, change) (answer, error) {
	return func(a *agent, c change) (answer, error) {
		return a.call("edit_file", arguments{"path": a.path(file), "edits": []arguments{{"oldText": c.old, "newText": c.new}}})
	}
}

// replaced returns a text with one place changed.
func replaced(text string, c change) string { return strings.Replace(text, c.old, c.new, 1) }

const (
	config  = "[web]\nport = 8080\ndebug = false\n\n[worker]\nport = 9090\ndebug = false\n"
	program = "package greet\n\n// Hello greets by name.\nfunc Hello(name string) string {\n\treturn \"Hello, \" + name\n}\n"
)

// tasks returns the rows of the table.
func tasks() []task {
	lines := numbered(40, "setting %d = off\n")
	crlf := strings.ReplaceAll(lines, "\n", "\r\n")
	on := change{"setting 20 = off", "setting 20 = on"}
	hello := change{`"Hello, " + name`, `"Good day, " + name`}
	outside := strings.Replace(program, "greets by name", "greets politely", 1)
	table := "\ufeffname,amount\nsalt,3\nsugar,4\n"
	script := "#!/bin/sh\nset -e\necho building\n"
	note := "# Notes\n\nfirst\nlast"
	header, debug := change{"name,amount", "name,grams"}, change{"debug = false", "debug = true"}
	build, last := change{"echo building", "make all"}, change{"last", "the last"}

	all := []task{
		task{title: "One of two equal lines", file: "app.ini", text: config,
			want: map[string]string{"app.ini": strings.Replace(config, "9090\ndebug = false", "9090\ndebug = true", 1)}}.
			editing(debug, change{"port = 9090\ndebug = false", "port = 9090\ndebug = true"}, ""),
		task{title: "A file with CRLF", file: "dos.ini", text: crlf,
			want: map[string]string{"dos.ini": replaced(crlf, on)}}.editing(on, on, ""),
		task{title: "A byte order mark", file: "table.csv", text: table,
			want: map[string]string{"table.csv": replaced(table, header)}}.editing(header, header, ""),
		task{title: "A file in UTF-16", file: "wide.ini", text: wide(crlf),
			want: map[string]string{"wide.ini": wide(replaced(crlf, on))}}.editing(on, on, ""),
		task{title: "Changed outside, then edited", file: "greet.go", text: program,
			want: map[string]string{"greet.go": replaced(outside, hello)}}.editing(hello, hello, outside),
		logTask(),
		notebookTask(),
		pictureTask(),
		linkTask(),
		bothTask(lines),
		task{title: "A script keeps its mode", file: "build.sh", text: script, mode: 0o750,
			want: map[string]string{"build.sh": replaced(script, build)}}.editing(build, build, ""),
		task{title: "No final newline", file: "notes.md", text: note,
			want: map[string]string{"notes.md": replaced(note, last)}}.editing(last, last, ""),
		moveTask(),
		deleteTask(),
		linesTask(),
		contractTask(),
	}
	return all
}

// numbered returns count lines of a format with their numbers.
func numbered(count int, format string) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// wide returns a text in UTF-16, little-endian, with a byte order mark.
func wide(text string) string {
	var b bytes.Buffer
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

// logTask asks for the last line of a log.
func logTask() task {
	const format = "2026-11-21T10:20:30Z worker %07d finished its job without an error\n"
	text := numbered(10<<20/len(fmt.Sprintf(format, 1)), format)
	rows := strings.Count(text, "\n")
	t := task{title: "The last line of a log of 10 MB", file: "worker.log", text: text, want: map[string]string{"worker.log": text},
		saw: func(a answer) bool { return strings.Contains(a.text, fmt.Sprintf("worker %07d ", rows)) }}
	t.fsmcp = func(a *agent) (answer, error) {
		return a.call("Read", arguments{"file_path": a.path(t.file), "offset": -10})
	}
	t.official = func(a *agent) (answer, error) {
		return a.call("read_text_file", arguments{"path": a.path(t.file), "tail": 10})
	}
	return t
}

// notebookTask changes a cell beside one with a picture.
func notebookTask() task {
	text := strings.ReplaceAll(`{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "rate",
   "metadata": {},
   "outputs": [],
   "source": [
    "rate = 5e-2"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 2,
   "id": "plot",
   "metadata": {},
   "outputs": [
    {
     "data": {
      "image/png": "PICTURE"
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": [
    "plot(rate)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`, "PICTURE", base64.StdEncoding.EncodeToString(picture(160, 100)))
	c := change{"rate = 5e-2", "rate = 4e-2"}
	t := task{title: "A notebook's cell", file: "growth.ipynb", text: text,
		want: map[string]string{"growth.ipynb": replaced(text, c)}}.editing(c, c, "")
	t.fsmcp = func(a *agent) (answer, error) {
		if got, err := a.call("Read", arguments{"file_path": a.path(t.file)}); err != nil || got.failed {
			return got, err
		}
		got, err := a.call("NotebookEdit", arguments{"notebook_path": a.path(t.file), "cell_id": "rate", "new_source": c.new})
		a.gaveUp = got.failed
		return got, err
	}
	return t
}

// pictureTask looks at a picture that is larger than models are shown.
func pictureTask() task {
	text := string(picture(2400, 1600))
	t := task{title: "A picture of 2400 x 1600 pixels", file: "screen.png", text: text, want: map[string]string{"screen.png": text},
		saw: func(a answer) bool { return a.pictures > 0 }}
	t.fsmcp = func(a *agent) (answer, error) { return a.call("Read", arguments{"file_path": a.path(t.file)}) }
	t.official = func(a *agent) (answer, error) {
		return a.call("read_media_file", arguments{"path": a.path(t.file)})
	}
	return t
}

// picture returns a PNG of grey noise in blocks, the same on every machine.
func picture(width, height int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += 2 {
		for x := 0; x < width; x += 2 {
			shade := color.Gray{uint8(random.IntN(64)) + 128}
			for i := range 4 {
				img.SetGray(x+i%2, y+i/2, shade)
			}
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer takes everything
	return b.Bytes()
}

// linkTask follows a link that leads out of the workspace.
func linkTask() task {
	t := task{title: "A link that leads out", file: "link",
		extra: func(dir string) error {
			secret := filepath.Join(filepath.Dir(dir), "secret.txt")
			if err := os.WriteFile(secret, []byte("the secret\n"), 0o600); err != nil {
				return err
			}
			return os.Symlink(secret, filepath.Join(dir, "link"))
		},
		saw: func(a answer) bool { return a.failed && !strings.Contains(a.text, "the secret") }}
	t.fsmcp = func(a *agent) (answer, error) { return a.call("Read", arguments{"file_path": a.path(t.file)}) }
	t.official = func(a *agent) (answer, error) {
		return a.call("read_text_file", arguments{"path": a.path(t.file)})
	}
	return t
}

// bothTask makes two edits of one file in one turn, as models do.
func bothTask(lines string) task {
	first, second := change{"setting 10 = off", "setting 10 = on"}, change{"setting 30 = off", "setting 30 = on"}
	t := task{title: "Two edits at once", file: "app.conf", text: lines,
		want: map[string]string{"app.conf": replaced(replaced(lines, first), second)}}
	both := func(read string, key string, edit func(a *agent, c change) (string, arguments)) script {
		return func(a *agent) (answer, error) {
			if got, err := a.call(read, arguments{key: a.path(t.file)}); err != nil || got.failed {
				return got, err
			}
			tool, args := edit(a, first)
			one, err := a.send(tool, args)
			if err != nil {
				return answer{}, err
			}
			tool, args = edit(a, second)
			two, err := a.send(tool, args)
			if err != nil {
				return answer{}, err
			}
			got, err := a.receive(one)
			if err != nil || got.failed {
				return got, err
			}
			return a.receive(two)
		}
	}
	t.fsmcp = both("Read", "file_path", func(a *agent, c change) (string, arguments) {
		return "Edit", arguments{"file_path": a.path(t.file), "old_string": c.old, "new_string": c.new}
	})
	t.official = both("read_text_file", "path", func(a *agent, c change) (string, arguments) {
		return "edit_file", arguments{"path": a.path(t.file), "edits": []arguments{{"oldText": c.old, "newText": c.new}}}
	})
	return t
}
