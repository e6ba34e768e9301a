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
func ColumnWithoutOffset() error {
	return refuse(SlugBadArgument, "column pages through one long line: give offset (the line) with it. limit then counts characters.")
}

// TooLargeToRead refuses a plain Read of a large file; call is one that fits.
func TooLargeToRead(size, limit int64, call string) error {
	return refuse(SlugTooLarge, "File content (%s) exceeds maximum allowed size (%s). Please use offset and limit parameters to read specific portions of the file, or search for specific content. A call that fits: %s.",
		phrase.Above(size, limit), phrase.Limit(limit), call)
}

// TooManyTokens refuses a Read of more tokens than one answer has; call is one that
// fits.
func TooManyTokens(count, limit int, call string) error {
	return refuse(SlugTooManyTokens, "File content (%d tokens) exceeds maximum allowed tokens (%d). Please use offset and limit parameters to read specific portions of the file, or search for specific content. A call that fits: %s.", count, limit, call)
}
