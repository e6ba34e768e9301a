package office

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/officetest"
)

// written returns the text of a document with a line before each section.
func written(d *media.Document) string {
	var b strings.Builder
	at := 0
	for _, s := range d.Sections {
		if d.Kind != media.TextDocument {
			b.WriteString("== " + s.Name)
			if s.Hidden {
				b.WriteString(" hidden")
			}
			if s.HiddenColumns != "" {
				b.WriteString(" without " + s.HiddenColumns)
			}
			b.WriteString("\n")
		}
		b.WriteString(d.Body[at : at+s.Size])
		at += s.Size
	}
	return b.String()
}

const contract = `# Supply contract
Between Müller & Söhne and the buyer[footnote 1].
Due within [deleted by Bob: ninety][inserted by Ann: thirty] days.[comment 1]
1. open the lid
`

const contractEnd = `[hidden: not for the buyer]
[picture: a red square]
[footnote 1] Registered in Hamburg.
[comment 1] Cleo: Is thirty enough?
`

func TestTexts(t *testing.T) {
	for kind, want := range map[string]string{
		"docx": contract + "  a) gently\nItem | Price\nScrews\\nlong ones | 12.50\n" + contractEnd,
		"odt":  contract + "  - gently\nItem | Price\n" + contractEnd,
		"xlsx": "== Plan 2026 without C\nA1\tTask | B1\tDue\nA2\tWrite the offer | B2\t14.03.2026 | C2\t12.5 | D2\t25.00%\n[hidden row] A4\ttwo\\nlines\nC7\t=SUM(C2:C3) | D7\tTRUE\n== Secret hidden\nA1\tconfidential\n",
		"ods":  "== Plan 2026 without B\nA1\tTask | B1\t14.03.2026\n[hidden row] B4\t=SUM([.C2:.C3]) | C4\ttwo\\nlines\n== Secret hidden\nA1\tconfidential\n",
		"pptx": "== \n# Roadmap\n- Ship the reader\n  - of documents\nQ1 | done\n[picture: a red square]\nNotes:\nSay hello first.\n==  hidden\n# Budget\n",
		"odp":  "== \n# Roadmap\n- Ship the reader\n[picture: a red square]\nNotes:\nSay hello first.\n==  hidden\n# Budget\n",
	} {
		d, err := Reader{}.Read(officetest.Sample(kind), media.DocumentRequest{})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if got := written(d); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", kind, got, want)
		}
		if kind != "xlsx" && kind != "ods" {
			pictures, err := Reader{}.Pictures(officetest.Sample(kind), []string{d.Pictures[0].Part, "missing"})
			if err != nil || string(pictures[0]) != officetest.Square() || len(pictures[1]) != 0 {
				t.Errorf("%s: %v %q %v", kind, d.Pictures, pictures, err)
			}
			if line := strings.Split(d.Body, "\n")[d.Pictures[0].Line-1]; line != "[picture: a red square]" {
				t.Errorf("%s: the picture is noted at %q", kind, line)
			}
		} else if s := d.Sections[0]; s.Columns == 0 || s.Rows < 4 {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// Documents that LibreOffice 7.4 has written, in both formats of each kind.
func TestDocumentsOfLibreOffice(t *testing.T) {
	contract := contract + "  a) gently\n2. close it\nItem | Price\nScrews\\nlong ones | 12.50\nSeen\tby   all\nand signed. [hidden: Not to be shown.]\n[picture: a red square]\n" + strings.SplitAfterN(contractEnd, "\n", 3)[2]
	contract = strings.Replace(contract, "Due within", "## Payment\nThe price is due within", 1)
	contract = strings.Replace(contract, "1. open", "- first point\n  - a detail\n- second point\n1. open", 1)
	plan := "== Plan 2026\nA1\tTask | B1\tDue | C1\tHours | D1\tShare\nA2\tWrite the offer | B2\t14.03.2026 | C2\t12.5 | D2\t25.0%\nA3\ttwo\\nlines | C3\t0.1\nA7\tSum | C7\t"
	secret := "\n[hidden row] A8\thidden row text\n== Secret hidden\nA1\tconfidential\n"
	for name, want := range map[string]string{
		"contract.docx": contract, "contract.odt": contract,
		"plan.xlsx": plan + "#VALUE!" + secret, "plan.ods": plan + "Err:510" + secret,
		"talk.pptx": "== \nRoadmap\nShip the office reader\nMeasure it\n[picture]\nNotes:\nSay hello first.\n==  hidden\nBudget\none million\n",
		"talk.odp":  "== \nRoadmap\n- Ship the office reader\n- Measure it\n[picture]\nNotes:\nSay hello first.\n==  hidden\nBudget\none million\n",
	} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Reader{}.Read(data, media.DocumentRequest{})
		if err != nil || written(d) != want {
			t.Errorf("%s: %v\n%s\nwant:\n%s", name, err, written(d), want)
		}
	}
}

// What stands on a page of notes beside the placeholders is read, and the picture of a table that
// LibreOffice writes beside it is none.
func TestSlidesOfLibreOffice(t *testing.T) {
	box := `<draw:frame><draw:text-box><text:p>Greet first.</text:p></draw:text-box></draw:frame>`
	odp := officetest.OpenDocument("presentation", "", `<draw:page><draw:frame><table:table><table:table-row><table:table-cell><text:p>Month</text:p></table:table-cell></table:table-row></table:table><draw:image xlink:href="Pictures/table.svm"/></draw:frame><presentation:notes>`+box+`<draw:frame presentation:class="page-number"><draw:text-box><text:p>7</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>`)
	notes := `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:p><a:r><a:t>Greet first.</a:t></a:r></a:p></p:txBody></p:sp><p:sp><p:nvSpPr><p:nvPr><p:ph type="hdr"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>7</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:notes>`
	pptx := officetest.Pptx(officetest.Part{Name: "ppt/slides/slide1.xml", Content: `<p:sld xmlns:p="p"/>`}, officetest.Part{Name: "ppt/slides/slide2.xml", Content: `<p:sld xmlns:p="p"/>`},
		officetest.Part{Name: "ppt/slides/_rels/slide1.xml.rels", Content: officetest.Rels("notesSlide", "../notesSlides/notesSlide1.xml")}, officetest.Part{Name: "ppt/notesSlides/notesSlide1.xml", Content: notes})
	for want, data := range map[string][]byte{"== \nMonth\nNotes:\nGreet first.\n": odp, "== \nNotes:\nGreet first.\n== \n": pptx} {
		d, err := Reader{}.Read(data, media.DocumentRequest{})
		if err != nil || written(d) != want {
			t.Errorf("%v\n%s\nwant:\n%s", err, written(d), want)
		}
	}
}

func TestDatesAreWrittenByTheirFormat(t *testing.T) {
	for _, c := range []struct {
		code  string
		value string
		want  string
	}{
		{"", "0.30000000000000004", "0.3"}, {"General", "46095", "46095"}, {"", "1E+30", "1E+30"}, {"", "0.1", "0.1"}, {"", "12345678901234567890", "12345678901234600000"},
		{"yyyy-mm-dd", "46095", "2026-03-14"}, {"m/d/yy h:mm AM/PM", "46095.75", "3/14/26 6:00 PM"}, {"dddd, d. mmmm yyyy", "46095", "Saturday, 14. March 2026"},
		{"[$-407]dd.mm.yyyy;@", "46095", "14.03.2026"}, {"[h]:mm:ss", "1.5", "36:00:00"}, {"mm:ss.0", "0.000694444", "01:00.0"}, {`hh"h"mm`, "0.5", "12h00"},
		{"yyyy", "1", "1900"}, {"d.m.yyyy", "1", "1.1.1900"}, {"d.m.yyyy", "61", "1.3.1900"}, {"0.0%", "0.125", "12.5%"}, {`0.00" per day"`, "3", "3"}, {`#,##0.00 "m"`, "1234.5", "1234.5"},
		{"hh:mm:ss", "0.999999", "00:00:00"}, {"yyyy-mm-dd", "-1", "-1"}, {"yyyy-mm-dd", "1e300", "1E+300"}, {"[Red]0", "5", "5"},
		{`"TRUE";"TRUE";"FALSE"`, "1", "TRUE"}, {`"TRUE";"TRUE";"FALSE"`, "0", "FALSE"}, {`"a" 0 "b"`, "7", "7"}, {`"";"";""`, "7", "7"},
	} {
		f := numberFormats{codes: map[int]string{200: c.code}, styles: []int{200}}
		if got := f.number(c.value, 0, from1900); got != c.want {
			t.Errorf("%q of %s: %q, want %q", c.code, c.value, got, c.want)
		}
	}
	f := numberFormats{styles: []int{14}}
	if got := f.number("44633", 0, from1904); got != "2026-03-14" {
		t.Error(got)
	}
}

func TestWhatIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"another archive":   {officetest.Archive(officetest.Part{Name: "a.txt", Content: "x"}), media.ErrNotOffice},
		"a library of Java": {officetest.Archive(officetest.Part{Name: "META-INF/MANIFEST.MF", Content: "x"}), media.ErrNotOffice},
		"encrypted":         {append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), wide("EncryptedPackage")...), media.ErrLocked},
		"old":               {append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), wide("WordDocument")...), media.ErrOldOffice},
		"another container": {[]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), media.ErrNotOffice},
		"encrypted open":    {officetest.Archive(officetest.Part{Name: "mimetype", Content: "application/vnd.oasis.opendocument.text"}, officetest.Part{Name: "content.xml", Content: "x"}, officetest.Part{Name: "META-INF/manifest.xml", Content: "<manifest:encryption-data/>"}), media.ErrLocked},
	} {
		if _, err := (Reader{}).Read(c.data, media.DocumentRequest{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
