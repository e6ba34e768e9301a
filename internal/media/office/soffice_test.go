package office

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// templates are documents that LibreOffice brings along.
var templates = []string{
	"common/officorr/Modern_business_letter_serif.ott", "common/wizard/fax/bus-modern_f.ott", "common/wizard/agenda/aw-1simple.ott",
	"common/wizard/report/cnt-01.ott", "presnt/debian-presentation.otp",
}

// TestLikeLibreOffice compares the words of some 25 documents, in their order, with those that
// LibreOffice exports of them. It makes the documents of flat ones in testdata, of its templates
// and of those in testdata that it once wrote, each in both formats. What may differ is listed
// in written and exported. The control arm leaves one word out.
func TestLikeLibreOffice(t *testing.T) {
	if os.Getenv("FSMCP_LIBREOFFICE") == "" {
		t.Skip("a minute of LibreOffice: make faults runs it")
	}
	soffice, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("!!! NOT TESTED: the text of Office documents beside LibreOffice's: soffice is not installed (apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui) !!!")
	}
	o := &libreOffice{T: t, program: soffice, dir: t.TempDir()}
	o.make()
	o.export()
	if len(o.documents) < 20 {
		t.Fatalf("only %d documents", len(o.documents))
	}
	words := 0
	for _, path := range o.documents {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Reader{}.Read(data, media.DocumentRequest{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		d.Body = strings.Replace(d.Body, boxed[base], "", 1)
		ours, theirs := shownWords(d), o.words(path)
		if at := slices.Index(theirs, recalculated[filepath.Base(path)]); at >= 0 {
			theirs = slices.Delete(theirs, at, at+1)
		}
		words += len(ours)
		name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
		if len(theirs) == 0 {
			t.Errorf("%s: LibreOffice exported no word", name)
		}
		if at := differ(ours, theirs); at >= 0 {
			t.Errorf("%s, word %d:\nfsmcp       %q\nLibreOffice %q", name, at, around(ours, at), around(theirs, at))
		}
		if len(ours) > 0 && differ(ours[1:], theirs) < 0 {
			t.Errorf("%s: the control arm misses no word", name)
		}
	}
	t.Logf("%d words of %d documents", words, len(o.documents))
}

// libreOffice converts documents.
type libreOffice struct {
	*testing.T
	program, dir string
	documents    []string
}

func (o *libreOffice) convert(to, out string, files ...string) {
	o.Helper()
	args := append([]string{"--headless", "-env:UserInstallation=file://" + o.dir + "/profile", "--convert-to", to, "--outdir", filepath.Join(o.dir, out)}, files...)
	if said, err := exec.Command(o.program, args...).CombinedOutput(); err != nil {
		o.Fatalf("%v: %s", err, said)
	}
}

// make makes the documents: each in a folder that is named after its format.
func (o *libreOffice) make() {
	found := func(patterns ...string) (all []string) {
		for _, p := range patterns {
			some, _ := filepath.Glob(p)
			all = append(all, some...)
		}
		return all
	}
	var texts, shows []string
	real, err := filepath.EvalSymlinks(o.program)
	if err != nil {
		o.Fatal(err)
	}
	for _, name := range templates {
		path := filepath.Join(filepath.Dir(real), "..", "share", "template", name)
		if strings.HasPrefix(name, "presnt") {
			path = filepath.Join(filepath.Dir(real), "..", "share", "template", "en-US", name)
		}
		if _, err := os.Stat(path); err != nil {
			o.Logf("no %s", name)
			continue
		}
		if strings.HasSuffix(name, ".otp") {
			shows = append(shows, path)
		} else {
			texts = append(texts, path)
		}
	}
	texts, shows = append(texts, "testdata/flat/rich.fodt"), append(shows, "testdata/flat/show.fodp")
	for to, from := range map[string][]string{
		"odt": append(slices.Clone(texts), "testdata/contract.docx"), "docx": append(slices.Clone(texts), "testdata/contract.odt"),
		"ods": {"testdata/flat/sums.fods", "testdata/plan.xlsx"}, "xlsx": {"testdata/flat/sums.fods", "testdata/plan.ods"},
		"odp": append(slices.Clone(shows), "testdata/talk.pptx"), "pptx": append(slices.Clone(shows), "testdata/talk.odp"),
	} {
		o.convert(to, "made/"+to, from...)
	}
	for _, path := range found("testdata/*.docx", "testdata/*.odt", "testdata/*.xlsx", "testdata/*.ods", "testdata/*.pptx", "testdata/*.odp") {
		data, err := os.ReadFile(path)
		own := filepath.Join(o.dir, "made", filepath.Ext(path)[1:], "given-"+filepath.Base(path))
		if err := errors.Join(err, os.WriteFile(own, data, 0o666)); err != nil {
			o.Fatal(err)
		}
	}
	o.documents = found(o.dir + "/made/*/*")
}

// export has LibreOffice write what each document shows, into a folder beside it.
func (o *libreOffice) export() {
	filters := map[string]string{"odt": "txt:Text (encoded):UTF8", "docx": "txt:Text (encoded):UTF8", "odp": "fodp", "pptx": "fodp"}
	const sheets = "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,true,false,false,-1" // cells as they look
	filters["ods"], filters["xlsx"] = sheets, sheets
	for format, filter := range filters {
		var files []string
		for _, path := range o.documents {
			if filepath.Ext(path) == "."+format {
				files = append(files, path)
			}
		}
		o.convert(filter, "out/"+format, files...)
	}
}

// words are those that LibreOffice exported of a document. Its text has no notes, and the numbers
// of notes stand in it as they do in ours.
func (o *libreOffice) words(path string) (words []string) {
	rel, _ := filepath.Rel(o.dir+"/made", path)
	base := filepath.Join(o.dir, "out", strings.TrimSuffix(rel, filepath.Ext(rel)))
	for _, file := range sheetOrder(base) {
		data, err := os.ReadFile(file)
		if err != nil {
			o.Fatal(err)
		}
		text := string(data)
		switch filepath.Ext(file) {
		case ".csv":
			r := csv.NewReader(strings.NewReader(text))
			r.Comma, r.FieldsPerRecord, r.LazyQuotes = '\t', -1, true
			rows, err := r.ReadAll()
			if err != nil {
				o.Fatal(err)
			}
			text = ""
			for _, row := range rows {
				text += plainNumbers(strings.ReplaceAll(strings.Join(row, "\n"), "Err:510", "#VALUE!")) + "\n" // an error that it calculates anew
			}
		case ".fodp":
			text = slidesOf(o.T, data)
		}
		words = append(words, wordsOf(text)...)
	}
	return words
}

// sheetOrder returns the exports of a document: one, or one of each sheet in their order.
func sheetOrder(base string) []string {
	for _, ext := range []string{".txt", ".fodp"} {
		if _, err := os.Stat(base + ext); err == nil {
			return []string{base + ext}
		}
	}
	var all []string
	for _, sheet := range []string{"Plan 2026", "Rents", "Notes of 2026", "Secret"} {
		if _, err := os.Stat(base + "-" + sheet + ".csv"); err == nil {
			all = append(all, base+"-"+sheet+".csv")
		}
	}
	return all
}

// slidesOf returns the texts of the slides and notes of a flat presentation.
func slidesOf(t *testing.T, data []byte) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(data)))
	var b strings.Builder
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			for _, a := range e.Attr {
				if a.Name.Local == "class" && slices.Contains([]string{"page-number", "header", "footer", "date-time"}, a.Value) {
					name = "placeholder"
				}
			}
			if open = append(open, name); name == "p" || name == "line-break" {
				b.WriteByte('\n')
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if slices.Contains(open, "presentation") && slices.Contains(open, "p") && !slices.Contains(open, "placeholder") {
				b.Write(e)
			}
		}
	}
}

