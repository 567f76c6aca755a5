package shared

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports/formats"
)

// UnknownCommand returns an error for arguments of the program that are not a command.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if IsURL(args[0]) {
		return fmt.Errorf("use --url for a server: %s run --url URL", cmd.Name())
	}
	if strings.HasSuffix(args[0], ".fwp") {
		return fmt.Errorf("this is not a command; to play a script: fwpcheck run %s", args[0])
	}
	if ext := filepath.Ext(args[0]); ext == ".yaml" || ext == ".yml" {
		return fmt.Errorf("this is not a command; to run a workload: fwpbench run %s", args[0])
	}
	var commands []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			commands = append(commands, c.Name())
		}
	}
	if newName := text.Replacement(args[0]); slices.Contains(commands, newName) {
		return fmt.Errorf("unknown command %q: it is now called %s", args[0], newName)
	}
	return fmt.Errorf("unknown command %q%s", args[0], Suggestion(args[0], commands))
}

// NoArguments returns an error if a command that takes no arguments gets some.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
}

// Suggestion returns the end of a message about an unknown word: "; did you mean push or
// pop?", or "" if no known word is similar.
func Suggestion(word string, candidates []string) string {
	if question := text.DidYouMean(text.Candidates(word, candidates)...); question != "" {
		return "; " + question
	}
	return ""
}

// IsURL reports whether an argument looks like a URL.
func IsURL(arg string) bool { return strings.Contains(arg, "://") }

// OneOf is a flag that takes one of a few words; the first is the default. It is a
// pflag.Value.
type OneOf struct {
	words   []string
	value   string
	isGiven bool
}

// NewOneOf returns a flag that takes one of these words.
func NewOneOf(words ...string) OneOf { return OneOf{words: words, value: words[0]} }

// String returns the word that was chosen.
func (o *OneOf) String() string { return o.value }

// Words returns the words to choose from.
func (o *OneOf) Words() []string { return o.words }

// Type returns what the help of the flag has for its value; the words are in the description.
func (o *OneOf) Type() string { return "WORD" }

// Set implements pflag.Value.
func (o *OneOf) Set(value string) error {
	if !slices.Contains(o.words, value) {
		return fmt.Errorf("expected %s%s", strings.Join(o.words, " or "), Suggestion(value, o.words))
	}
	o.value, o.isGiven = value, true
	return nil
}

// CompleteFlags completes the values of flags, by their names, with words: in a command and in those below it, where
// they have the flag and nothing completes it yet.
func CompleteFlags(cmd *cobra.Command, words map[string]func() []string) {
	completeFlags(cmd, func(f *pflag.Flag) cobra.CompletionFunc {
		if list := words[f.Name]; list != nil {
			return Complete(list)
		}
		return nil
	})
}

// defaultCompletion completes the flags that mean the same in every command: the protocol, the bug, and those that take
// one of a few words.
func defaultCompletion(f *pflag.Flag) cobra.CompletionFunc {
	choice, ok := f.Value.(*OneOf)
	switch {
	case ok:
		return Complete(choice.Words)
	case f.Name == "protocol":
		return Complete(registry.Names)
	case f.Name == "extension":
		return Complete(registry.Default().ExtensionNames)
	case f.Name == "bug":
		return completeNames((*registry.Entry).BugNames)
	case f.Name == "variation":
		return completeNames((*registry.Entry).VariationNames)
	}
	return nil
}

// completeFlags completes the flags of a command and of those below it, where completion returns something for a flag.
func completeFlags(cmd *cobra.Command, completion func(*pflag.Flag) cobra.CompletionFunc) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete := completion(f)
		if _, exists := cmd.GetFlagCompletionFunc(f.Name); complete == nil || exists || f.Value.Type() == "bool" {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // it exists, and has no completion yet
		}
	})
	for _, subcommand := range cmd.Commands() {
		completeFlags(subcommand, completion)
	}
}

// OtherFlag returns a flag that was given and is not one of these, empty if there is none.
func OtherFlag(flags *pflag.FlagSet, names []string) (other string) {
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			other = f.Name
		}
	})
	return other
}

// Complete completes an argument or a flag with words.
func Complete(words func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	}
}

