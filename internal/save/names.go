package save

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// The kinds of temporary names.
const (
	kindNamed  = 'n' // only ever new content, made with a name for want of better
	kindStamp  = 's' // fingerprints of stamps
	kindDigest = 'd' // the one of the old file covers its bytes, too
)

// tempName holds the facts in the name of a temporary file.
type tempName struct {
	base     string // of the target; its beginning if it is long
	kind     byte
	id       string // random, eight letters
	new, old string // fingerprints, twelve letters each
}

const (
	tempMark = ".fsmcp-"
	idLen    = 8
	printLen = 12
	// tempBase bounds what a name takes from the target's: some file systems
	// allow no more than 143 bytes in all.
	tempBase = 90
)

func (n tempName) String() string {
	base := n.base
	if len(base) > tempBase {
		base = base[:tempBase]
		for len(base) > 0 && !utf8.ValidString(base) && utf8.ValidString(n.base) {
			base = base[:len(base)-1]
		}
	}
	return "." + base + tempMark + string(n.kind) + n.id + n.new + n.old
}

// parseTemp reads a name back; ok is false for names of other origin.
func parseTemp(name string) (n tempName, ok bool) {
	at := strings.LastIndex(name, tempMark)
	if at < 1 || name[0] != '.' {
		return n, false
	}
	n.base, name = name[1:at], name[at+len(tempMark):]
	if name == "" || strings.Trim(name[1:], nameAlphabet) != "" {
		return n, false
	}
	n.kind, name = name[0], name[1:]
	switch {
	case n.kind == kindNamed && len(name) == idLen:
		n.id = name
		return n, true
	case (n.kind == kindStamp || n.kind == kindDigest) && len(name) == idLen+2*printLen:
		n.id, n.new, n.old = name[:idLen], name[idLen:idLen+printLen], name[idLen+printLen:]
		return n, true
	}
	return n, false
}

type digest [sha256.Size]byte

// fingerprint marks one state of one file. The device is left out, its number
// may be another one after a restart.
func fingerprint(id string, s fsys.Stamp, sum *digest) string {
	b := []byte(id)
	b = binary.BigEndian.AppendUint64(b, s.Ino)
	b = binary.BigEndian.AppendUint64(b, uint64(s.Size))
	b = binary.BigEndian.AppendUint64(b, uint64(s.Mtime))
	if sum != nil {
		b = append(b, sum[:]...)
	}
	h := sha256.Sum256(b)
	return spell(h[:8])[:printLen]
}

// What is kept: NAME.fsmcp-saved, NAME.fsmcp-saved-2 ...
const (
	savedMark = ".fsmcp-saved"
	savedMax  = 1000 // names tried
	nameMax   = 255
)

func savedName(base string, n int) string {
	mark := savedMark
	if n > 1 {
		mark += "-" + strconv.Itoa(n)
	}
	return base[:min(len(base), nameMax-len(mark))] + mark
}

// nameAlphabet spells random and fingerprint bytes in names: no letter case, so
// that file systems which ignore it do no harm.
const nameAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

func spell(b []byte) string {
	return base32.NewEncoding(nameAlphabet).WithPadding(base32.NoPadding).EncodeToString(b)
}
