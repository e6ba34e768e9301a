package charset

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Recognising a legacy charset. The models below know how often a language uses its
// letters. The score of a charset is the likelihood of the lines that hold bytes beyond
// ASCII against chance, in nats.
//
// chardet v1.0.5 was tried. Alone it recognises 22 of the 30 samples of TestDecodeLegacy:
// it takes Central European text for Western, has no Arabic or Vietnamese, and is unsure of
// a few accented letters. The models recognise all 30 with and without its vote. Of every
// prefix and suffix of the samples they read 3,524 alike and 101 otherwise, with its vote
// 3,523 and 105. Its tables cost each start 0.5 ms and 450 KB.

const (
	sampleSize = 2 << 10 // bytes of text that are judged
	chance     = -4.85   // log(1/128): a byte from 0x80 on that means nothing

	// A charset is recognised when it beats chance by enough, at all and
	// for every byte, and every charset that reads the bytes differently.
	minScore  = 1.5
	minRate   = 0.05
	minMargin = 0.5
)

// language describes a language's text beyond ASCII.
type language struct {
	letters string // from frequent to rare, lower case of letters with two cases
	sets    []Charset
	prior   float64
	latin   bool // its letters mix with ASCII letters within a word
}

// languages are the single-byte charsets' models. Where several charsets read
// the bytes alike, windows-1252 is named, else the first in the constants' order.
var languages = []language{
	{"éèàêçùâîôûëïœ", []Charset{Windows1252, ISO8859_15}, 2, true},                         // French
	{"’“”–—…•‘é©°®£ï§±×½™€", []Charset{Windows1252}, 1.5, true},                            // English
	{"äüöß", []Charset{Windows1252}, 2, true},                                              // German
	{"óáíéñúü¿¡", []Charset{Windows1252}, 2, true},                                         // Spanish
	{"ãçáéõóêíâúàôü", []Charset{Windows1252}, 2, true},                                     // Portuguese
	{"àèùòéì", []Charset{Windows1252}, 2, true},                                            // Italian
	{"äåöøæéü", []Charset{Windows1252}, 2, true},                                           // Nordic
	{"éóíáëïöüèê", []Charset{Windows1252}, 1.5, true},                                      // Dutch, loan words
	{"áíðéóþúöýæ", []Charset{Windows1252}, 1, true},                                        // Icelandic
	{"ółążęśćńź", []Charset{Windows1250, ISO8859_2}, 0, true},                              // Polish
	{"íáéěřčšžýůúóňďť", []Charset{Windows1250, ISO8859_2}, 0, true},                        // Czech
	{"áíéčšžýťúľôňďäóĺŕ", []Charset{Windows1250, ISO8859_2}, 0, true},                      // Slovak
	{"áéíöóőüúű", []Charset{Windows1250, ISO8859_2}, 0, true},                              // Hungarian
	{"čšžćđ", []Charset{Windows1250, ISO8859_2}, 0, true},                                  // Croatian, Slovene
	{"ăîţşâ", []Charset{Windows1250, ISO8859_2}, 0, true},                                  // Romanian
	{"ıişüğöçâî", []Charset{Windows1254}, 0, true},                                         // Turkish
	{"ėšžįųčūąę", []Charset{Windows1257, ISO8859_13}, 0, true},                             // Lithuanian
	{"āīēšņļūžķģčč", []Charset{Windows1257, ISO8859_13}, 0, true},                          // Latvian
	{"äõüöšž", []Charset{Windows1257, ISO8859_13}, 0, true},                                // Estonian
	{"\u0301đ\u0300ươêôâă\u0323\u0309\u0303ìàáéíúùóèãâ", []Charset{Windows1258}, -1, true}, // Vietnamese
	{"оеаинтсрвлкмдпуяызьбгчйхжшюцщэфъё", []Charset{Windows1251, KOI8R, ISO8859_5}, -2, false},
	{"оаинетрсвлкдпмзуябгчщшцжьхїіфєюйґ", []Charset{Windows1251, ISO8859_5}, -2.5, false}, // Ukrainian
	{"аиоетнрсвлкдпмзъугбчщяшцжхюфйь", []Charset{Windows1251, ISO8859_5}, -0.5, false},    // Bulgarian
	{"αοιετνσρηπκμλςυόίάέήγωδύθχφώβξζψϊϋ", []Charset{Windows1253, ISO8859_7}, -2, false},
	{"יוהלאתרמשבנדעקחכפםגטצסןזךףץ", []Charset{Windows1255, ISO8859_8}, -2, false},
	{"اليمنرتوبةعدسفهكقحجأشطصخضذثىزغءئإؤظآ", []Charset{Windows1256, ISO8859_6}, -2, false},
	{"านรอกเง่้มยลวดสตัีทิปบคะแจหพชขุไ็ใืูผำโึถธณ์ศซภญษฟฉฐ", []Charset{Windows874}, -2, false},
}

