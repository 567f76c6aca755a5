package shared

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// helpWidth is where help is wrapped unless the terminal is narrower, in characters.
const helpWidth = 100

// help returns what --help prints about a command: what it does, how it is called, its commands and its flags, of which
// most users need a few; all are what `--help all` prints, with all commands below it. Paragraphs and the words about
// flags are wrapped, examples are not.
func help(cmd *cobra.Command, width int, all bool) string {
	width = min(cmp.Or(width, helpWidth), helpWidth)
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		lines := text.Wrap(paragraph, width)
		if strings.HasPrefix(paragraph, " ") || strings.HasPrefix(paragraph, "\t") { // commands
			lines = breakLong(paragraph, width)
		}
		fmt.Fprintf(&b, "%s\n\n", strings.Join(lines, "\n"))
	}
	b.WriteString("Usage:\n")
	if cmd.Runnable() && !cmd.HasSubCommands() {
		fmt.Fprintf(&b, "%s\n", strings.Join(breakLong("  "+cmd.UseLine(), width), "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.Join(breakLong(cmd.Example, width), "\n"))
	}
	helpCommands(&b, cmd, width)
	if cmd.HasAvailableLocalFlags() {
		helpFlags(&b, cmd, width, all)
	}
	if all {
		for _, subcommand := range cmd.Commands() {
			if subcommand.IsAvailableCommand() {
				subcommand.InitDefaultHelpFlag() // it stands in the help, too
				fmt.Fprintf(&b, "\n\n%s\n\n%s", strings.ToUpper(subcommand.CommandPath()), help(subcommand, width, true))
			}
		}
	}
	return b.String()
}

// breakLong returns lines that are not wrapped but for those that are too long.
func breakLong(lines string, width int) []string {
	var all []string
	for line := range strings.SplitSeq(lines, "\n") {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		all = append(all, text.Break(line, width, blanks+4)...)
	}
	return all
}

// helpCommands adds the commands below a command.
func helpCommands(b *strings.Builder, cmd *cobra.Command, width int) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString("\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			line := fmt.Sprintf("  %-*s  %s", cmd.NamePadding(), c.Name(), c.Short)
			fmt.Fprintf(b, "%s\n", strings.Join(text.Break(line, width, cmd.NamePadding()+4), "\n"))
		}
	}
	words := fmt.Sprintf("%s COMMAND --help explains a command, and --help all lists every flag. %s completion "+
		"--help explains shell completion of commands, flags and their values.", cmd.CommandPath(), cmd.Root().Name())
	if cmd.HasParent() {
		words = fmt.Sprintf("%s COMMAND --help explains a command.", cmd.CommandPath())
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(text.Wrap(words, width), "\n"))
}

// Describe gives a program and its commands their long help and their examples. The text has a section for each, with
// its name in the first line.
//
//	== compare
//	It measures A and B in turns.
//
//	Examples:
//	  fwpbench compare A B
//
// It panics on a name that no command has: the text is part of the program.
func Describe(root *cobra.Command, text string) {
	all := append(root.Commands(), root)
	for section := range strings.SplitSeq(strings.TrimPrefix(text, "== "), "\n== ") {
		name, rest, _ := strings.Cut(section, "\n")
		long, examples, _ := strings.Cut(rest, "\n\nExamples:\n")
		cmd := all[slices.IndexFunc(all, func(c *cobra.Command) bool { return c.Name() == name })]
		cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	}
}
