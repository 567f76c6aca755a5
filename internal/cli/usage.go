package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/text"
)

// unknownCommand refuses arguments of the program that are no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if isURL(args[0]) {
		return fmt.Errorf("a server is given with --url: %s run --url URL", cmd.Name())
	}
	if strings.HasSuffix(args[0], ".fwp") {
		return fmt.Errorf("no command: to play a script: fwpcheck run %s", args[0])
	}
	if ext := filepath.Ext(args[0]); ext == ".yaml" || ext == ".yml" {
		return fmt.Errorf("no command: to run a workload: fwpbench run %s", args[0])
	}
	var commands []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			commands = append(commands, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", args[0], meant(args[0], commands))
}

// noArguments refuses arguments of a command that takes none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, and here is %q", cmd.CommandPath(), args[0])
}

// meant ends a message about an unknown word: "; did you mean push or pop?", or "" if
// none of the known ones is near.
func meant(word string, known []string) string {
	if ask := text.DidYouMean(text.Candidates(word, known)...); ask != "" {
		return "; " + ask
	}
	return ""
}

func isURL(arg string) bool { return strings.Contains(arg, "://") }

// oneOf is a flag that takes one of a few words, the first unless told
// otherwise.
type oneOf struct {
	words []string
	value string
}

func newOneOf(words ...string) oneOf { return oneOf{words: words, value: words[0]} }

func (o *oneOf) String() string { return o.value }
func (o *oneOf) Type() string   { return strings.Join(o.words, "|") }

func (o *oneOf) Set(value string) error {
	if !slices.Contains(o.words, value) {
		return fmt.Errorf("want %s%s", strings.Join(o.words, " or "), meant(value, o.words))
	}
	o.value = value
	return nil
}

// complete offers words to the shell.
func complete(words func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}
