package pdf

import (
	"fmt"

	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// helvetica is a font that every reader has.
const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"

// pageWith is a document of one page with such objects beside those of every
// document; the first of them is number 5. resources and page stand in
// dictionaries.
func pageWith(content, resources, page string, objects ...string) []byte {
	return pdftest.File(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<<%s>>%s>>", resources, page),
		pdftest.Stream("", content),
	}, objects...)...)
}
