package refusal

import "github.com/fsmcp/fsmcp/internal/phrase"

// codeRange is the number for an argument out of its range.
const codeRange = 7

func badRange(format string, a ...any) error {
	return refuseAs(codeRange, SlugBadArgument, format, a...)
}

// BadOffset refuses a negative offset.
func BadOffset(offset int) error {
	return badRange("offset is the number of the first line, counted from 1; %d is negative.", offset)
}

// BadLimit refuses a limit below 1.
func BadLimit(limit int) error {
	return badRange("limit is how many lines to read (with column: characters) and must be at least 1; %d is not.", limit)
}

// BadColumn refuses a column below 1.
func BadColumn(column int) error {
	return badRange("column is the number of the first character, counted from 1; %d is not one.", column)
}

// ColumnWithoutOffset refuses a column of no line.
var ColumnWithoutOffset = refuse(SlugBadArgument, "column pages through one long line: give offset (the line) with it. limit then counts characters.")

// TooLargeToRead refuses a plain Read of a large file; call is one that fits. grep says that
// the caller has Grep.
func TooLargeToRead(size, limit int64, call string, grep bool) error {
	return refuse(SlugTooLarge, "File content (%s) exceeds maximum allowed size (%s). Please use offset and limit parameters to read specific portions of the file, or search for specific content%s. A call that fits: %s.",
		phrase.Above(size, limit), phrase.Limit(limit), withGrep(grep), call)
}

// withGrep names the tool to search with.
func withGrep(grep bool) string {
	if grep {
		return " with Grep"
	}
	return ""
}

// TooManyTokens refuses a Read of more tokens than one answer has; call is one that
// fits. grep says that the caller has Grep.
func TooManyTokens(count, limit int, call string, grep bool) error {
	return refuse(SlugTooManyTokens, "File content (%d tokens) exceeds maximum allowed tokens (%d). Please use offset and limit parameters to read specific portions of the file, or search for specific content%s. A call that fits: %s.", count, limit, withGrep(grep), call)
}
