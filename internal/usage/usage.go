// Package usage says in one sentence what is wrong with a command line, with the nearest
// right spelling, in place of the words of cobra and pflag.
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fsmcp/fsmcp/internal/similar"
)

// otherWords are the words that users try for a command, by the line that they begin.
var otherWords = map[string]string{
	"fsmcp revert": "fsmcp undo", "fsmcp restore": "fsmcp history restore", "fsmcp diff": "fsmcp history diff",
	"fsmcp log": "fsmcp history list", "fsmcp install": "fsmcp config", "fsmcp setup": "fsmcp config", "fsmcp check": "fsmcp doctor",
	"fsmcp history undo": "fsmcp history restore", "fsmcp history revert": "fsmcp history restore", "fsmcp history log": "fsmcp history list",
	"fsmcp history ls": "fsmcp history list", "fsmcp history cat": "fsmcp history show",
}

// Nearest returns a question for the name that a user may have meant, "" if none is near.
func Nearest(name string, names []string) string {
	if near := similar.Near(name, names, 1); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return ""
}

// Command describes a command to its users.
type Command struct {
	Path     string   // the words that call it
	Form     string   // of the words behind them, such as ID
	Commands []string // the names of its own commands
}

// Words returns what is wrong with the words behind a command, which takes from least to
// most of them. cobra's own checks have words that do not say what is missing.
func (c Command) Words(words []string, least, most int) error {
	switch {
	case len(words) < least:
		return fmt.Errorf("%s is missing: %s %s", strings.TrimSuffix(c.Form, "..."), c.Path, c.Form)
	case len(words) <= most:
		return nil
	case c.Commands == nil && most > 0:
		return fmt.Errorf("%s takes one %s, and %q is one too many", c.Path, c.Form, words[most])
	case c.Commands == nil:
		return fmt.Errorf("%s takes no words, and there is %q", c.Path, words[most])
	}
	line := c.Path + " " + words[0]
	if meant, known := otherWords[line]; known {
		return fmt.Errorf("unknown command %q (did you mean %s?)", line, meant)
	}
	return fmt.Errorf("unknown command %q%s; %s --help lists them", line, Nearest(words[0], c.Commands), c.Path)
}

// Flag says what is wrong with a flag of a command, in place of the library's words.
func Flag(path string, flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var lacking *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%s: those of %s begin with two dashes", unknown.GetSpecifiedName(), path)
	case errors.As(err, &unknown):
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return fmt.Errorf("unknown flag %s of %s%s", name, path, Nearest(name, names))
	case errors.As(err, &lacking):
		word, _ := pflag.UnquoteUsage(lacking.GetFlag())
		return fmt.Errorf("--%s lacks its value: --%s %s", lacking.GetFlag().Name, lacking.GetFlag().Name, word)
	case errors.As(err, &wrong) && wrong.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s takes true or false, not %q", wrong.GetFlag().Name, wrong.GetValue())
	case errors.As(err, &wrong) && wrong.GetFlag().Value.Type() == "intSlice":
		return fmt.Errorf("--%s takes a whole number, not %q", wrong.GetFlag().Name, wrong.GetValue())
	case errors.As(err, &wrong):
		return fmt.Errorf("--%s does not take %q", wrong.GetFlag().Name, wrong.GetValue())
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is not the name of a flag", syntax.GetSpecifiedFlag())
	}
	return err
}
