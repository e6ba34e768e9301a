package edit

import (
	"fmt"
	"strings"
	"testing"
)

// program is n bytes that look like a program.
func program(n int, eol string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "func step%d(ctx context.Context, in *Input) (out Output, err error) {%s\tif in.Size > %d {%s\t\treturn out, fmt.Errorf(\"step %d: too large\")%s\t}%s\treturn in.next(ctx)%s}%s%s", i, eol, i%97, eol, i, eol, eol, eol, eol, eol)
	}
	return b.String()[:n]
}

var sizes = []struct {
	name string
	n    int
}{{"1KB", 1 << 10}, {"1MB", 1 << 20}, {"64MB", 64 << 20}}

// The needles stand at the end of each text once and nowhere before.
const (
	word  = "\treturn the.needle(ctx)"
	block = "\tif the.needle > 5 {\n\t\treturn out, fmt.Errorf(\"needle: too large\")\n\t}\n"
)

func BenchmarkApply(b *testing.B) {
	for _, size := range sizes {
		for _, c := range []struct{ name, eol, needle string }{
			{"word", "\n", word}, {"block", "\n", block}, {"blockCRLF", "\r\n", block},
		} {
			text := program(size.n, c.eol) + strings.ReplaceAll(c.needle, "\n", c.eol)
			b.Run(c.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Apply(text, Request{Old: c.needle, New: "\tgone()"}); err != nil {
						b.Fatal(err)
					}
				}
			})
			needle := strings.ReplaceAll(c.needle, "\n", c.eol)
			b.Run(c.name+"/"+size.name+"/strings.Index", func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if !strings.Contains(text, needle) {
						b.Fatal("lost")
					}
				}
			})
		}
	}
}

// BenchmarkNotFound runs through all four rules.
func BenchmarkNotFound(b *testing.B) {
	prose := strings.Repeat("Das “große” Café: schön & grün, ‘naïve’ façade.\n", 1<<20/56)
	chinese := strings.Repeat("这是一个测试文本，用于衡量速度。“引号”也在这里。\n", 1<<20/76)
	for _, c := range []struct{ name, text, old string }{
		{"source", program(1<<20, "\n"), `the "needle" is gone`},
		{"prose", prose, `Das "große" Café ist fort`},
		{"decomposed", strings.Repeat("cafe\u0301 au lait\n", 1<<20/16), "café noir"},
		{"chinese", chinese, "“这里”没有"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Apply(c.text, Request{Old: c.old, New: "x"}); err == nil {
					b.Fatal("found")
				}
			}
		})
	}
}

func BenchmarkReplaceAll(b *testing.B) {
	text := program(1<<20, "\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		res, err := Apply(text, Request{Old: "ctx", New: "c", ReplaceAll: true})
		if err != nil || len(res.Splices) < 1000 {
			b.Fatal(err)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	lines := strings.Split(program(1<<20, "\n"), "\n")
	text := strings.Join(lines, "\n")
	long := strings.Repeat(text, 64)
	chinese := strings.Repeat("这是一个测试文本，用于衡量速度。“引号”也在这里。\n", 1<<20/76)
	for _, c := range []struct{ name, text, old string }{
		{"indentation", text, strings.ReplaceAll(strings.Join(lines[20000:20010], "\n"), "\t", "    ")},
		{"words", text, strings.ReplaceAll(strings.Join(lines[20000:20010], "\n"), "large", "small")},
		{"nothing", text, "gone and away"},
		{"chinese", chinese, "这里没有这个文本"},
		{"64MB", long, strings.ReplaceAll(strings.Join(lines[20000:20010], "\n"), "large", "small")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Nearest(c.text, c.old, "x")
			}
		})
	}
}
