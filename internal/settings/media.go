package settings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tailscale/hujson"
)

// Images bounds the pictures that models are shown.
type Images struct {
	Tokens   int // an eighth of the base64 of one picture
	SentSide int // pixels of the longer side of what is sent
	// A larger picture is refused before it is decoded: Megapixels of a million pixels,
	// pixels a Side, Decoded bytes.
	Megapixels, Side int
	Decoded          int64
}

// PDF says how PDFs are shown. An empty word means the default.
type PDF struct {
	Mode   string // pages or document
	Images string // auto, always or never
}

func pdfModes() []string  { return []string{"pages", "document"} }
func pdfImages() []string { return []string{"auto", "always", "never"} }

// Default bounds (docs/settings.md, "images").
const (
	defaultImageTokens = 83_334
	defaultSentSide    = 2000
	defaultMegapixels  = 100
	defaultSide        = 16_384
	defaultDecoded     = int64(512 << 20)
)

func (m *merger) images() Images {
	tokens, ok := m.env.positive("FSMCP_MAX_IMAGE_TOKENS")
	if !ok {
		tokens = bounded(m, keyImageTokens, defaultImageTokens)
	}
	return Images{
		Tokens:     tokens,
		SentSide:   bounded(m, keySentSide, defaultSentSide),
		Megapixels: bounded(m, keyMegapixels, defaultMegapixels),
		Side:       bounded(m, keyImageSide, defaultSide),
		Decoded:    bounded(m, keyImageDecoded, defaultDecoded),
	}
}

// pdf returns how PDFs are shown in general, the mode of the variable, which counts for all
// clients, and how they are shown to clients with settings of their own.
func (m *merger) pdf() (all PDF, word string, clients map[string]PDF) {
	word = m.env.word("FSMCP_PDF_MODE", pdfModes())
	all = PDF{Mode: cmp.Or(word, pick(m, keyPDFMode, "pages")), Images: pick(m, keyPDFImages, "auto")}
	clients = make(map[string]PDF)
	for _, s := range slices.Backward(settingsOf[map[string]PDF](m, keyPDFClients)) { // the nearest last
		for name, own := range s.is {
			had := clients[name]
			clients[name] = PDF{Mode: cmp.Or(own.Mode, had.Mode), Images: cmp.Or(own.Images, had.Images)}
		}
	}
	if word != "" {
		for name, own := range maps.Clone(clients) {
			own.Mode = word
			clients[name] = own
		}
	}
	return all, word, clients
}

// PDFFor returns how PDFs are shown to a client. A setting's name matches the beginning of
// the client's name, and the longest match counts. builtin, which fsmcp knows of the client,
// beats pdf, and neither pdf.clients nor the variable.
func (c Config) PDFFor(client string, builtin PDF) PDF {
	own := ofClient(c.pdfClients, clientName(client))
	return PDF{Mode: cmp.Or(own.Mode, c.pdfMode, builtin.Mode, c.PDF.Mode), Images: cmp.Or(own.Images, builtin.Images, c.PDF.Images)}
}

func takePDFClients(v hujson.Value) (any, bool) {
	return takeByClient(v, func(own *PDF, v hujson.Value) bool {
		ok := takeTexts(v, map[string]*string{"mode": &own.Mode, "images": &own.Images})
		return ok && slices.Contains(append(pdfModes(), ""), own.Mode) && slices.Contains(append(pdfImages(), ""), own.Images)
	})
}
