//go:build linux

package faults

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/officetest"
)

// officeBombs are Office documents that are made to harm.
func officeBombs(secret string) map[string][]byte {
	const deep = 100_000
	part := func(name, content string) officetest.Part { return officetest.Part{Name: name, Content: content} }
	para := `<w:p><w:r><w:t>x</w:t></w:r></w:p>`
	entries := make([]officetest.Part, 100_000)
	for i := range entries {
		entries[i] = part(fmt.Sprintf("%d", i), "")
	}
	sheet := func(content string, more ...officetest.Part) []byte {
		return officetest.Xlsx([][2]string{{`name="S"`, content}}, more...)
	}
	word := func(begin string) []byte {
		return officetest.Archive(part("_rels/.rels", officetest.Rels("officeDocument", "word/document.xml")), part("word/document.xml", begin))
	}
	laughs := `<!DOCTYPE a [<!ENTITY l0 "lol">`
	for i := range 12 {
		laughs += fmt.Sprintf(`<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	repeated := `<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="string" table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`
	return map[string][]byte{
		"bomb.docx":      officetest.Docx(strings.Repeat(para, 200_000_000/len(para))),
		"spaces.xlsx":    sheet("<sheetData>" + strings.Repeat(" ", 200_000_000) + "</sheetData>"),
		"entries.docx":   officetest.Archive(entries...),
		"laughs.docx":    word(laughs + `]><w:document><w:body><w:p><w:r><w:t>&l12;</w:t></w:r></w:p></w:body></w:document>`),
		"external.docx":  word(`<!DOCTYPE a [<!ENTITY x SYSTEM "file://` + secret + `">]><w:document><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>`),
		"link.docx":      officetest.Docx(`<w:p><w:r><w:drawing><a:blip r:embed="rId1"/></w:drawing></w:r></w:p>`, part("word/_rels/document.xml.rels", strings.Replace(officetest.Rels("image", "file://"+secret), "/><", ` TargetMode="External"/><`, 1))),
		"deep.docx":      officetest.Docx(strings.Repeat("<w:tbl><w:tr><w:tc>", deep) + para + strings.Repeat("</w:tc></w:tr></w:tbl>", deep)),
		"unclosed.odt":   officetest.OpenDocument("text", "", strings.Repeat("<text:section>", deep)),
		"beyond.xlsx":    sheet(`<sheetData><row r="99999999999"><c r="ZZZZ99999999999"><v>1</v></c></row><row r="-5"><c r="A0"><v>1</v></c></row><row r="3"><c r="XFE3"><v>1</v></c><c r="B3"><v>2</v></c></row></sheetData>`),
		"repeated.ods":   officetest.OpenDocument("spreadsheet", "", repeated),
		"sheets.xlsx":    officetest.Xlsx(slices.Repeat([][2]string{{`name="S"`, "<sheetData/>"}}, 3_000)),
		"shared.xlsx":    sheet("<sheetData>"+strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 30_000)+"</sheetData>", part("xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("many words, ", 80_000)+"</t></si></sst>")),
		"one-text.docx":  officetest.Docx(`<w:p><w:r><w:t>` + strings.Repeat("0123456789abcdef", 500_000) + `</w:t></w:r></w:p>`),
		"circle.docx":    officetest.Docx(`<w:p><w:pPr><w:pStyle w:val="A"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`, part("word/_rels/document.xml.rels", officetest.Rels("styles", "styles.xml", "footnotes", "document.xml")), part("word/styles.xml", `<w:styles><w:style w:styleId="A"><w:basedOn w:val="A"/></w:style></w:styles>`)),
		"empty.pptx":     officetest.Pptx(),
		"tags.odp":       officetest.OpenDocument("presentation", "", "<draw:page "+strings.Repeat(`a="b" `, 400_000)+"/>"),
		"nothing.ods":    officetest.OpenDocument("spreadsheet", "", ""),
		"attributes.odt": officetest.OpenDocument("text", strings.Repeat(`<style:style style:name="x" style:family="text"><style:text-properties text:display="none"/></style:style>`, 100_000), "<text:p>x</text:p>"),
	}
}

// mutatedOffice returns a sample with bytes changed: in the archive, or in one of its parts.
func mutatedOffice(kind string, r *rand.Rand) []byte {
	sample := officetest.Sample(kind)
	spoil := func(b []byte) {
		for range 1 + r.IntN(10) {
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[at] = byte(r.Uint32())
			case 1: // pieces of XML trade places
				n := min(1+r.IntN(40), len(b)-at)
				copy(b[r.IntN(len(b)-n+1):], bytes.Clone(b[at:at+n]))
			default:
				b[at] = `<>"/&;=0123456789`[r.IntN(17)]
			}
		}
	}
	if r.IntN(3) == 0 {
		spoil(sample)
		return sample
	}
	z, err := zip.NewReader(bytes.NewReader(sample), int64(len(sample)))
	if err != nil {
		panic(err)
	}
	var parts []officetest.Part
	for _, f := range z.File {
		in, _ := f.Open()
		b, _ := io.ReadAll(in)
		parts = append(parts, officetest.Part{Name: f.Name, Content: string(b)})
	}
	p := &parts[r.IntN(len(parts))]
	b := []byte(p.Content)
	spoil(b)
	p.Content = string(b)
	return officetest.Archive(parts...)
}

