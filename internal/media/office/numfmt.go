package office

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// epoch is the day from which a workbook counts its dates.
type epoch uint8

const (
	from1900 epoch = iota
	from1904
)

// numberFormats are the formats of cells, by their style.
type numberFormats struct {
	codes  map[int]string // that the workbook defines
	styles []int          // the format of each style
	parsed map[int][]token
}

// isoDate stands for the formats that look different in each country, as the format of
// such a cell names none.
const (
	isoDate     = "yyyy-mm-dd"
	isoDateTime = "yyyy-mm-dd hh:mm"
)

// builtin returns the format of a number that no workbook defines.
func builtin(id int) string {
	switch {
	case id == 14, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id >= 57 && id <= 58:
		return isoDate
	case id == 22:
		return isoDateTime
	case id >= 32 && id <= 35, id == 55, id == 56:
		return "hh:mm:ss"
	}
	return map[int]string{
		9: "0%", 10: "0.00%", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
		45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
	}[id]
}

// readFormats reads the formats of a workbook.
func (r *workbookReader) readFormats(part string) error {
	r.formats.codes = map[int]string{}
	if part == "" {
		return nil
	}
	s := r.scan(part)
	s.root()
	s.each(func(name string) {
		switch name {
		case "numFmts":
			s.each(func(name string) {
				if name == "numFmt" && len(r.formats.codes) < maxCells {
					r.formats.codes[s.number("numFmtId", -1)] = short(s.attr("formatCode"))
				}
			})
		case "cellXfs":
			s.each(func(name string) {
				if name == "xf" && len(r.formats.styles) < 1<<17 {
					r.formats.styles = append(r.formats.styles, s.number("numFmtId", 0))
				}
			})
		}
	})
	return s.end()
}

// number writes a number: a date or time by its format, a percentage as one, others as they are.
func (f *numberFormats) number(value string, style int, e epoch) string {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return value
	}
	part := section(f.code(style), n)
	switch shown := bare(part); {
	case len(part) == 1 && part[0].kind == '"' && part[0].text != "": // as LibreOffice writes truth values
		return part[0].text
	case isDate(shown):
		if text, ok := dateText(n, part, e); ok {
			return text
		}
	case strings.Contains(shown, "%"):
		_, decimals, _ := strings.Cut(shown, ".")
		places := strings.Count(strings.SplitN(decimals, "%", 2)[0], "0")
		return strconv.FormatFloat(n*100, 'f', min(places, 15), 64) + "%"
	}
	return plainNumber(n)
}

// code returns the format of a style.
func (f *numberFormats) code(style int) []token {
	if style < 0 || style >= len(f.styles) {
		return nil
	}
	id := f.styles[style]
	code, known := f.parsed[id]
	if !known {
		text, defined := f.codes[id]
		if !defined {
			text = builtin(id)
		}
		if f.parsed == nil {
			f.parsed = make(map[int][]token)
		}
		code = tokensOf(text)
		f.parsed[id] = code
	}
	return code
}

// plainNumber writes a number with the 15 digits that a sheet keeps.
func plainNumber(n float64) string {
	if a := math.Abs(n); a != 0 && (a >= 1e21 || a < 1e-9) {
		return strconv.FormatFloat(n, 'G', 15, 64)
	}
	s := strconv.FormatFloat(n, 'f', -1, 64)
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64); err == nil {
		s = strconv.FormatFloat(rounded, 'f', -1, 64)
	}
	return s
}

// token is a piece of a code: a text in quotes ("), another text (\\), elapsed time ([), or what its
// first letter in lower case says, several equal letters in one.
type token struct {
	kind byte
	text string
}

var codeToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)"([^"]*)"|"(.*)|[\\_*](.)|\[([^\]]*)\]|\[.*|am/pm|a/p|y+|m+|d+|h+|s+|.`)
})

// tokensOf splits a code. Colours, conditions and fillings are left out.
func tokensOf(code string) (all []token) {
	for _, m := range codeToken().FindAllStringSubmatch(code, -1) {
		t := token{m[0][0] | 0x20, m[0]}
		switch c := m[0][0]; {
		case c == '"' && m[2] == "":
			t = token{'"', m[1]}
		case c == '"', c == '\\' && m[3] != "":
			t = token{'\\', m[2] + m[3]}
		case c == '_' && m[3] != "":
			t = token{'\\', " "}
		case c == '[' && elapsed(m[4]):
			t = token{'[', m[4]}
		case c == '[', c == '*' && m[3] != "":
			continue
		}
		all = append(all, t)
	}
	return all
}

// section returns the part of a code for a number: one for others than negative ones, one for
// those, one for zero.
func section(code []token, n float64) []token {
	parts := [][]token{nil}
	for _, t := range code {
		if t.text == ";" && t.kind != '"' && t.kind != '\\' {
			parts = append(parts, nil)
			continue
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], t)
	}
	switch {
	case n < 0 && len(parts) > 1:
		return parts[1]
	case n == 0 && len(parts) > 2:
		return parts[2]
	}
	return parts[0]
}

// bare returns a code in lower case without its literal texts.
func bare(code []token) string {
	var b strings.Builder
	for _, t := range code {
		if t.kind != '"' && t.kind != '\\' {
			b.WriteString(t.text)
		}
	}
	return strings.ToLower(b.String())
}

// elapsed reports whether a bracket counts elapsed time, such as [h].
func elapsed(inside string) bool {
	low := strings.ToLower(inside)
	return low != "" && strings.Trim(low, low[:1]) == "" && strings.Contains("hms", low[:1])
}

// isDate reports whether a bare code is that of a date or time.
func isDate(code string) bool {
	return !strings.ContainsAny(code, "#?") && strings.ContainsAny(code, "ymdhs")
}

// dateText writes a date or time by a code; false if there is no such date.
func dateText(n float64, code []token, e epoch) (string, bool) {
	if e == from1904 {
		n += 1462
	}
	if n < 0 || n >= 2_958_466 { // behind the year 9999
		return "", false
	}
	fraction := secondDigits(bare(code))
	unit := math.Pow10(fraction)
	ticks := math.Round(n * 86400 * unit) // of the smallest unit that is shown
	day := math.Floor(ticks / (86400 * unit))
	rest := ticks - day*86400*unit
	if day < 60 && e == from1900 { // sheets have a 29 February 1900
		day++
	}
	t := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(day)).Add(time.Duration(rest / unit * float64(time.Second)).Round(time.Millisecond))
	d := dateWriter{t: t, total: ticks / unit, twelve: strings.Contains(bare(code), "am/pm") || strings.Contains(bare(code), "a/p"), digits: fraction}
	return d.write(code), true
}

// secondDigits counts the digits behind the point of the seconds.
func secondDigits(code string) int {
	at := strings.LastIndex(code, "s.")
	if at < 0 {
		return 0
	}
	rest := code[at+2:]
	return min(len(rest)-len(strings.TrimLeft(rest, "0")), 3)
}

// dateWriter writes a time by a code.
type dateWriter struct {
	t      time.Time
	total  float64 // seconds since the epoch
	twelve bool
	digits int
	b      strings.Builder
	last   byte // the unit that was written last
}

func (d *dateWriter) write(code []token) string {
	for i := 0; i < len(code); i++ {
		switch t := code[i]; {
		case t.kind == '[':
			d.elapsed(t.text[0]|0x20, len(t.text))
		case t.kind == 'a' && len(t.text) > 1:
			d.b.WriteString(d.t.Format("PM")[:len(t.text)/2])
		case strings.IndexByte("ymdhs", t.kind) >= 0:
			d.unit(t.kind, len(t.text), code[i+1:])
		case t.text == "." && d.last == 's' && d.digits > 0:
			d.b.WriteString("." + pad(d.t.Nanosecond()/int(math.Pow10(9-d.digits)), d.digits))
			i += d.digits
		case t.text != "@" || t.kind == '"' || t.kind == '\\':
			d.b.WriteString(t.text)
		}
	}
	return strings.TrimSpace(d.b.String())
}

// elapsed writes all hours, minutes or seconds.
func (d *dateWriter) elapsed(unit byte, digits int) {
	per := map[byte]float64{'h': 3600, 'm': 60, 's': 1}[unit]
	d.b.WriteString(pad(int(d.total/per), digits))
	d.last = unit
}

// unit writes one unit of n letters. behind is the rest of the code: m means minutes beside
// hours or seconds.
func (d *dateWriter) unit(c byte, n int, behind []token) {
	switch {
	case c == 'y':
		d.b.WriteString(d.t.Format(map[bool]string{true: "06", false: "2006"}[n <= 2]))
	case c == 'm' && n <= 2 && (d.last == 'h' || strings.HasPrefix(strings.TrimLeft(bare(behind), ": ."), "s")):
		d.b.WriteString(pad(d.t.Minute(), n))
	case c == 'm' && n == 5:
		d.b.WriteString(d.t.Format("January")[:1])
	case c == 'm' && n >= 4:
		d.b.WriteString(d.t.Format("January"))
	case c == 'm' && n == 3:
		d.b.WriteString(d.t.Format("Jan"))
	case c == 'm':
		d.b.WriteString(pad(int(d.t.Month()), n))
	case c == 'd' && n >= 4:
		d.b.WriteString(d.t.Format("Monday"))
	case c == 'd' && n == 3:
		d.b.WriteString(d.t.Format("Mon"))
	case c == 'd':
		d.b.WriteString(pad(d.t.Day(), n))
	case c == 'h':
		hour := d.t.Hour()
		if d.twelve {
			hour = (hour+11)%12 + 1
		}
		d.b.WriteString(pad(hour, min(n, 2)))
	case c == 's':
		d.b.WriteString(pad(d.t.Second(), min(n, 2)))
	}
	d.last = c
}

// pad writes a number with at least so many digits.
func pad(n, digits int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(min(digits, 9)-len(s), 0)) + s
}