// signs lists characters that every language uses besides letters, from frequent to rare.
const signs = "’“”–—…«»\u00a0°§©€·•„‚‘´®™×±²³½¼¾ªº¿¡£µ¶№¹"

// script describes the text of a multibyte charset.
type script struct {
	set     Charset
	common  string // from frequent to rare
	regions []region
}

// A region is a part of a multibyte charset's table, by the lead byte, whose
// count characters share a part of all text.
type region struct {
	from, to byte
	count    int
	share    float64
}

// The regions are, for each charset: signs and letters, the frequent
// characters (level 1), the rare ones.
var scripts = []script{
	{ShiftJIS, japaneseCommon, []region{{0x81, 0x81, 147, 0.05}, {0x82, 0x83, 250, 0.15}, {0x88, 0x98, 2965, 0.28}, {0x99, 0xEA, 3390, 0.005}, {0xA0, 0xDF, 63, 0.001}}},
	{EUCJP, japaneseCommon, []region{{0xA1, 0xA1, 94, 0.05}, {0xA3, 0xA5, 250, 0.15}, {0xB0, 0xCF, 2965, 0.28}, {0xD0, 0xF4, 3390, 0.005}}},
	{GBK, simplifiedCommon, []region{{0xA1, 0xA1, 94, 0.06}, {0xA3, 0xA3, 94, 0.06}, {0xB0, 0xD7, 3755, 0.35}, {0xD8, 0xF7, 3008, 0.01}}},
	{Big5, traditionalCommon, []region{{0xA1, 0xA2, 250, 0.10}, {0xA4, 0xC6, 5401, 0.38}, {0xC9, 0xF9, 7652, 0.01}}},
	{EUCKR, koreanCommon, []region{{0xA1, 0xA1, 94, 0.02}, {0xA3, 0xA3, 94, 0.01}, {0xB0, 0xC8, 2350, 0.46}, {0xCA, 0xFD, 4888, 0.005}}},
}

const (
	japaneseCommon = "のにはをたがでてとしれさいなあるらもすかきくけこまりっよみそつちう、。「」ー・ンスルトイラリクアシッタロドジフグマレデムプテコバオウメサカセニ" +
		"一日国人年大十本中長出時行見月後前生間上東今入学高円子外来気小話女北書先名川水半電語文字数会社者部分方場合用表示設定変更使新処理実指能機全同有明体動作成開"
	simplifiedCommon = "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文" +
		"无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏执参错误文件字符串返回值函数变量类型测试注释输出默认配置支持需要"
	traditionalCommon = "的一是不我有了人在他來這個們大到時上你說就也地國為要以會可出學得生中子過和那後下自年於對小多然裡麼開能好都家著沒天事成起心看去還發想現行作把經長只之當同文日樣與前所因無道面用但本進見頭機動知體實分明問點高氣電最間業關方主法理手意三老又兩如些從新話定外己情部此全將其種向者員東水民正第次等給使平公世路被西更何親什加合政司二十北金務統資網管應題設計書信先定"
	koreanCommon      = "이다는을가의에지고하한로은기사를도어리자서인나시아대스해일부장그수주정전라과들게있구면으제보만여적상원않니우것마요연성용조동되비소선미신공모안할트오유위문입습합치당드거중개국든러진화내경방저데발했계세무터때관생와말없물"
)

// reading is one way to read the sample.
type reading struct {
	set   Charset
	score float64
	text  []byte // the decoded sample
}

