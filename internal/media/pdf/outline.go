package pdf

import (
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Bounds of what is listed of a document. An outline may be circular.
const (
	maxEntries     = 10_000 // a second, where an outline has that many
	maxChapters    = 60
	maxAttachments = 20
	maxTitle       = 200
)

// outline returns the first level of the outline, up to damage; more is the number of entries
// left out. GetBookmarks, which also tells pages, never ends on a circular outline, so it is
// called only if entries has reached the end.
func (h handle) outline() (chapters []media.Chapter, more int) {
	left := maxEntries
	titles, whole := h.entries(nil, &left)
	if whole {
		if all, err := h.in.GetBookmarks(&requests.GetBookmarks{Document: h.ref}); err == nil && len(all.Bookmarks) == len(titles) {
			for i, b := range all.Bookmarks {
				if b.DestInfo != nil && b.DestInfo.PageIndex >= 0 {
					titles[i].Page = b.DestInfo.PageIndex + 1
				}
			}
		}
	}
	chapters = titles[:min(len(titles), maxChapters)]
	return chapters, len(titles) - len(chapters)
}

// entries returns the entries below an entry, or the first level. whole reports that the
// outline below them ends.
func (h handle) entries(of *references.FPDF_BOOKMARK, left *int) (out []media.Chapter, whole bool) {
	first, err := h.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: h.ref, Bookmark: of})
	if err != nil {
		return nil, false
	}
	for at := first.Bookmark; at != nil; {
		if *left--; *left < 0 {
			return out, false
		}
		title, err := h.in.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *at})
		if err != nil {
			return out, false
		}
		out = append(out, media.Chapter{Title: head(strings.Join(strings.Fields(title.Title), " "), maxTitle)})
		if _, end := h.entries(at, left); !end {
			return out, false
		}
		next, err := h.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: h.ref, Bookmark: *at})
		if err != nil {
			return out, false
		}
		at = next.Bookmark
	}
	return out, true
}

// attachments returns the first names; more is the number of further ones.
func (h handle) attachments() (names []string, more int) {
	n, err := h.in.FPDFDoc_GetAttachmentCount(&requests.FPDFDoc_GetAttachmentCount{Document: h.ref})
	if err != nil {
		return nil, 0
	}
	for i := range min(n.AttachmentCount, maxAttachments) {
		a, err := h.in.FPDFDoc_GetAttachment(&requests.FPDFDoc_GetAttachment{Document: h.ref, Index: i})
		if err != nil {
			continue
		}
		names = append(names, h.fileName(a.Attachment)...)
	}
	return names, max(0, n.AttachmentCount-maxAttachments)
}

// fileName returns the name of an attached file in a slice, which is empty if it has none.
func (h handle) fileName(of references.FPDF_ATTACHMENT) []string {
	name, err := h.in.FPDFAttachment_GetName(&requests.FPDFAttachment_GetName{Attachment: of})
	if err != nil {
		return nil
	}
	return []string{head(name.Name, maxTitle)}
}
