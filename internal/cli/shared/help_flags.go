package shared

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// essentialFlags has the flags that most users of a command need, in the order of its help. The others are shown by
// `--help all`, and so are all flags of a command that is not here.
var essentialFlags = map[string]string{
	"fwpcheck run": "url start protocol quick check clause expect update-expect config seed save format output verbose " +
		"output help",
	"fwpcheck explore": "url start protocol time seed wait save format output verbose help",
	"fwpcheck compare": "start protocol time seed format output verbose help",
	"fwpcheck worker":  "quick check clause expect update-expect seed format output verbose help",
	"fwpcheck client":  "quick check clause expect update-expect seed format output verbose help",
	"fwpbench run": "url start protocol preset rate duration producers consumers jobs seed disrupt threshold " +
		"history format output verbose help",
	"fwpbench capacity": "url start protocol threshold from most step confirm precision preset producers consumers " +
		"format output help",
	"fwpbench compare": "run protocol pairs block margin preset rate producers consumers format output help",
}

// groups are the headings of `--help all`, and the flags below each, in all commands of both programs. Those that are
// not here come last.
var groups = []struct{ title, flags string }{
	{"the server",
		"url start from-environment embedded password-file tls-ca tls-server-name tls-insecure tls-cert tls-key " +
			"show-secrets protocol extension subject run requests " +
			"exclusive allow-flush control bug variation start-timeout server-log worker-log grace"},
	{"what is played", "check clause level quick require strict expect update-expect time steps findings differences " +
		"replay shrink no-shrink"},
	{"the connections", "connections clients producers consumers observers"},
	{"how it is played", "seed wait timeout patience parallel repeat fail-fast"},
	{"the search", "from most step confirm precision"},
	{"the comparison", "pairs block margin primary aa floor burden"},
	{"the load", "preset rate stages trace trace-speed poisson burst batch duration jobs warmup think " +
		"backlog topology fetchers reporters concurrency churn beat-only observe-every disconnects disconnect-at drain"},
	{"the jobs",
		"job payload exact-integers queues queue-pick queue-weights queue-rates queue-skew job-types " +
			"reserve-for work fail-share retry delay prefill"},
	{"the generator", "overload connect-rate processors engine segment start-at"},
	{"disruptions", "disrupt disrupt-every"},
	{"results",
		"threshold abort-on percentiles show-invalid hlog hgrm csv history history-limit serve-metrics " +
			"serve-metrics-linger benchfmt save format output details verbose color " +
			"no-progress config help"},
}

// flagWidth is how long the name of a flag and its value may be beside their description, in characters.
const flagWidth = 30

// helpFlags adds the flags of a command: those that most users need, or all of them by groups.
func helpFlags(b *strings.Builder, cmd *cobra.Command, width int, all bool) {
	essentials := strings.Fields(essentialFlags[cmd.CommandPath()])
	var flags []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f)
		}
	})
	if len(essentials) == 0 {
		helpGroup(b, "Flags", flags, width)
		return
	}
	split := func(names string) (found, others []*pflag.Flag) {
		list := strings.Fields(names)
		for _, f := range flags {
			if slices.Contains(list, f.Name) {
				found = append(found, f)
			} else {
				others = append(others, f)
			}
		}
		return found, others
	}
	if !all {
		found, others := split(essentialFlags[cmd.CommandPath()])
		helpGroup(b, "Flags", found, width)
		words := fmt.Sprintf("%s more, in groups: %s --help all", text.Count(len(others), "flag"), cmd.CommandPath())
		fmt.Fprintf(b, "\n%s\n", strings.Join(text.Wrap(words, width), "\n"))
		return
	}
	for _, group := range groups {
		var found []*pflag.Flag
		found, flags = split(group.flags)
		helpGroup(b, "Flags for "+group.title, found, width)
	}
	helpGroup(b, "Other flags", flags, width)
}

// helpGroup adds flags below a heading: name and value, and the description beside them or, where they are long, below.
func helpGroup(b *strings.Builder, title string, flags []*pflag.Flag, width int) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	column := 0
	for _, f := range flags {
		if name, _ := describeFlag(f); len(name) <= flagWidth {
			column = max(column, len(name)+2)
		}
	}
	column = min(column, width/2)
	for _, f := range flags {
		name, words := describeFlag(f)
		line := fmt.Sprintf("%-*s%s", column, name, words)
		if len(name) > column-2 {
			fmt.Fprintf(b, "%s\n", strings.Join(text.Break(name, width, column), "\n"))
			line = strings.Repeat(" ", column) + words
		}
		fmt.Fprintf(b, "%s\n", strings.Join(text.Break(line, width, column), "\n"))
	}
}

// describeFlag returns a flag with its value as usages have them ("  -o, --output FILE"), and what it is for with its
// default. The words to choose from are part of that.
func describeFlag(f *pflag.Flag) (name, words string) {
	flag := *f
	if choice, ok := f.Value.(*OneOf); ok {
		flag.Usage += ": " + strings.Join(choice.Words(), ", ")
	}
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.AddFlag(&flag)
	line := strings.TrimSuffix(set.FlagUsages(), "\n")
	name, words, _ = strings.Cut(line[6:], "   ")
	return line[:6] + name, strings.TrimSpace(words)
}
