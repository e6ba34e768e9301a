package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// giveUp plays a task for which a server has no tool.
func giveUp(a *agent) (answer, error) {
	a.gaveUp = true
	return answer{}, nil
}

// each makes calls one after the other, until one fails.
func (a *agent) each(tool string, all []arguments) (got answer, err error) {
	for _, args := range all {
		if got, err = a.call(tool, args); err != nil || got.failed {
			a.gaveUp = true
			return got, err
		}
	}
	return got, nil
}

// moveTask files the invoices of a year into a folder that is not there yet.
func moveTask() task {
	t := task{title: "12 files of 24 are moved", files: map[string]string{}, want: map[string]string{}}
	for _, year := range []int{2024, 2025} {
		for month := 1; month <= 12; month++ {
			name, text := fmt.Sprintf("invoice-%d-%02d.txt", year, month), fmt.Sprintf("Invoice %d-%02d\nSum: %d\n", year, month, month*100)
			t.files["invoices/"+name] = text
			if year == 2025 {
				t.gone = append(t.gone, "invoices/"+name)
				name = "2025/" + name
			}
			t.want["invoices/"+name] = text
		}
	}
	t.fsmcp = func(a *agent) (answer, error) {
		return a.call("Move", arguments{"moves": []arguments{{"from": a.path("invoices/invoice-2025-*.txt"), "to": a.path("invoices/2025") + "/"}}})
	}
	t.official = func(a *agent) (answer, error) {
		if got, err := a.call("list_directory", arguments{"path": a.path("invoices")}); err != nil {
			return got, err
		}
		if got, err := a.call("create_directory", arguments{"path": a.path("invoices/2025")}); err != nil {
			return got, err
		}
		var moves []arguments
		for _, name := range t.gone {
			moves = append(moves, arguments{"source": a.path(name), "destination": a.path(strings.Replace(name, "/", "/2025/", 1))})
		}
		return a.each("move_file", moves)
	}
	return t
}

// deleteTask deletes the temporary files below a folder.
func deleteTask() task {
	t := task{title: "14 files are deleted", files: map[string]string{}, want: map[string]string{}}
	for i := range 14 {
		gone, stays := fmt.Sprintf("work/part%d/note%d.tmp", i%4, i), fmt.Sprintf("work/part%d/note%d.md", i%4, i)
		t.files[gone], t.files[stays], t.want[stays] = "draft\n", "keep\n", "keep\n"
		t.gone = append(t.gone, gone)
	}
	t.fsmcp = func(a *agent) (answer, error) {
		return a.call("Delete", arguments{"paths": []string{a.path("work/**/*.tmp")}})
	}
	t.official = giveUp
	return t
}

// linesTask changes a line in twelve files.
func linesTask() task {
	t := task{title: "A line changes in 12 files", files: map[string]string{}, want: map[string]string{}}
	const old, now = "contact = old@example.com", "contact = office@example.com"
	for i := range 12 {
		name, text := fmt.Sprintf("sites/site%02d.conf", i), fmt.Sprintf("name = site%d\nport = %d\n%s\ntimeout = 30\n", i, 8000+i, old)
		t.files[name], t.want[name] = text, strings.Replace(text, old, now, 1)
	}
	names := slices.Sorted(maps.Keys(t.files))
	t.fsmcp = func(a *agent) (answer, error) {
		if got, err := a.call("Grep", arguments{"pattern": "old@example.com", "path": a.path("sites"), "output_mode": "content"}); err != nil || got.failed {
			return got, err
		}
		var edits []arguments
		for _, name := range names {
			edits = append(edits, arguments{"file_path": a.path(name), "old_string": old, "new_string": now})
		}
		return a.each("MultiEdit", []arguments{{"edits": edits}})
	}
	t.official = func(a *agent) (answer, error) {
		if got, err := a.call("list_directory", arguments{"path": a.path("sites")}); err != nil {
			return got, err
		}
		var paths []string
		var edits []arguments
		for _, name := range names {
			paths = append(paths, a.path(name))
			edits = append(edits, arguments{"path": a.path(name), "edits": []arguments{{"oldText": old, "newText": now}}})
		}
		if got, err := a.call("read_multiple_files", arguments{"paths": paths}); err != nil {
			return got, err
		}
		return a.each("edit_file", edits)
	}
	return t
}

// contractTask finds a clause in a contract.
func contractTask() task {
	text := string(contract())
	t := task{title: "A clause in a PDF of 40 pages", file: "lease.pdf", text: text, pdf: true,
		want: map[string]string{"lease.pdf": text},
		saw: func(a answer) bool {
			return strings.Contains(a.text, "eleven weeks") && strings.Contains(a.text, "p29")
		}}
	t.fsmcp = func(a *agent) (answer, error) {
		args := arguments{"pattern": "notice period", "path": a.path(t.file), "output_mode": "content"}
		before := a.cost
		got, err := a.call("Grep", args)
		for tries := 0; tries < 30 && err == nil && strings.Contains(got.text, "same call again"); tries++ {
			a.cost = before // PDFium is still compiled for this machine, or the machine is busy
			got, err = a.call("Grep", args)
		}
		return got, err
	}
	t.official = func(a *agent) (answer, error) {
		return a.call("read_text_file", arguments{"path": a.path(t.file)})
	}
	return t
}

// contract returns a PDF of 40 pages of clauses, packed as word processors pack them.
func contract() []byte {
	const pages, first = 40, 4 // the object of the first page; its content follows each
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 595 842]>>", pages, kids.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	for i := range pages {
		var text bytes.Buffer
		text.WriteString("BT /F1 11 Tf 15 TL 72 770 Td\n")
		for line := range 45 {
			words := fmt.Sprintf("%d.%d The party shall deliver goods under this agreement within reasonable time.", i+1, line+1)
			if i == 28 && line == 17 {
				words = "29.18 The notice period for termination is eleven weeks to the end of a quarter."
			}
			fmt.Fprintf(&text, "(%s) Tj T*\n", words)
		}
		text.WriteString("ET")
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		w.Write(text.Bytes())
		w.Close()
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", first+2*i+1),
			pdftest.Stream("/Filter/FlateDecode", packed.String()))
	}
	return pdftest.File(objects...)
}
