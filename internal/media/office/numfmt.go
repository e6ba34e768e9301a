package office

import (
	"math"
	"strconv"
	"strings"
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
	code := ""
	if style >= 0 && style < len(f.styles) {
		id := f.styles[style]
		own, defined := f.codes[id]
		if code = builtin(id); defined {
			code = own
		}
	}
	code = section(code, n)
	switch literal := quoted(code); {
	case literal != "":
		return literal
	case isDateCode(code):
		if shown, ok := dateText(n, code, e); ok {
			return shown
		}
	case strings.Contains(bare(code), "%"):
		_, decimals, _ := strings.Cut(bare(code), ".")
		places := strings.Count(strings.SplitN(decimals, "%", 2)[0], "0")
		return strconv.FormatFloat(n*100, 'f', min(places, 15), 64) + "%"
	}
	return plainNumber(n)
}

// quoted returns the text of a code that shows it in place of the number, as LibreOffice writes
// those of truth values; "" if the code shows the number, or nothing.
func quoted(code string) string {
	text, inside := strings.CutPrefix(code, `"`)
	text, ends := strings.CutSuffix(text, `"`)
	if !inside || !ends || strings.Contains(text, `"`) {
		return ""
	}
	return text
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

// section returns the part of a code for a number: one for others than negative ones, one for
// those, one for zero.
func section(code string, n float64) string {
	parts := splitCode(code)
	switch {
	case n < 0 && len(parts) > 1:
		return parts[1]
	case n == 0 && len(parts) > 2:
		return parts[2]
	}
	return parts[0]
}

// splitCode splits a code at its semicolons, but not within quotes.
func splitCode(code string) (parts []string) {
	quoted, from := false, 0
	for i := 0; i < len(code); i++ {
		switch {
		case code[i] == '\\':
			i++
		case code[i] == '"':
			quoted = !quoted
		case code[i] == ';' && !quoted:
			parts = append(parts, code[from:i])
			from = i + 1
		}
	}
	return append(parts, code[from:])
}

// bare returns a code in lower case without its literal texts, colours and conditions. Elapsed
// hours, minutes and seconds stay.
func bare(code string) string {
	var b strings.Builder
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\\', '_', '*':
			i++
		case '"':
			for i++; i < len(code) && code[i] != '"'; i++ {
			}
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return strings.ToLower(b.String())
			}
			if elapsed(code[i+1:i+end]) != 0 {
				b.WriteString(code[i+1 : i+end])
			}
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return strings.ToLower(b.String())
}

// elapsed returns the unit of a bracket that counts elapsed time, such as [h].
func elapsed(inside string) byte {
	low := strings.ToLower(inside)
	if low != "" && strings.Trim(low, low[:1]) == "" && strings.Contains("hms", low[:1]) {
		return low[0]
	}
	return 0
}

// isDateCode reports whether a code is that of a date or time.
func isDateCode(code string) bool {
	b := bare(code)
	if b == "general" || strings.ContainsAny(b, "#?") {
		return false
	}
	return strings.ContainsAny(b, "ymdhs")
}

// dateText writes a date or time by a code; false if there is no such date.
func dateText(n float64, code string, e epoch) (string, bool) {
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

func (d *dateWriter) write(code string) string {
	for i := 0; i < len(code); {
		c := code[i] | 0x20
		switch {
		case code[i] == '\\' && i+1 < len(code):
			d.b.WriteByte(code[i+1])
			i += 2
		case code[i] == '_' && i+1 < len(code):
			d.b.WriteByte(' ')
			i += 2
		case code[i] == '*' && i+1 < len(code):
			i += 2
		case code[i] == '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				end = len(code) - i - 1
			}
			d.b.WriteString(code[i+1 : i+1+end])
			i += end + 2
		case code[i] == '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return d.b.String()
			}
			if u := elapsed(code[i+1 : i+end]); u != 0 {
				d.elapsed(u, end-1)
			}
			i += end + 1
		case strings.HasPrefix(strings.ToLower(code[i:]), "am/pm"):
			d.b.WriteString(d.t.Format("PM"))
			i += 5
		case strings.HasPrefix(strings.ToLower(code[i:]), "a/p"):
			d.b.WriteString(d.t.Format("PM")[:1])
			i += 3
		case strings.IndexByte("ymdhs", c) >= 0:
			n := 1
			for i+n < len(code) && code[i+n]|0x20 == c {
				n++
			}
			d.unit(c, n, code[i+n:])
			i += n
		case code[i] == '.' && d.last == 's' && d.digits > 0:
			d.b.WriteString("." + pad(d.t.Nanosecond()/int(math.Pow10(9-d.digits)), d.digits))
			i += 1 + d.digits
		case code[i] == '@':
			i++
		default:
			d.b.WriteByte(code[i])
			i++
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
func (d *dateWriter) unit(c byte, n int, behind string) {
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
