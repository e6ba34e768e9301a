package tools

import "github.com/fsmcp/fsmcp/internal/media"

// Preferences are what a user may set about the tools. They may change between
// two calls.
type Preferences struct {
	// Dedup lets an unchanged re-read be answered by a stub.
	Dedup bool
	// Gate says how much of a file has to be shown before an Edit.
	Gate Gate
	// ApplyChanged lets an Edit through to a file that changed since it was
	// read, where what it replaces was shown and did not change.
	ApplyChanged bool
	// KeepTrailing keeps white space at the line ends of an Edit's new text in
	// every file.
	KeepTrailing bool
	// HintsBelow are the directories, by their real names, below which an answer
	// names what speaks to agents and was not read yet; nil: none does.
	HintsBelow []string
	// ImageTokens bounds one picture, Bounds what is decoded at all; zero values
	// mean the usual.
	ImageTokens int
	Bounds      media.Bounds
	// PDF is how PDFs are shown to a client of that name; nil means the usual.
	PDF func(client string) PDFStyle
}

// PDFStyle is how PDFs are shown.
type PDFStyle struct {
	// Document hands a PDF on as one where it is not too large.
	Document bool
	Pictures PagePictures
}

// PagePictures says which pages come with a picture where not all can.
type PagePictures uint8

// The choices, by their names in settings.
const (
	PicturesAuto   PagePictures = iota // "auto": those first that hold more than text
	PicturesAlways                     // "always": the first ones
	PicturesNever                      // "never"
)

// pdfStyle is how PDFs are shown to the asking client.
func (h *House) pdfStyle(call Call) PDFStyle {
	if of := h.Preferences().PDF; of != nil {
		return of(call.Client.Name)
	}
	return PDFStyle{}
}

// Gate is how much of a file has to be shown before an Edit.
type Gate uint8

// The gates, by their names in settings.
const (
	GateAuto  Gate = iota // "auto": everything, or the matches where too much is missing for an error to show it
	GateFull              // "full": everything, where that fits one Read
	GateShown             // "shown": the matches
)

// demand is what a gate wants to have been shown.
type demand uint8

const (
	everything demand = iota
	whatFits          // everything, unless more is missing than an error can show
	matches           // nothing beyond what the caller looks at itself
)

// demanded is what an Edit of a held file has to have been shown of it.
func (h *House) demanded(c *held) demand {
	switch h.Preferences().Gate {
	case GateFull:
		if h.fitsOneRead(c) {
			return everything
		}
	case GateShown:
		return matches
	}
	return whatFits
}

// fitsOneRead tells whether a plain Read serves the whole file.
func (h *House) fitsOneRead(c *held) bool {
	if len(c.raw) > plainBytes || c.doc.Lines() > defaultLines {
		return false
	}
	page := c.doc.Page(1, defaultLines, answerBytes)
	return !page.More && h.Counter.Count(page.Body) <= h.MaxTokens
}
