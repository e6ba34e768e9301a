package pdf

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// cut returns a PDF of some pages, and the document itself if these are all of them; nil: it
// cannot be cut.
func (d *document) cut(pages []int, count int) []byte {
	if len(pages) >= count && !d.encrypted() { // the client may be unable to open a locked one
		return d.data
	}
	var words []string
	for _, p := range pages {
		words = append(words, strconv.Itoa(p))
	}
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationRelaxed
	var out bytes.Buffer
	if trim(&out, d.data, words, conf) != nil {
		return nil
	}
	return out.Bytes()
}

// encrypted reports whether a document is encrypted; it may open without a password.
func (h handle) encrypted() bool {
	r, err := h.in.FPDF_GetSecurityHandlerRevision(&requests.FPDF_GetSecurityHandlerRevision{Document: h.ref})
	return err == nil && r.SecurityHandlerRevision >= 0
}

// trim cuts by pdfcpu, which panics on some files.
func trim(out *bytes.Buffer, data []byte, pages []string, conf *model.Configuration) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return api.Trim(bytes.NewReader(data), out, pages, conf)
}
