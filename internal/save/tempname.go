package save

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// The kinds of temporary names.
const (
	newOnly  = 'n' // only ever new content, made with a name for want of better
	byStamp  = 's' // fingerprints of stamps
	byDigest = 'd' // the one of the old file covers its bytes, too
)

// tempName holds the facts in the name of a temporary file: what the file may hold. So
// another process can judge the file after its maker died, without further facts.
type tempName struct {
	Base     string // of the target; its beginning if it is long
	Kind     byte
	ID       string // random, eight letters
	New, Old string // fingerprints, twelve letters each
}

const (
	tempMark = ".fsmcp-"
	idLen    = 8
	printLen = 12
	// baseMax bounds what a name takes from the target's: some file systems
	// allow no more than 143 bytes in all.
	baseMax = 90
)

// String returns the file name.
func (n tempName) String() string {
	base := n.Base
	if len(base) > baseMax {
		base = base[:baseMax]
		for len(base) > 0 && !utf8.ValidString(base) && utf8.ValidString(n.Base) {
			base = base[:len(base)-1]
		}
	}
	return "." + base + tempMark + string(n.Kind) + n.ID + n.New + n.Old
}

// parseTempName reads a name back; ok is false for names of other origin.
func parseTempName(name string) (n tempName, ok bool) {
	at := strings.LastIndex(name, tempMark)
	if at < 1 || name[0] != '.' {
		return n, false
	}
	n.Base, name = name[1:at], name[at+len(tempMark):]
	if name == "" || strings.Trim(name[1:], nameAlphabet) != "" {
		return n, false
	}
	n.Kind, name = name[0], name[1:]
	switch {
	case n.Kind == newOnly && len(name) == idLen:
		n.ID = name
		return n, true
	case (n.Kind == byStamp || n.Kind == byDigest) && len(name) == idLen+2*printLen:
		n.ID, n.New, n.Old = name[:idLen], name[idLen:idLen+printLen], name[idLen+printLen:]
		return n, true
	}
	return n, false
}

// fingerprint marks one state of one file. The device is left out, its number
// may be another one after a restart.
func fingerprint(id string, s fsys.Stamp, sum *sys.Digest) string {
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

const (
	savedMark = ".fsmcp-saved"
	nameMax   = 255
	// savedMax bounds the names tried for one file that is kept.
	savedMax = 1000
)

// savedName returns the nth name under which a file is kept: NAME.fsmcp-saved,
// NAME.fsmcp-saved-2 ...
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

// spell writes bytes in letters that may stand in a name; five make eight letters.
func spell(b []byte) string { return nameEncoding.EncodeToString(b) }

var nameEncoding = base32.NewEncoding(nameAlphabet).WithPadding(base32.NoPadding)
