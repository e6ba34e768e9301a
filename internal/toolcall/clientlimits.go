package toolcall

// NoPictures says that a client passes no picture on to its model. It is less than any
// number, as in settings.
const NoPictures = -1

// ClientLimits bounds the part of one answer that a client passes on to its model. A zero
// value means that no bound is known (source: the server's table by clientInfo.name, and
// settings).
type ClientLimits struct {
	Name   string // what the client calls itself
	Chars  int    // of text
	Tokens int    // of text
	Lines  int    // of text
	Errors int    // characters of an error's text
	Answer int    // characters of the whole answer, pictures in base64
	// Pictures is the most pictures of one answer, or NoPictures.
	Pictures int
	// PagesOnly: an embedded PDF does not reach the model.
	PagesOnly bool
	// PicturesLast: the model gets the text of all blocks as one, and then the pictures.
	PicturesLast bool
}

// MostPictures returns the most pictures of one answer if fsmcp sends at most n.
func (c ClientLimits) MostPictures(n int) int {
	if c.Pictures == NoPictures {
		return 0
	}
	return AtMost(n, c.Pictures)
}

// AtMost returns n, or the bound if that is less; 0 is no bound.
func AtMost(n, bound int) int {
	if bound > 0 {
		return min(n, bound)
	}
	return n
}