// refuseEmpty returns an error for a flag of a command that names a file or a folder and was given without a name.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if kind, _ := pflag.UnquoteUsage(f); (kind == "FILE" || kind == "FOLDER") && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty: give a %s", f.Name, strings.ToLower(kind))
		}
	})
	return err
}

// flagError returns an error of pflag with a suggestion; one about a value is in the words of package plan.
func flagError(cmd *cobra.Command, err error) error {
	if valueErr, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return invalidValue(valueErr)
	}
	if flagErr, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, flagErr)
	}
	return err
}

func invalidValue(valueErr *pflag.InvalidValueError) error {
	flag, text, cause := valueErr.GetFlag(), valueErr.GetValue(), valueErr.Unwrap()
	if IsURL(text) {
		return fmt.Errorf("--%s does not take a URL; use --url URL for a server", flag.Name)
	}
	if _, ok := errors.AsType[*plan.Problem](cause); !ok {
		if problem := valueError(flag.Value.Type(), text); problem != nil {
			cause = problem
		}
	}
	return fmt.Errorf("--%s: %w", flag.Name, cause)
}

// SetFlag sets a flag to a value that a file has. The error is a [plan.Problem].
func SetFlag(f *pflag.FlagSet, name, value string) error {
	if err := f.Set(name, value); err != nil {
		return flagProblem(err)
	}
	return nil
}

// flagProblem returns an error of pflag about a value as a problem of a file that has it.
func flagProblem(err error) *plan.Problem {
	valueErr, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return &plan.Problem{Description: err.Error(), Expected: "another value", Do: "see --help all"}
	}
	flag, value := valueErr.GetFlag(), valueErr.GetValue()
	problem, ok := errors.AsType[*plan.Problem](cmp.Or(valueError(flag.Value.Type(), value), valueErr.Unwrap()))
	if !ok {
		problem = &plan.Problem{Description: strconv.Quote(value) + " is not valid", Expected: "another value",
			Do: valueErr.Unwrap().Error()}
	}
	return problem
}

// valueError returns why a text is not a value of a type that pflag itself reads, as a problem of package plan;
// nil for other types.
func valueError(kind, text string) error {
	p := &plan.Problem{}
	switch kind {
	case "duration":
		p.Description, p.Expected = "is not a valid duration", "a duration"
		p.Do = "write a number and a unit, as in 500ms, 30s or 5m"
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			p.Description = "has no unit"
		} else if durationPattern.MatchString(text) {
			p.Description, p.Do = "is too long", fmt.Sprintf("write %dh at most", math.MaxInt64/int64(time.Hour))
		}
	case "uint64":
		p.Description, p.Do = "is not a valid seed", "write digits, as in 42"
		p.Expected = fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64))
	case "uint16":
		p.Description, p.Expected, p.Do = "is not a valid port", "a whole number from 0 to 65535", "write digits, as in 7419"
	case "int":
		p.Description, p.Expected, p.Do = "is not a valid whole number", "a whole number", "write digits, as in 50"
	case "float64":
		p.Description, p.Expected, p.Do = "is not a valid number", "a number", "write it as in 50 or 0.5"
	case "bool":
		p.Description, p.Expected, p.Do = "is not true or false", "true or false", "write true or false, or the flag alone"
	default:
		return nil
	}
	p.Description = fmt.Sprintf("%q %s", text, p.Description)
	return p
}

// durationPattern matches durations, those that do not fit into 64 bits too.
var durationPattern = regexp.MustCompile(`^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

// unknownFlag returns an error about an unknown flag, with similar ones.
func unknownFlag(cmd *cobra.Command, flagErr *pflag.NotExistError) error {
	err, name := error(flagErr), flagErr.GetSpecifiedName()
	if letters := flagErr.GetSpecifiedShortnames(); letters != "" {
		name, _, _ = strings.Cut(letters, "=") // -url instead of --url
		err = fmt.Errorf("unknown flag -%s", name)
	}
	if newName := text.Replacement(name); newName != "" {
		return fmt.Errorf("%w: it is now called %s", err, newName)
	}
	if cmd.Flags().Lookup("output") != nil && slices.Contains(formats.Names(), name) {
		return fmt.Errorf("%w: write -o %s=FILE", err, name)
	}
	if name == "protocol" {
		return fmt.Errorf("%w: %s", err, registry.NoFlagReason(cmd.CommandPath()))
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s", err, Suggestion("--"+name, flags))
}