var wordPattern = regexp.MustCompile(`[\p{L}\p{N}\p{M}]+`)

func wordsOf(text string) []string { return wordPattern.FindAllString(text, -1) }

// What fsmcp shows and LibreOffice does not export: the texts of notes, headers and comments, and
// the marks of pictures. LibreOffice exports deleted and hidden text, too, and numbers endnotes in Roman figures.
var (
	ownLines    = regexp.MustCompile(`(?m)^(\[(footnote|endnote|comment) \d+\] .*|\[(header|footer)\].*|Notes:)$`)
	notExported = regexp.MustCompile(`\[(?:picture|chart|comment)[^\]]*\]`)
	noteMarks   = regexp.MustCompile(`\[footnote (\d+)\]`)
	changeMarks = regexp.MustCompile(`\[(?:deleted|inserted|hidden)[^:\]]*: ([^\]]*)\]`)
	hiddenMark  = regexp.MustCompile(`(?m)^\[hidden row\] `)
)

// boxed are the words of text boxes, which LibreOffice does not export as text.
var boxed = map[string]string{"Modern_business_letter_serif": "Put your LOGO here", "bus-modern_f": "Important!"}

// recalculated is a word that LibreOffice makes of a field without a stored value.
var recalculated = map[string]string{"bus-modern_f.docx": "0"}

// shownWords are the words of a document's text, without what LibreOffice does not export and
// without the names of cells.
func shownWords(d *media.Document) (words []string) {
	text := strings.ReplaceAll(d.Body, `\n`, "\n")
	if d.Kind != media.Spreadsheet {
		text = strings.ReplaceAll(ownLines.ReplaceAllString(text, ""), "[endnote 1]", "i")
		text = changeMarks.ReplaceAllString(notExported.ReplaceAllString(text, ""), "$1")
		return wordsOf(noteMarks.ReplaceAllString(text, "$1"))
	}
	for row := range strings.Lines(hiddenMark.ReplaceAllString(d.Body, "")) {
		for rest := strings.TrimSuffix(row, "\n"); rest != ""; {
			var value string
			_, value, rest = media.NextCell(rest)
			words = append(words, wordsOf(plainNumbers(strings.ReplaceAll(strings.ReplaceAll(value, `\n`, "\n"), "Err:510", "#VALUE!")))...)
		}
	}
	return words
}

var grouped = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+`)

// plainNumbers writes numbers without groups and zeros at their end: fsmcp shows those of an .xlsx
// by their value, but dates, times and percentages by their format.
func plainNumbers(text string) string {
	return grouped.ReplaceAllStringFunc(text, func(n string) string {
		n = strings.ReplaceAll(n, ",", "")
		if strings.Contains(n, ".") {
			n = strings.TrimSuffix(strings.TrimRight(n, "0"), ".")
		}
		return n
	})
}

// differ returns the index of the first word that differs, -1 if none does.
func differ(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// around returns some words around one.
func around(words []string, at int) []string {
	return words[min(max(at-4, 0), len(words)):min(at+8, len(words))]
}