// Detect recognises the legacy charset of a text by its lines beyond ASCII. It
// recognises none if UTF-8 with broken bytes is as likely.
func Detect(raw []byte) (Charset, bool) {
	sample := sampleOf(raw)
	if len(sample) == 0 || hasControls(sample) {
		return 0, false
	}
	all := []reading{{UTF8, rateUTF8(sample), sample}}
	for _, s := range scripts {
		if text, used, ok := read(sample, s.set); ok {
			all = append(all, reading{s.set, s.rate(sample[:used], text), text})
		}
	}
	texts := make(map[Charset][]byte)
	for i := range languages {
		for _, set := range languages[i].sets {
			text, known := texts[set]
			if !known {
				text, _, _ = read(sample, set)
				texts[set] = text // nil if it cannot be read so
			}
			if text != nil {
				all = append(all, reading{set, languages[i].rate(sample, set), text})
			}
		}
	}
	set, ok := choose(all, sample)
	return set, ok && set != UTF8
}

// read decodes the sample, whose end may fall within a character; false if it
// is no text in the charset.
func read(sample []byte, set Charset) (text []byte, used int, ok bool) {
	text, used = set.DecodePrefix(sample)
	if left := len(sample) - used; left > 0 && (set.Table() != nil || left >= set.CharLen(sample[used:])) {
		return nil, 0, false
	}
	if hasControls(text) {
		return nil, 0, false
	}
	return text, used, true
}

// choose takes the best reading, if it is good enough and no other comes near.
func choose(all []reading, sample []byte) (Charset, bool) {
	if len(all) == 0 {
		return 0, false
	}
	best := slices.MaxFunc(all, func(a, b reading) int { return cmp.Compare(a.score, b.score) })
	if best.score < minScore+minRate*float64(beyondASCII(sample)) {
		return 0, false
	}
	for _, r := range all {
		same := bytes.Equal(r.text, best.text)
		if !same && r.score > best.score-minMargin {
			return 0, false
		}
		if same && (r.set == Windows1252 || r.set < best.set && best.set != Windows1252) {
			best.set = r.set
		}
	}
	return best.set, true
}

func beyondASCII(b []byte) int {
	n := 0
	for _, c := range b {
		if c >= 0x80 {
			n++
		}
	}
	return n
}

// sampleOf gathers the lines with bytes beyond ASCII.
func sampleOf(raw []byte) []byte {
	sample := make([]byte, 0, min(len(raw), sampleSize+256))
	for len(raw) > 0 && len(sample) < sampleSize {
		i := slices.IndexFunc(raw, func(b byte) bool { return b >= 0x80 })
		if i < 0 {
			break
		}
		start := bytes.LastIndexByte(raw[:i], '\n') + 1
		end := len(raw)
		if n := bytes.IndexByte(raw[i:], '\n'); n >= 0 {
			end = i + n + 1
		}
		start = max(start, i-64) // ASCII before: a long line has no need of all of it
		sample = append(sample, raw[start:min(end, start+sampleSize)]...)
		raw = raw[end:]
	}
	return sample
}

// hasControls reports control characters that text does not hold: all but tab,
// line ends, form feed and escape.
func hasControls(text []byte) bool {
	for _, b := range text {
		if b < 0x20 && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1B {
			return true
		}
	}
	return false
}

// rateUTF8 returns the likelihood of the sample in UTF-8 against chance. Broken bytes
// lower it, and so do characters that no language uses often.
func rateUTF8(sample []byte) float64 {
	score := 2.0
	for len(sample) > 0 {
		r, n := utf8.DecodeRune(sample)
		sample = sample[n:]
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError && n == 1:
			score -= 6
		case r >= 0xC0 && r < 0x100, r >= 0x391 && r < 0x450, r >= 0x5D0 && r < 0x650:
			score += 4
		case n == 2:
			score += 0.5
		case r >= 0x2010 && r < 0x2040, r >= 0x3000 && r < 0xD7A4, n == 4:
			score += 6.5
		default:
			score += 2
		}
	}
	return score
}

