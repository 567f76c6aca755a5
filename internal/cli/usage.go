package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		commands = append(commands, c.Name())
	}
	return fmt.Errorf("unknown command %q%s", args[0], didYouMean(nearest(args[0], commands)))
}

// noArguments refuses arguments of a command that takes none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, and here is %q", cmd.CommandPath(), args[0])
}

// flagError adds to what is wrong with a flag what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && isURL(invalid.GetValue()) {
		return fmt.Errorf("--%s takes no URL: a server is given with --url URL", invalid.GetFlag().Name)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=") // -url instead of --url
		err = fmt.Errorf("unknown flag -%s", name)
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	near := nearest(name, flags)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return fmt.Errorf("%w%s", err, didYouMean(near))
}

func didYouMean(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(words, " or ") + "?"
}

// nearest are the words of a list that a mistyped one may mean, by the measure
// that cobra has for commands.
func nearest(word string, list []string) []string {
	if word == "" {
		return nil
	}
	measure := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, w := range slices.Compact(slices.Sorted(slices.Values(list))) {
		measure.AddCommand(&cobra.Command{Use: w, Run: func(*cobra.Command, []string) {}})
	}
	near := measure.SuggestionsFor(word)
	return near[:min(len(near), 3)]
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
		return fmt.Errorf("want %s%s", strings.Join(o.words, " or "), didYouMean(nearest(value, o.words)))
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
