//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestSubcommands checks the names by which one command is chosen without making the others.
func TestSubcommands(t *testing.T) {
	for _, c := range subcommands() {
		cmd := c.make(process{})
		if want := append([]string{cmd.Name()}, cmd.Aliases...); !slices.Equal(c.names, want) {
			t.Errorf("%q makes %q", c.names, want)
		}
	}
	for _, c := range []struct {
		line     string
		terminal bool
		want     int
	}{
		{"serve /a", false, 1}, {"stdio", true, 1}, {"doctor --json", true, 1},
		{"", false, 0}, {"", true, len(subcommands())}, {"--help", false, len(subcommands())}, {"serv", false, len(subcommands())}, {"__complete serve", false, len(subcommands())},
	} {
		if got := neededFor(strings.Fields(c.line), c.terminal); len(got) != c.want {
			t.Errorf("%q needs %d commands, not %d", c.line, len(got), c.want)
		}
	}
}

// TestHelp checks that help fits a terminal of 80 columns, and that --json is described alike
// everywhere.
func TestHelp(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Short + "\n" + cmd.Long) {
			if code := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t"); !code && len(line) > 81 {
				t.Errorf("%s: %s", cmd.CommandPath(), line)
			}
		}
		if f := cmd.Flags().Lookup("json"); f != nil && !strings.HasPrefix(f.Usage, "print JSON: ") {
			t.Errorf("%s --json: %s", cmd.CommandPath(), f.Usage)
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "completion" { // cobra's
				look(sub)
			}
		}
	}
	look(commands(process{}, subcommands()))
}

// The placeholder of a flag's value is in capitals, so that none reads like a value.
func TestFlagPlaceholders(t *testing.T) {
	seen := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name != "" {
				seen++
				if name != strings.ToUpper(name) {
					t.Errorf("%s --%s %s", cmd.CommandPath(), f.Name, name)
				}
			}
		})
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(commands(process{}, subcommands()))
	if seen < 20 {
		t.Errorf("only %d flags take a value", seen)
	}
}
