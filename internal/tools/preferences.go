package tools

import (
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Preferences are the user's settings for the tools. They may change between two calls.
type Preferences struct {
	// Dedup lets an unchanged re-read be answered by a stub.
	Dedup bool
	// Clipboard lets Read of "clipboard:" read the user's clipboard.
	Clipboard bool
	// GateFull has an Edit refused if not all of its file was shown; else only the text that
	// it replaces has to have been.
	GateFull bool
	// RefuseChanged has an Edit of a file that changed since it was read refused; else it is
	// made if what it replaces was shown and did not change.
	RefuseChanged bool
	// RefuseLong has a Read of more than an answer holds refused; else it shows what fits.
	RefuseLong bool
	// KeepTrailing keeps white space at the line ends of an Edit's new text in
	// every file.
	KeepTrailing bool
	// SettingsFile is the user's own, where rules can be added, as a person writes it.
	SettingsFile string
	// HintsBelow are the directories, by their real names, below which an answer
	// names what speaks to agents and was not read yet; nil: none does.
	HintsBelow []string
	// ImageTokens bounds one picture, SentSide its longer side in pixels, Bounds what
	// is decoded at all; zero values mean the usual.
	ImageTokens, SentSide int
	Bounds                media.Bounds
	// PDF returns how PDFs are shown to a client; nil means the usual.
	PDF func(client toolcall.ClientLimits) PDFStyle
}

// PDFStyle says how PDFs are shown.
type PDFStyle struct {
	// Document hands a PDF on as one if it is not too large.
	Document bool
	Pictures PagePictures
}

// PagePictures says which pages come with a picture if not all can.
type PagePictures uint8

// The choices, by their names in settings.
const (
	PicturesAuto   PagePictures = iota // "auto": those that hold more than text
	PicturesAlways                     // "always": the first ones
	PicturesNever                      // "never"
)

// pdfStyle returns how PDFs are shown to the asking client.
func (p Preferences) pdfStyle(client toolcall.ClientLimits) PDFStyle {
	if p.PDF != nil {
		return p.PDF(client)
	}
	return PDFStyle{}
}
