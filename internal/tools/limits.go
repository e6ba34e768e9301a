package tools

import "github.com/fsmcp/fsmcp/internal/state"

// Limits of Read (source: the specification of the tools, "Read").
const (
	// defaultLines bounds the lines of a Read without limit.
	defaultLines = 2000
	// defaultColumns bounds the characters of a Read with column and without limit.
	defaultColumns = 4000
	// DefaultMaxTokens bounds the text of one Read.
	DefaultMaxTokens = 25_000
	// answerBytes bounds any answer's text.
	answerBytes = 4 << 20
	// answerRest is kept free in an answer for what stands around the text.
	answerRest = 1 << 10
	// readInMemory is the size up to which Read holds a file in memory; larger
	// ones are scanned in constant memory.
	readInMemory = 8 << 20
	// changeInMemory is the size up to which a file is held in memory to be changed;
	// larger ones are searched as a stream.
	changeInMemory = state.InMemory
	// maxEditBytes is the largest file that Edit changes.
	maxEditBytes = 1 << 30
)
