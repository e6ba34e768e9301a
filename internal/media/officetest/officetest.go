// Package officetest writes Office documents for tests: a sample of each kind, and archives of any
// parts. It checks nothing.
package officetest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
)

// Part is a part of an archive.
type Part struct{ Name, Content string }

// Archive returns a ZIP archive of parts. The first one is stored, the others are deflated.
func Archive(parts ...Part) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, p := range parts {
		h := &zip.FileHeader{Name: p.Name, Method: zip.Deflate}
		if i == 0 {
			h.Method = zip.Store
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(p.Content))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Kinds are the extensions of the kinds.
func Kinds() []string { return []string{"docx", "xlsx", "pptx", "odt", "ods", "odp"} }

// Sample returns a document of a kind, whose text names the kind of its parts.
func Sample(kind string) []byte {
	switch kind {
	case "docx":
		return Docx(docxBody, docxParts()...)
	case "xlsx":
		return Xlsx(xlsxSheets, xlsxParts()...)
	case "pptx":
		return Pptx(pptxParts()...)
	case "odt":
		return OpenDocument("text", odtStyles, odtBody)
	case "ods":
		return OpenDocument("spreadsheet", odsStyles, odsBody)
	case "odp":
		return OpenDocument("presentation", odpStyles, odpBody)
	}
	panic("no kind " + kind)
}

const (
	header   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	relTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// Rels returns the relationships rId1, rId2, ... of kinds and targets.
func Rels(pairs ...string) string {
	var b strings.Builder
	b.WriteString(header + `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="%s%s" Target="%s"/>`, i/2+1, relTypes, pairs[i], pairs[i+1])
	}
	return b.String() + `</Relationships>`
}

func types(parts ...string) Part {
	var b strings.Builder
	b.WriteString(header + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>`)
	for i := 0; i+1 < len(parts); i += 2 {
		fmt.Fprintf(&b, `<Override PartName="%s" ContentType="application/vnd.openxmlformats-officedocument.%s+xml"/>`, parts[i], parts[i+1])
	}
	return Part{"[Content_Types].xml", b.String() + `</Types>`}
}

const word = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`

// Docx returns a text document with this body, and with parts beside it.
func Docx(body string, more ...Part) []byte {
	return Archive(append([]Part{
		types("/word/document.xml", "wordprocessingml.document.main"),
		{"_rels/.rels", Rels("officeDocument", "word/document.xml")},
		{"word/document.xml", header + `<w:document ` + word + `><w:body>` + body + `</w:body></w:document>`},
	}, more...)...)
}

const docxBody = `<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Supply contract</w:t></w:r></w:p>` +
	`<w:p><w:r><w:t>Between Müller &amp; Söhne and the buyer</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t>.</w:t></w:r></w:p>` +
	`<w:p><w:r><w:t xml:space="preserve">Due within </w:t></w:r><w:del w:author="Bob"><w:r><w:delText>ninety</w:delText></w:r></w:del><w:ins w:author="Ann"><w:r><w:t>thirty</w:t></w:r></w:ins><w:r><w:t xml:space="preserve"> days.</w:t><w:commentReference w:id="0"/></w:r></w:p>` +
	`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>open the lid</w:t></w:r></w:p>` +
	`<w:p><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>gently</w:t></w:r></w:p>` +
	`<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Item</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Price</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>Screws</w:t></w:r></w:p><w:p><w:r><w:t>long ones</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>12.50</w:t></w:r></w:p></w:tc></w:tr></w:tbl>` +
	`<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>not for the buyer</w:t></w:r></w:p>` +
	`<w:p><w:r><w:drawing><docPr descr="a red square"/><a:blip r:embed="rId5"/></w:drawing></w:r></w:p>`

func docxParts() []Part {
	return []Part{
		{"word/_rels/document.xml.rels", Rels("styles", "styles.xml", "numbering", "numbering.xml", "footnotes", "footnotes.xml", "comments", "comments.xml", "image", "media/image1.png")},
		{"word/styles.xml", header + `<w:styles ` + word + `><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>`},
		{"word/numbering.xml", header + `<w:numbering ` + word + `><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`},
		{"word/footnotes.xml", header + `<w:footnotes ` + word + `><w:footnote w:id="2"><w:p><w:r><w:t>Registered in Hamburg.</w:t></w:r></w:p></w:footnote></w:footnotes>`},
		{"word/comments.xml", header + `<w:comments ` + word + `><w:comment w:id="0" w:author="Cleo"><w:p><w:r><w:t>Is thirty enough?</w:t></w:r></w:p></w:comment></w:comments>`},
		{"word/media/image1.png", Square()},
	}
}

// Square returns a picture, as PNG.
func Square() string {
	return "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x0a\x00\x00\x00\x0a\x08\x02\x00\x00\x00\x02\x50\x58\xea\x00\x00\x00\x12\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\x80\x07\xe1\x93\x1b\xc1\xd2\x00\xb7\xca\x63\x9d\x9f\x4d\xcb\x98\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"
}

const sheet = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// Xlsx returns a workbook with these sheets, an attribute string and the content of each, and with
// parts beside them.
func Xlsx(sheets [][2]string, more ...Part) []byte {
	var list strings.Builder
	rels := []string{"styles", "styles.xml", "sharedStrings", "sharedStrings.xml"}
	overrides := []string{"/xl/workbook.xml", "spreadsheetml.sheet.main", "/xl/styles.xml", "spreadsheetml.styles", "/xl/sharedStrings.xml", "spreadsheetml.sharedStrings"}
	var parts []Part
	for i, s := range sheets {
		fmt.Fprintf(&list, `<sheet %s sheetId="%d" r:id="rId%d"/>`, s[0], i+1, i+3)
		rels = append(rels, "worksheet", fmt.Sprintf("worksheets/sheet%d.xml", i+1))
		overrides = append(overrides, fmt.Sprintf("/xl/worksheets/sheet%d.xml", i+1), "spreadsheetml.worksheet")
		parts = append(parts, Part{fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1), header + `<worksheet ` + sheet + `>` + s[1] + `</worksheet>`})
	}
	all := []Part{
		types(overrides...),
		{"_rels/.rels", Rels("officeDocument", "xl/workbook.xml")},
		{"xl/workbook.xml", header + `<workbook ` + sheet + `><sheets>` + list.String() + `</sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", Rels(rels...)},
	}
	return Archive(append(append(all, parts...), more...)...)
}

var xlsxSheets = [][2]string{
	{`name="Plan 2026"`, `<cols><col min="3" max="3" hidden="1"/></cols><sheetData>` +
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>` +
		`<row r="2"><c r="A2" t="inlineStr"><is><t>Write the offer</t></is></c><c r="B2" s="1"><v>46095</v></c><c r="C2"><v>12.5</v></c><c r="D2" s="2"><v>0.25</v></c></row>` +
		`<row r="4" hidden="1"><c r="A4" t="str"><v>two` + "\n" + `lines</v></c></row>` +
		`<row r="7"><c r="C7"><f>SUM(C2:C3)</f></c><c r="D7" t="b"><v>1</v></c></row></sheetData>`},
	{`name="Secret" state="hidden"`, `<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>confidential</t></is></c></row></sheetData>`},
}

func xlsxParts() []Part {
	return []Part{
		{"xl/styles.xml", header + `<styleSheet ` + sheet + `><numFmts count="1"><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/></numFmts><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="10" applyNumberFormat="1"/></cellXfs></styleSheet>`},
		{"xl/sharedStrings.xml", header + `<sst ` + sheet + `><si><t>Task</t></si><si><r><t>Du</t></r><r><t>e</t></r></si></sst>`},
	}
}

const slide = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"`

// Pptx returns a presentation of two slides, slides/slide1.xml and slide2.xml among the parts.
func Pptx(more ...Part) []byte {
	return Archive(append([]Part{
		types("/ppt/presentation.xml", "presentationml.presentation.main", "/ppt/slides/slide1.xml", "presentationml.slide", "/ppt/slides/slide2.xml", "presentationml.slide"),
		{"_rels/.rels", Rels("officeDocument", "ppt/presentation.xml")},
		{"ppt/presentation.xml", header + `<p:presentation ` + slide + `><p:sldIdLst><p:sldId id="256" r:id="rId1"/><p:sldId id="257" r:id="rId2"/></p:sldIdLst></p:presentation>`},
		{"ppt/_rels/presentation.xml.rels", Rels("slide", "slides/slide1.xml", "slide", "slides/slide2.xml")},
	}, more...)...)
}

func shape(kind, text string) string {
	return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr><p:ph` + kind + `/></p:nvPr></p:nvSpPr><p:txBody>` + text + `</p:txBody></p:sp>`
}

func para(text string) string { return `<a:p><a:r><a:t>` + text + `</a:t></a:r></a:p>` }

func pptxParts() []Part {
	tree := func(root, attrs, shapes string) string {
		return header + `<p:` + root + ` ` + slide + attrs + `><p:cSld><p:spTree>` + shapes + `</p:spTree></p:cSld></p:` + root + `>`
	}
	return []Part{
		{"ppt/slides/slide1.xml", tree("sld", "", shape(` type="title"`, para("Roadmap"))+
			shape(` idx="1"`, para("Ship the reader")+`<a:p><a:pPr lvl="1"/><a:r><a:t>of documents</a:t></a:r></a:p>`)+
			`<p:graphicFrame><a:graphic><a:tbl><a:tr><a:tc><a:txBody>`+para("Q1")+`</a:txBody></a:tc><a:tc><a:txBody>`+para("done")+`</a:txBody></a:tc></a:tr></a:tbl></a:graphic></p:graphicFrame>`+
			`<p:pic><p:nvPicPr><p:cNvPr id="3" name="y" descr="a red square"/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/></p:blipFill></p:pic>`)},
		{"ppt/slides/_rels/slide1.xml.rels", Rels("notesSlide", "../notesSlides/notesSlide1.xml", "image", "../media/image1.png")},
		{"ppt/notesSlides/notesSlide1.xml", tree("notes", "", shape(` type="sldNum"`, para("1"))+shape(` type="body" idx="1"`, para("Say hello first.")))},
		{"ppt/slides/slide2.xml", tree("sld", ` show="0"`, shape(` type="title"`, para("Budget")))},
		{"ppt/media/image1.png", Square()},
	}
}

const openNames = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.3"`

// OpenDocument returns a document of a kind in the OpenDocument format, with these automatic styles
// and this body.
func OpenDocument(kind, styles, body string) []byte {
	mime := "application/vnd.oasis.opendocument." + kind
	return Archive(
		Part{"mimetype", mime},
		Part{"content.xml", header + `<office:document-content ` + openNames + `><office:automatic-styles>` + styles + `</office:automatic-styles><office:body><office:` + kind + `>` + body + `</office:` + kind + `></office:body></office:document-content>`},
		Part{"Pictures/a.png", Square()},
		Part{"META-INF/manifest.xml", header + `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + mime + `"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Pictures/a.png" manifest:media-type="image/png"/></manifest:manifest>`},
	)
}

const (
	odtStyles = `<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-bullet text:level="2" text:bullet-char="•"/></text:list-style><style:style style:name="Hid" style:family="text"><style:text-properties text:display="none"/></style:style>`
	odtBody   = `<text:tracked-changes><text:changed-region text:id="c1"><text:insertion><office:change-info><dc:creator>Ann</dc:creator></office:change-info></text:insertion></text:changed-region><text:changed-region text:id="c2"><text:deletion><office:change-info><dc:creator>Bob</dc:creator></office:change-info><text:p>ninety</text:p></text:deletion></text:changed-region></text:tracked-changes>` +
		`<text:h text:outline-level="1">Supply contract</text:h><text:p>Between Müller &amp; Söhne and the buyer<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>Registered in Hamburg.</text:p></text:note-body></text:note>.</text:p>` +
		`<text:p>Due within <text:change text:change-id="c2"/><text:change-start text:change-id="c1"/>thirty<text:change-end text:change-id="c1"/> days.<office:annotation><dc:creator>Cleo</dc:creator><text:p>Is thirty enough?</text:p></office:annotation></text:p>` +
		`<text:list text:style-name="L"><text:list-item><text:p>open the lid</text:p><text:list><text:list-item><text:p>gently</text:p></text:list-item></text:list></text:list-item></text:list>` +
		`<table:table><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row></table:table>` +
		`<text:p><text:span text:style-name="Hid">not for the buyer</text:span></text:p><text:p><draw:frame text:anchor-type="as-char"><draw:image xlink:href="Pictures/a.png"/><svg:desc>a red square</svg:desc></draw:frame></text:p>`

	odsStyles = `<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>`
	odsBody   = `<table:table table:name="Plan 2026"><table:table-column/><table:table-column table:visibility="collapse"/>` +
		`<table:table-row><table:table-cell office:value-type="string"><text:p>Task</text:p></table:table-cell><table:table-cell office:value-type="date" office:date-value="2026-03-14"><text:p>14.03.2026</text:p></table:table-cell></table:table-row>` +
		`<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>` +
		`<table:table-row table:visibility="collapse"><table:table-cell/><table:table-cell table:formula="of:=SUM([.C2:.C3])"/><table:table-cell office:value-type="string"><text:p>two</text:p><text:p>lines</text:p></table:table-cell></table:table-row></table:table>` +
		`<table:table table:name="Secret" table:style-name="ta2"><table:table-row><table:table-cell office:value-type="string"><text:p>confidential</text:p></table:table-cell></table:table-row></table:table>`

	odpStyles = `<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`
	odpBody   = `<draw:page draw:name="a"><draw:frame presentation:class="title"><draw:text-box><text:p>Roadmap</text:p></draw:text-box></draw:frame>` +
		`<draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item><text:p>Ship the reader</text:p></text:list-item></text:list></draw:text-box></draw:frame>` +
		`<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:desc>a red square</svg:desc></draw:frame>` +
		`<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>Say hello first.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>` +
		`<draw:page draw:name="b" draw:style-name="dp2"><draw:frame presentation:class="title"><draw:text-box><text:p>Budget</text:p></draw:text-box></draw:frame></draw:page>`
)
