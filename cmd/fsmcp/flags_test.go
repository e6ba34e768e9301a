//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
	look(commands(process{}))
	if seen < 20 {
		t.Errorf("only %d flags take a value", seen)
	}
}
