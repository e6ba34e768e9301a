package text

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// encodeAs is s in a charset, which must hold it.
func encodeAs(t testing.TB, set charset.Charset, s string) []byte {
	t.Helper()
	b, err := charset.Encoding{Set: set}.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// samples are small texts as they stand in real files.
var samples = []struct {
	set  charset.Charset
	text string
}{
	{charset.Windows1252, "// Größe des Puffers in Bytes\nconst size = 4096 // für alle Fälle\n"},
	{charset.Windows1252, "# Vérifie que l’entrée n’est pas vide\ndef vérifier(x):\n    return x is not None\n"},
	{charset.Windows1252, "print(\"¿Dónde está la niña?\")\n"},
	{charset.Windows1252, "They said “no” – and left…\n"},
	{charset.Windows1252, "/* Copyright © 1998 Jörg Müller */\nint main(void) { return 0; }\n"},
	{charset.Windows1252, "Die Größe der Datei wird beim Öffnen geprüft – „natürlich“ nur einmal.\n"},
	{charset.Windows1252, "O coração não vê a razão, e a canção é só ilusão.\n"},
	{charset.Windows1252, "Räksmörgås på svenska, blåbærsyltetøy på norsk.\n"},
	{charset.Windows1252, "volume: 5 m³ at 20 °C\n"},
	{charset.Windows1250, "// Sprawdź, czy plik istnieje; jeśli nie, zgłoś błąd i zakończ działanie.\n"},
	{charset.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy na zeleném poli.\n"},
	{charset.ISO8859_2, "Zażółć gęślą jaźń, bo taka jest treść tego zdania w języku polskim.\n"},
	{charset.Windows1250, "Árvíztűrő tükörfúrógép, és még néhány magyar szó is kell ide, hogy elég hosszú legyen.\n"},
	{charset.Windows1254, "Bu dosya Türkçe yazılmıştır; şimdi değişkenleri gösteriyoruz.\n"},
	{charset.Windows1257, "Šis fails ir latviešu valodā, tajā ir daži mīkstinājumi: ķēniņš, ģērbt, ļaudis.\n"},
	{charset.Windows1251, "// Открывает файл и читает из него все строки\nfunc main() {}\n"},
	{charset.KOI8R, "Это старый текст, записанный в кодировке, которую давно не используют.\n"},
	{charset.ISO8859_5, "Проверка чтения файла в кодировке стандарта ИСО.\n"},
	{charset.Windows1253, "Αυτό είναι ένα μικρό κείμενο στα ελληνικά για δοκιμή.\n"},
	{charset.Windows1255, "זהו קובץ קצר בעברית שנועד לבדיקה של הקידוד.\n"},
	{charset.Windows1256, "هذا ملف قصير باللغة العربية لاختبار الترميز في هذا البرنامج.\n"},
	{charset.Windows874, "นี่คือไฟล์ภาษาไทยสั้น ๆ สำหรับทดสอบการอ่านข้อความ\n"},
	{charset.ShiftJIS, "この関数は、ファイルを読み込んで文字コードを判定します。エラーの場合は空の文字列を返します。カタカナも試験。\n"},
	{charset.ShiftJIS, "// 設定ファイルの読み込み\nint load(void); // 失敗したら負の値を返す\n// 文字列の長さは最大で二百五十六文字までとする\n"},
	{charset.EUCJP, "この関数は、ファイルを読み込んで文字コードを判定します。エラーの場合は空の文字列を返します。\n"},
	{charset.GBK, "这个函数读取文件并判断它的字符编码。如果发生错误，则返回空字符串。我们还需要更多的文字来测试。\n"},
	{charset.GBK, "// 初始化缓冲区，大小由配置决定\nvoid init(void);\n// 返回值：成功时为零，否则为错误代码；调用者必须检查\n"},
	{charset.Big5, "這個函數讀取檔案並判斷它的字元編碼。如果發生錯誤，就傳回空字串。我們還需要更多的文字來測試。\n"},
	{charset.EUCKR, "이 함수는 파일을 읽고 문자 인코딩을 판단합니다. 오류가 발생하면 빈 문자열을 돌려줍니다. 시험을 위한 글입니다.\n"},
	{charset.EUCKR, "// 버퍼를 초기화한다\nvoid init(void); // 성공하면 영을 돌려준다\n// 설정 파일에서 크기를 읽고 값이 없으면 기본값을 쓴다\n"},
}

// looksBinary judges the first bytes of a file, which may end within a character.
func looksBinary(head []byte) bool {
	_, err := HeadEncoding(head, false)
	return err != nil
}

func TestDecodeLegacy(t *testing.T) {
	for _, c := range samples {
		raw := encodeAs(t, c.set, c.text)
		d, err := Decode(raw)
		if err != nil {
			t.Errorf("%s: %v (%.40q)", c.set, err, c.text)
			continue
		}
		if d.Text != c.text || d.Enc.Set != c.set {
			t.Errorf("%s read as %s: %.60q", c.set, d.Enc.Name(), d.Text)
		}
		if looksBinary(raw) || looksBinary(raw[:len(raw)-3]) {
			t.Errorf("%s looks binary: %.40q", c.set, c.text)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, raw, text, enc string
		bom                  bool
		strays               int
	}{
		{"empty", "", "", "utf-8", false, 0},
		{"ascii", "a\tb\r\nc\n", "a\tb\r\nc\n", "utf-8", false, 0},
		{"utf-8", "naïve 日本 😀", "naïve 日本 😀", "utf-8", false, 0},
		{"bom", "\xEF\xBB\xBFé", "é", "utf-8", true, 0},
		{"bom alone", "\xEF\xBB\xBF", "", "utf-8", true, 0},
		{"second bom is text", "\xEF\xBB\xBF\xEF\xBB\xBFa", "\uFEFFa", "utf-8", true, 0},
		{"utf-16le", "\xFF\xFEa\x00\n\x00=\xD8\x00\xDE", "a\n😀", "utf-16le", true, 0},
		{"utf-16be", "\xFE\xFF\x00a\x00\r\x00\n", "a\r\n", "utf-16be", true, 0},
		{"utf-16le without the mark", "a\x00\n\x00", "a\n", "utf-16le", false, 0},
		{"utf-16be without the mark", "\x00a\x00\r\x00\n", "a\r\n", "utf-16be", false, 0},
		{"utf-16le without the mark, one character in ten beyond", "o\x00n\x00e\x00 \x00t\x00w\x00o\x00 \x00\xac\x20\n\x00", "one two €\n", "utf-16le", false, 0},
		{"utf-16 bom alone", "\xFF\xFE", "", "utf-16le", true, 0},
		{"one broken byte stays utf-8", "Größe, Fälle, übrig: caf\xE9\n", "Größe, Fälle, übrig: caf\xE9\n", "utf-8", false, 1},
		{"one good, one broken", "na\u00efve caf\xE9", "na\u00efve caf\xE9", "utf-8", false, 1},
		{"cut at the end", "日本語のテキス\xE3\x83", "日本語のテキス\xE3\x83", "utf-8", false, 2},
		{"stray in ascii", "abc \xFF def, and more text", "abc \xFF def, and more text", "utf-8", false, 1},
		{"bom and stray", "\xEF\xBB\xBFabc \xE9 def", "abc \xE9 def", "utf-8", true, 1},
		{"surrogate in utf-8", "some text and \xED\xA0\x80 in it", "some text and \xED\xA0\x80 in it", "utf-8", false, 3},
		{"controls are text", "\x1b[1mbold\x1b[0m\x01\x7f", "\x1b[1mbold\x1b[0m\x01\x7f", "utf-8", false, 0},
	} {
		d, err := Decode([]byte(c.raw))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Text != c.text || d.Enc.Name() != c.enc || d.Enc.HasBOM() != c.bom || d.Strays != c.strays {
			t.Errorf("%s: %q %s bom=%v strays=%d", c.name, d.Text, d.Enc, d.Enc.HasBOM(), d.Strays)
		}
	}
}

// What is known to be in an encoding is read in it, however little there is.
func TestDecodeAs(t *testing.T) {
	for _, c := range []struct {
		enc  charset.Encoding
		raw  string
		text string // "-" is ErrBinary
	}{
		{charset.Encoding{Set: charset.Windows1253}, "\xe1\n", "α\n"},
		{charset.Encoding{Set: charset.Windows1253}, "plain\n", "plain\n"},
		{charset.Encoding{Set: charset.KOI8R}, "\xcd\xc9\xd2", "мир"},
		{charset.Encoding{Set: charset.ShiftJIS}, "\x95\x5c", "表"},
		{charset.Encoding{Set: charset.ShiftJIS}, "\x95", "-"},
		{charset.Encoding{Set: charset.Windows1252}, "a\x00", "-"},
		{charset.Encoding{Set: charset.UTF16LE, Mark: true}, "\xff\xfea\x00", "a"},
		{charset.Encoding{Set: charset.UTF16LE, Mark: true}, "a\x00", "-"},
		{charset.Encoding{}, "Gr\xf6\xdfe an alle, die noch lesen\n", "Gr\xf6\xdfe an alle, die noch lesen\n"},
		{charset.Encoding{}, "\xef\xbb\xbfa", "a"},
		{charset.Encoding{Mark: true}, "a", "a"},
		{charset.Encoding{}, "a\x00", "-"},
	} {
		d, err := DecodeAs([]byte(c.raw), c.enc)
		if err != nil {
			if c.text != "-" || !errors.Is(err, ErrBinary) {
				t.Errorf("%s of %q: %v", c.enc, c.raw, err)
			}
			continue
		}
		again, err := d.Enc.EncodeFile(d.Text)
		if d.Text != c.text || d.Enc.Set != c.enc.Set || err != nil || string(again) != c.raw {
			t.Errorf("%s of %q: %q, and back %q (%v)", c.enc, c.raw, d.Text, again, err)
		}
	}
}

func TestDecodeBinary(t *testing.T) {
	noise := make([]byte, 400)
	r := rand.New(rand.NewSource(3))
	for i := range noise {
		noise[i] = byte(1 + r.Intn(255))
	}
	for name, raw := range map[string]string{
		"nul":                                 "text with a \x00 in it",
		"utf-16 with U+0000":                  "\xFF\xFEa\x00\x00\x00",
		"utf-16, odd length":                  "\xFF\xFEa\x00b",
		"utf-16, lone surrogate":              "\xFF\xFE\x00\xD8a\x00",
		"utf-32":                              "\xFF\xFE\x00\x00a\x00\x00\x00",
		"three stray bytes":                   "\xFF\xFE\xFD",
		"noise without NUL":                   string(noise),
		"utf-16 without the mark, U+0000":     "a\x00b\x00\x00\x00",
		"utf-16 without the mark, odd length": "a\x00b\x00c",
		"utf-16 without the mark, surrogate":  "a\x00b\x00c\x00d\x00e\x00f\x00g\x00h\x00i\x00\x00\xD8a\x00",
		"small numbers of 16 bits":            "\x01\x00\x02\x00 \x00\x10\x00",
		"large numbers of 16 bits":            "a\x00\x41\x01b\x00\x41\x02",
		"numbers of 32 bits":                  "a\x00\x00\x00b\x00\x00\x00",
		"one character":                       "a\x00",
	} {
		if d, err := Decode([]byte(raw)); !errors.Is(err, ErrBinary) {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
		if !looksBinary([]byte(raw)) && !strings.HasSuffix(name, "odd length") && name != "three stray bytes" { // as heads they may go on
			t.Errorf("%s does not look binary", name)
		}
	}
}

func TestHeadThatIsCut(t *testing.T) {
	whole := strings.Repeat("日本語 text é 😀\n", 50)
	for n := range len(whole) {
		if looksBinary([]byte(whole[:n])) {
			t.Fatalf("text cut at %d looks binary", n)
		}
	}
	wide := append([]byte(charset.MarkUTF16LE), encodeAs(t, charset.UTF16LE, whole)...)
	for n := 2; n < len(wide); n++ {
		if looksBinary(wide[:n]) {
			t.Fatalf("UTF-16 cut at %d looks binary", n)
		}
	}
	unmarked := encodeAs(t, charset.UTF16LE, strings.Repeat("in plain words, 😀\n", 50))
	for n := 4; n < len(unmarked); n++ {
		if looksBinary(unmarked[:n]) {
			t.Fatalf("UTF-16 without a mark cut at %d looks binary", n)
		}
	}
}

func TestEOL(t *testing.T) {
	for _, c := range []struct {
		s     string
		want  EOL
		lines int
	}{
		{"", EOL{}, 0},
		{"a", EOL{}, 1},
		{"a\n", EOL{LF: 1}, 1},
		{"a\nb", EOL{LF: 1}, 2},
		{"\n\n", EOL{LF: 2}, 2},
		{"a\r\nb\r\nc\n", EOL{LF: 1, CRLF: 2}, 3},
		{"a\r\nb\n", EOL{LF: 1, CRLF: 1}, 2},
		{"a\rb\rc", EOL{CR: 2}, 3},
		{"a\rb\r", EOL{CR: 2}, 2},
		{"a\rb\n", EOL{LF: 1, CR: 1}, 1},
		{"a\r\r\nb", EOL{CRLF: 1, CR: 1}, 2},
	} {
		d, err := Decode([]byte(c.s))
		if err != nil {
			t.Fatal(err)
		}
		if d.EOL != c.want || d.Lines() != c.lines {
			t.Errorf("%q: %+v %d lines", c.s, d.EOL, d.Lines())
		}
	}
}

func TestUnencodable(t *testing.T) {
	for _, set := range []charset.Charset{charset.Windows1252, charset.ShiftJIS, charset.GBK, charset.EUCKR, charset.UTF16LE} {
		_, err := charset.Encoding{Set: set}.Encode("one\ntwo \xE9 three")
		var e *charset.UnencodableError
		if !errors.As(err, &e) || e.Line != 2 {
			t.Errorf("%s, stray byte: %v", set, err)
		}
	}
	for _, set := range []charset.Charset{charset.Windows1252, charset.ShiftJIS, charset.EUCKR} {
		_, err := charset.Encoding{Set: set}.Encode("one\r\ntwo\nthree 😀 four")
		var e *charset.UnencodableError
		if !errors.As(err, &e) || e.Line != 3 || e.Rune != '😀' || e.Name != set.String() {
			t.Errorf("%s: %v", set, err)
		}
	}
}

// randomText mixes scripts, endings and oddities.
func randomText(r *rand.Rand, n int, pieces []string) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(pieces[r.Intn(len(pieces))])
	}
	return b.String()
}

var (
	asciiPieces = []string{"func main() {", "\t", "x", "return nil", " ", "}", "\n", "\n", "long long long long line", "0123456789"}
	utf8Pieces  = append([]string{"é", "日本語", "😀", "\u202e", "\u0085", "\U000E0041", "naïve ", "«x»"}, asciiPieces...)
)

// checkLaw asserts the law of the package and that offsets agree both ways.
func checkLaw(t *testing.T, raw []byte) *Doc {
	t.Helper()
	d, err := Decode(raw)
	if err != nil {
		return nil
	}
	again, err := d.Enc.EncodeFile(d.Text)
	if err != nil || !bytes.Equal(again, raw) {
		t.Fatalf("%s: encoding again differs: %v\n%q\n%q", d.Enc, err, raw, again)
	}
	for i := 0; i <= len(d.Text); i++ {
		if len(raw) > 1000 && i%97 != 0 && i < len(d.Text)-5 {
			continue
		}
		if i < len(d.Text) && d.Strays == 0 && d.Text[i]&0xC0 == 0x80 {
			continue // within a character
		}
		at := d.RawOffset(i)
		if got := d.TextOffset(at); got != i {
			t.Fatalf("%s: text %d is raw %d is text %d", d.Enc, i, at, got)
		}
		if i%1000 == 0 || len(raw) < 200 {
			part, err := d.Enc.Encode(d.Text[:i])
			if err != nil || int64(len(part)+len(d.Enc.BOM())) != at {
				t.Fatalf("%s: raw offset of %d is %d, want %d", d.Enc, i, at, len(part)+len(d.Enc.BOM()))
			}
		}
	}
	return d
}

func TestRoundTripOfRandomFiles(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for range shortrun.Count(t, 300, 100, "files") {
		endings := []string{"\n", "\r\n", "\r", "\n\r"}[:1+r.Intn(4)]
		size := r.Intn(200)
		if r.Intn(10) == 0 {
			size = 20000
		}
		s := randomText(r, size, append(endings, utf8Pieces...))
		for _, enc := range []charset.Encoding{{}, {Mark: true}, {Set: charset.UTF16LE, Mark: true}, {Set: charset.UTF16BE, Mark: true}} {
			raw, err := enc.EncodeFile(s)
			if err != nil {
				t.Fatal(err)
			}
			if d := checkLaw(t, raw); d == nil || d.Text != s || d.Enc != enc && s != "" {
				t.Fatalf("%v: not read back: %.80q", enc, s)
			}
		}
		broken := []byte(s)
		for range 1 + r.Intn(3) {
			if len(broken) > 0 {
				broken[r.Intn(len(broken))] = byte(0x80 + r.Intn(0x80))
			}
		}
		checkLaw(t, broken)
		c := samples[r.Intn(len(samples))]
		legacy := randomText(r, size, append(endings, append(strings.SplitAfter(c.text, " "), c.text)...))
		checkLaw(t, encodeAs(t, c.set, legacy))
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, c := range samples {
		b, _ := charset.Encoding{Set: c.set}.Encode(c.text)
		f.Add(b)
	}
	f.Add([]byte("\xFF\xFEa\x00\r\x00\n\x00"))
	f.Add([]byte("\xEF\xBB\xBFa\rb\xE9"))
	f.Add([]byte("plain\r\ntext\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := checkLaw(t, raw)
		if d == nil {
			return
		}
		p := d.Page(1, 0, 0)
		if p.Last != d.Lines() || p.More || p.Shown != (span.Span{Start: 0, End: int64(len(raw))}) {
			t.Fatalf("whole page: %d of %d lines, %+v of %d", p.Last, d.Lines(), p.Shown, len(raw))
		}
		if n := bytes.Count(p.Body, []byte{'\n'}); p.Last > 0 && n != p.Last-1 {
			t.Fatalf("%d separators in %d lines", n, p.Last)
		}
	})
}