// TestHostileOffice: mutated documents, bombs, circles and links: each is answered, nothing
// outside the document is read, the server stays small, and a text is read as quickly as ever.
func TestHostileOffice(t *testing.T) {
	n := count(t, "FSMCP_HOSTILE_OFFICE", 10) // of each kind
	p := newPlace(t)
	smallTexts(t, p)
	c := p.start(t, unready(t)...)
	kinds := officetest.Kinds()
	sound := func(i int, _ *rand.Rand) missile {
		kind := kinds[i%len(kinds)]
		return missile{name: "h." + kind, content: officetest.Sample(kind)}
	}
	besiege(t, c, p, 1, 1, nil, sound)
	harmless := besiege(t, c, p, len(kinds), 1, nil, sound)
	if harmless.shown != len(kinds) {
		t.Errorf("%d of %d harmless documents shown", harmless.shown, len(kinds))
	}
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("the secret"), 0o666))
	bombs := officeBombs(secret)
	names := slices.Sorted(maps.Keys(bombs))
	wrong := map[string]string{"bomb.docx": "broken_file", "spaces.xlsx": "broken_file", "entries.docx": "broken_file", "laughs.docx": "broken_file", "external.docx": "broken_file", "deep.docx": "broken_file", "unclosed.odt": "broken_file"}
	bombing := func(i int, _ *rand.Rand) missile {
		return missile{names[i], bombs[names[i]], func(res mcptest.Result) {
			if strings.Contains(res.Text, "the secret") {
				t.Errorf("%s: a file outside the document was read", names[i])
			}
			if want := wrong[names[i]]; want != "" && res.Slug != want || want == "" && res.IsError && res.Slug != "broken_file" && res.Slug != "too_many_tokens" {
				t.Errorf("%s: %d %s %s", names[i], res.Code, res.Slug, clip(res.Text))
			}
		}}
	}
	largely := func() siege { return besiege(t, c, p, len(names), 1, nil, bombing) }
	large := largely()
	mutating := func(i int, r *rand.Rand) missile {
		kind := kinds[i%len(kinds)]
		return missile{name: "h." + kind, content: mutatedOffice(kind, r)}
	}
	slightly := func() siege { return besiege(t, c, p, n*len(kinds), 1, nil, mutating) }
	small := slightly()
	large.judge(t, "bombs", harmless, largely)
	small.judge(t, "mutated", harmless, slightly)
	must(t, c.Close())
	if large.crashes+small.crashes > 0 {
		t.Errorf("%d and %d documents broke a worker", large.crashes, small.crashes)
	}
	if small.shown < n {
		t.Errorf("%d of %d mutated documents shown", small.shown, n*len(kinds))
	}
	report(t, "%d bombs, slowest %v; %d mutated documents, %d shown, slowest %v; %d and %d crashes", large.files, large.slowest, small.files, small.shown, small.slowest, large.crashes, small.crashes)
	// The control arm unpacks a bomb as a reader without bounds does.
	z, err := zip.NewReader(bytes.NewReader(bombs["bomb.docx"]), int64(len(bombs["bomb.docx"])))
	must(t, err)
	for _, f := range z.File {
		in, err := f.Open()
		must(t, err)
		if size, err := io.Copy(io.Discard, in); err == nil && size > 150_000_000 {
			report(t, "a reader without bounds unpacks %d MB from a file of %d KB", size/1e6, len(bombs["bomb.docx"])/1e3)
			return
		}
	}
	t.Error("the bomb is harmless")
}
