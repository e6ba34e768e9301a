// Package tokens estimates how many tokens of a language model a text takes, without the
// model.
//
// It promises two estimates. Rough knows a size and a file type only. Local reads
// the text once, knows no vocabulary, and stays within 15 % of a public byte-pair
// tokenizer (cl100k_base) on the kinds of text that its tests name.
//
// It does not promise the count of a certain model, nor that one more byte never
// lowers the count by a token.
//
// Local is at most 8 % off on the texts of its tests, and 11 % on those of other kinds. A
// run of signs and a run of white space each count alike, however long: weights by length
// and kind made the first figure 12 %. A weight for each class of
// characters alone was rejected: fitted to these very texts it is 27 % off, fitted to
// others 46 %. Weights for characters and runs of each class, fitted to others, are 39 %
// off. The tokenizer itself (tiktoken-go v0.10.0) takes 60 ms to load and 190 ms for
// 200 KB of Go, Local 0.25 ms.
package tokens

// Counter is a careful count of the tokens in a text as a model sees it.
// Implementations are safe for use by several goroutines.
type Counter interface {
	Count(b []byte) int
}

// Rough guesses the tokens of size bytes of a file with the extension ext (lower
// case, without the dot). It never returns less than a quarter of them, since a token
// has at least one byte: a text whose Rough is at most a quarter of a limit is within
// the limit.
func Rough(size int, ext string) int {
	switch ext {
	case "json", "jsonl", "ndjson", "csv", "tsv", "svg", "pem", "lock", "sum", "map":
		return (size + 1) / 2
	case "log", "xml", "yaml", "yml", "toml", "asm", "s":
		return (size + 2) / 3
	}
	return (size + 3) / 4
}
