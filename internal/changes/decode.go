package changes

import (
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Decode decodes what another program made of a text in enc. Too little may be left to
// know a charset by, so enc is tried first. But most charsets find words in any bytes:
// where the text is UTF-8 by now, an edit that kept the old charset would mix two in
// one file.
func Decode(raw []byte, enc text.Encoding) (*text.Doc, error) {
	is, err := text.Decode(raw)
	if err == nil && is.Enc.IsUTF8() && is.Strays == 0 && !span.IsASCII(raw) {
		return is, nil
	}
	if as, err := text.DecodeAs(raw, enc); err == nil {
		return as, nil
	}
	return is, err
}