// rate returns the likelihood of the sample in the script against chance.
func (s script) rate(sample, text []byte) float64 {
	weights := s.weights()
	score := -2.0 // a few bytes are not enough
	at := 0
	before := byte(' ')
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		width := s.set.CharLen(sample[at:])
		if r >= utf8.RuneSelf {
			for _, b := range sample[at : at+width] {
				if b >= 0x80 {
					score -= chance
				} else {
					score += 4 // a trail byte in ASCII's range is a coincidence, too
				}
			}
			score += s.weigh(weights, r, sample[at])
			if isASCIILetter(before) {
				score -= 1.5
			}
		}
		before = sample[at+width-1]
		if width > 1 {
			before = ' '
		}
		at += width
		text = text[n:]
	}
	return score
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// weights are the logarithms of the common characters' shares.
func (s script) weights() map[rune]float64 {
	w := make(map[rune]float64, len(s.common)/3)
	sum := 0.0
	for i := range []rune(s.common) {
		sum += 1 / float64(i+12)
	}
	for i, r := range []rune(s.common) {
		if _, ok := w[r]; !ok {
			w[r] = math.Log(0.5 / sum / float64(i+12))
		}
	}
	return w
}

func (s script) weigh(common map[rune]float64, r rune, lead byte) float64 {
	if w, ok := common[r]; ok {
		return w
	}
	for _, g := range s.regions {
		if lead >= g.from && lead <= g.to {
			return math.Log(g.share / float64(g.count))
		}
	}
	return -14
}

// rate returns the likelihood of a sample in set and the language against chance.
func (l *language) rate(sample []byte, set Charset) float64 {
	var weight [256]float64
	var class [256]byte // 'l' and 'u' for letters, 'q' and 'n' as in fill, else 0
	l.fill(set, &weight, &class)
	score := l.prior
	for i, b := range sample {
		if b < 0x80 {
			continue
		}
		before, after := byte(0), byte(0)
		if i > 0 {
			before = sample[i-1]
		}
		if i+1 < len(sample) {
			after = sample[i+1]
		}
		score += weight[b] - chance
		score += l.fits(class[before], class[b], class[after], isASCIILetter(before) || isASCIILetter(after))
	}
	return score
}

// fits judges a character by its neighbours.
func (l *language) fits(before, here, after byte, besideASCII bool) float64 {
	switch {
	case here == 'q':
		return 0
	case here == 'n' && before != 0 && after == 0:
		return 3
	case (here == 0 || here == 'n') && before != 0 && after != 0: // a sign within a word
		return -3
	case here == 0 || here == 'n':
		return 0
	}
	score := 0.0
	if !l.latin && besideASCII {
		score -= 4
	}
	switch {
	case here == 'u' && before == 'l':
		score -= 5.5 // no capital within a word
	case here == 'u' && before == 'u':
		score -= 0.3
	case here == 'u':
		score -= 1.5
	}
	if here == 'l' && before == 'u' && after == 'u' {
		score -= 3
	}
	if l.latin && before == 0 && after == 0 {
		score -= 1.5
	}
	return score
}

// fill works out what each byte weighs in set, and which are letters.
func (l *language) fill(set Charset, weight *[256]float64, class *[256]byte) {
	for b := byte('a'); b <= 'z'; b++ {
		class[b], class[b&^0x20] = 'l', 'u'
	}
	letters := shares(l.letters, 2, 0.88)
	common := shares(signs, 3, 0.08)
	table := set.Table()
	for i := 0x80; i < 0x100; i++ {
		r := table.DecodeByte(byte(i))
		lower := unicode.ToLower(r)
		weight[i] = -11
		if w, ok := common[r]; ok {
			weight[i] = w
		}
		switch r {
		case '’':
			class[i] = 'q' // within words, too
		case '²', '³':
			class[i] = 'n' // behind words: m²
		}
		if unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) {
			class[i] = 'l'
			if lower != r {
				class[i] = 'u'
			}
		}
		if w, ok := letters[lower]; ok {
			weight[i] = w
		}
	}
}

// shares spreads part of all over the characters, falling with their rank.
func shares(s string, offset int, part float64) map[rune]float64 {
	w := make(map[rune]float64, len(s)/2)
	sum := 0.0
	n := 0
	for range s {
		sum += 1 / float64(n+offset)
		n++
	}
	n = 0
	for _, r := range s {
		if _, ok := w[r]; !ok {
			w[r] = math.Log(part / sum / float64(n+offset))
		}
		n++
	}
	return w
}
