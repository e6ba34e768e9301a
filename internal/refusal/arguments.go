package refusal

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// BadArguments refuses a call for faults of its arguments, which are sentences of the functions
// below. known lists the tool's arguments.
func BadArguments(tool, known string, faults []string) *Refusal {
	return refuse(SlugBadArgument, "The arguments of %s cannot be used. %s %s takes: %s.", tool, strings.Join(faults, " "), tool, known)
}

// UnknownArgument says that the tool has no such argument. near is the one that the caller
// most likely meant, or "".
func UnknownArgument(name, near string) string {
	if near == "" {
		return fmt.Sprintf("There is no argument %s.", Argument(name))
	}
	return fmt.Sprintf("There is no argument %s; did you mean %s?", Argument(name), near)
}

// NotAnObject refuses arguments that are no JSON object; kind is their own kind.
func NotAnObject(tool, kind, known string) *Refusal {
	return refuse(SlugBadArgument, "The arguments of %s must be one JSON object, not %s. It takes: %s.", tool, kind, known)
}

// Argument quotes text from a caller, shortened, so that neither a terminal nor a model
// takes it for more than text.
func Argument(s string) string { return phrase.QuoteAtMost(s, 80) }

// BadName says that an argument's name is no valid string. surrogate: it holds half of
// a surrogate pair.
func BadName(name string, surrogate bool) string {
	flaw := "not valid UTF-8"
	if surrogate {
		flaw = `a string with a lone surrogate (half of a \uXXXX\uXXXX pair)`
	}
	return fmt.Sprintf("The argument name %s is %s.", Argument(name), flaw)
}

// BadString says that an argument's value is no valid string.
func BadString(name string, surrogate bool) string {
	if surrogate {
		return name + ` holds a lone surrogate, half of a \uXXXX\uXXXX pair, which no file can hold; send the whole character.`
	}
	return name + " is not valid UTF-8; send the text as UTF-8."
}

// GivenTwice says that an argument stands in a call twice.
func GivenTwice(name string) string { return name + " was given twice; give it once." }

// UnknownGivenTwice says so of an argument that the tool does not have.
func UnknownGivenTwice(name string) string { return GivenTwice(Argument(name)) }

// Required says that a required argument is missing.
func Required(name string) string { return name + " is required." }

// NotYet says that an argument of a later version cannot be used.
func NotYet(name, why string) string {
	return fmt.Sprintf("%s cannot be used: %s. Leave it out.", name, why)
}

// NotAString says that a value is no string. json: it is an object or an array.
func NotAString(name, kind string, json bool) string {
	hint := ""
	if json {
		hint = " (text that is JSON itself must be sent as one string)"
	}
	return fmt.Sprintf("%s must be a string, not %s%s.", name, kind, hint)
}

// NotABool says that a value is neither true nor false; value is its kind or its text in
// quotes.
func NotABool(name, value string) string {
	return fmt.Sprintf("%s must be true or false, not %s.", name, value)
}

// NotWhole says that a value is no whole number; value is as for NotABool.
func NotWhole(name, value string) string {
	return fmt.Sprintf("%s must be a whole number, not %s.", name, value)
}

// TooLargeNumber says that a number is beyond every bound.
func TooLargeNumber(name, text string) string {
	return fmt.Sprintf("%s is too large a number: %s.", name, Argument(text))
}
