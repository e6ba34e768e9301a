package tokens

import (
	"sort"
	"sync"
	"unicode/utf8"
)

// Scripts beyond ASCII.
const (
	latin = iota
	latinRare
	latinAccents // with two accents, as in Vietnamese
	latinSign
	greek
	cyrillic
	cyrillicRare
	hebrew
	arabic
	indic
	thai
	kana
	hanCommon // directly before its rare characters
	hanRare
	hangulCommon // likewise
	hangulRare
	cjkSign
	sign
	drawing
	astral
	other
	broken
	scripts
)

// scriptsFrom holds, in order, the first character of each range of one script.
var scriptsFrom = []struct {
	first  rune
	script int
}{
	{0, latinSign}, {0xC0, latin}, {0x100, latinRare}, {0x370, greek},
	{0x400, cyrillicRare}, {0x410, cyrillic}, {0x450, cyrillicRare}, // the letters of Russian between others
	{0x530, other}, {0x590, hebrew}, {0x600, arabic}, {0x780, other}, {0x900, indic}, {0xE00, thai}, {0xE80, indic},
	{0x1000, other}, {0x1E00, latinAccents}, {0x1F00, greek}, {0x2000, sign}, {0x2070, drawing},
	{0x2E80, cjkSign}, {0x3040, kana}, {0x3100, hanRare}, {0xA000, other}, {0xAC00, hangulRare}, {0xD7A4, other},
	{0xF900, hanRare}, {0xFB00, other}, {0xFF00, cjkSign}, {0xFFF0, other}, {0x10000, astral},
	{utf8.MaxRune + 1, broken},
}

// common holds the Han and Hangul characters for which the tokenizer of the tests has a
// token of their own.
const common = "一万三上下不与专业东两个中串为主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企优会传但位体何余作你使例供価" +
	"保信修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前力功加务动動包化北区十午华单南即历原去县参及友反发取变口" +
	"只可台右号司合同名后向否含听启告员周命和品哈商問器四回因国图土在地场址型城基報場填增声处备复外多大天失头女好如始子字存学" +
	"安宋完定实审客家容密对导将小少尔就局展山岁州工左已市布常平年并广序库应店度建开异式引张当录形影径待後得微心必志态思性总息" +
	"您情意感成我或户所手打找技投报拉持指按换据排接推提播支收改放政效数整文料断新方族无日时明易星是時景更最月有服期木未本机权" +
	"束条来板构析果查标样核格案检模次款止正此步歳段每比民気水求江汽没治法注活流海消清游源火点無然片版物特率环现球理生用由电男" +
	"画界番登的监目直相省看県真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签简算管箱米类系素索约级线组经结给络统编网置" +
	"美老考者而联能自至色节英藏行表装西要見见规视角解言計記話読计认议记论设证评试话询该详语误说请读调象责败账货购费资起超路身" +
	"车转软载辑输达过运近还这进连述退送选通速造連道邮部都配释里重量金钟钮链销错键长開間関门闭问间队阳陆限院除雅集雷需非面音页" +
	"项预频题额首验高黑가간값개거게결경고공과구그글기나내는능니다당대도동되된드든들디라래러력로록료류른를름리만메면명목문미버" +
	"번보복부분비사산상색생서성세션소수스습시식신아야어에여열오와요용우운원위으은을음의이인일임입자작장재적전정제져조주지진째" +
	"체출치크태터턴트튼하한할함해호화환회"

// commonSet marks the common characters, counted from firstHan. With a binary search in a
// list, a Chinese text takes nearly twice the time.
var commonSet = sync.OnceValue(func() []bool {
	set := make([]bool, behindHangul-firstHan)
	for _, r := range common {
		set[r-firstHan] = true
	}
	return set
})

const (
	firstHan     = 0x4E00
	behindHangul = 0xD7A4
)

// foreignRun returns the end of the run of characters beyond ASCII from i on, and its cost.
func foreignRun(b []byte, i int) (next int, cost int64) {
	last, at := scripts, 0
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b[i:])
		if r < scriptsFrom[at].first || r >= scriptsFrom[at+1].first {
			at = sort.Search(len(scriptsFrom), func(i int) bool { return scriptsFrom[i].first > r }) - 1
		}
		s := scriptsFrom[at].script
		switch {
		case n == 1:
			s = broken
		case (s == hanRare || s == hangulRare) && isCommon(r):
			s--
		}
		cost += weights[chars+s]
		if s != last {
			cost += weights[starts+s]
			last = s
		}
		i += n
	}
	return i, cost
}

func isCommon(r rune) bool { return r >= firstHan && r < behindHangul && commonSet()[r-firstHan] }
