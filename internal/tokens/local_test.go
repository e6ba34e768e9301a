package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// tolerance is the share by which Local may differ from the reference.
const tolerance = 0.15

// corpus is the texts by class: of the Go sources, of testdata, made up.
func corpus(t testing.TB) map[string][]string {
	t.Helper()
	nativetest.NeedProgram(t, "go")
	c := map[string][]string{}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(out))
	for class, patterns := range map[string][]string{
		"go":   {"src/bytes/*.go", "src/net/http/s*.go", "src/go/parser/*.go"},
		"c":    {"src/runtime/cgo/*.c", "src/runtime/cgo/*.h"},
		"html": {"doc/go_spec.html"},
		"js":   {"lib/wasm/*.js"},
		"asm":  {"src/runtime/asm_*.s"},
	} {
		for _, p := range patterns {
			names, _ := filepath.Glob(filepath.Join(root, p))
			for _, name := range names[:min(len(names), 8)] {
				b, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				c[class] = append(c[class], string(b[:min(len(b), 12000)]))
			}
		}
	}
	for class, name := range map[string]string{
		"chinese": "zh.txt", "japanese": "ja.txt", "korean": "ko.txt", "python": "tool.py", "js": "app.js", "prose": "prose.txt",
		"russian": "ru.txt", "yaml": "deploy.yaml",
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		c[class] = append(c[class], string(b))
	}
	for class, text := range madeUp() {
		c[class] = append(c[class], text)
	}
	for _, class := range []string{"go", "python", "prose", "russian", "chinese", "log"} {
		for _, text := range c[class] {
			c["page of "+class] = append(c["page of "+class], number(text))
		}
	}
	return c
}

func number(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%d\t%s\n", 200+i, line)
	}
	return b.String()
}

func madeUp() map[string]string {
	r := rand.New(rand.NewSource(1))
	random := make([]byte, 3000)
	r.Read(random)
	var digits, ints, table, deep, log bytes.Buffer
	type item struct {
		ID    int      `json:"id"`
		Name  string   `json:"name"`
		Tags  []string `json:"tags"`
		Price float64  `json:"price"`
	}
	var items []item
	words := strings.Fields("alpha report window garden silver number button orange packet server user value order")
	for i := range 120 {
		w := words[r.Intn(len(words))]
		items = append(items, item{i * 37, w + " " + words[r.Intn(len(words))], []string{w, "new"}, float64(r.Intn(10000)) / 100})
		fmt.Fprintf(&digits, "%08d%08d%08d\n", r.Intn(1e8), r.Intn(1e8), r.Intn(1e8))
		fmt.Fprintf(&ints, "%d,%d,%d\n", r.Intn(10), r.Intn(1000), r.Intn(1e6))
		fmt.Fprintf(&table, "%-20s%-16s%10d\n", w, words[r.Intn(len(words))], r.Intn(1e5))
		fmt.Fprintf(&log, "2026-%02d-%02dT%02d:%02d:%02d.%03dZ INFO [%s] %s: request took=%dms user=%d\n",
			1+r.Intn(12), 1+r.Intn(28), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1000), w, words[r.Intn(len(words))], r.Intn(5000), r.Intn(1e6))
		fmt.Fprintf(&deep, "%s%s\n\n", strings.Repeat(" ", r.Intn(50)), w)
	}
	list, _ := json.MarshalIndent(items, "", "  ")
	return map[string]string{
		"base64": base64.StdEncoding.EncodeToString(random), "hex": hex.EncodeToString(random),
		"digits": digits.String(), "integers": ints.String(), "table": table.String(),
		"white space": deep.String(), "log": log.String(), "json": string(list),
	}
}

func TestLocalIsNearTheReference(t *testing.T) {
	reference, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	for class, texts := range corpus(t) {
		got, want, size := 0, 0, 0
		for _, text := range texts {
			n, err := reference.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			want += n
			got += Local{}.Count([]byte(text))
			size += len(text)
			if Rough(len(text), "") < n/4 {
				t.Errorf("%s: Rough says %d of %d tokens", class, Rough(len(text), ""), n)
			}
		}
		off := float64(got)/float64(want) - 1
		t.Logf("%-16s %7d bytes %6d tokens %+.1f %%", class, size, want, 100*off)
		if off > tolerance || off < -tolerance {
			t.Errorf("%s: %d tokens, the reference says %d (%+.1f %%)", class, got, want, 100*off)
		}
	}
}

func TestCommonMatchesTheReference(t *testing.T) {
	reference, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range "的一是中国文件変更人大龘鑫가이다뷁" {
		n, err := reference.Count(string(r))
		if err != nil || isCommon(r) != (n == 1) {
			t.Errorf("%c: %v, %d tokens, %v", r, isCommon(r), n, err)
		}
	}
}

func TestLocalOnOddBytes(t *testing.T) {
	for _, s := range []string{"", "\xff", "\x00\x01", "a", " ", "\n", "\r\n", "\t", "é", "\xe4\xb8", "   ", "A", "AB", "Ab1", "1", "!"} {
		if n := (Local{}).Count([]byte(s)); n < 0 || n > 2*len(s)+1 {
			t.Errorf("%q: %d", s, n)
		}
	}
}

func FuzzLocal(f *testing.F) {
	f.Add([]byte("func Count(b []byte) int { return 0 }\n\t日本 x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := (Local{}).Count(b); n < 0 || n > 4*len(b)+1 {
			t.Errorf("%d tokens of %d bytes", n, len(b))
		}
	})
}

func BenchmarkLocal(b *testing.B) {
	for class, texts := range corpus(b) {
		text := []byte(strings.Repeat(strings.Join(texts, "\n"), 3))
		b.Run(class, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Local{}.Count(text)
			}
		})
	}
}
