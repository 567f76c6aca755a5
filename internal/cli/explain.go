package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/scenarios"
)

// newExplain builds `fwpcheck explain`.
func newExplain(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "explain CLAUSE|CHECK",
		Short: "Explain a clause, or print the script of a check",
		Long: "explain prints what a clause says, how strongly, where it comes from, how it is read and which\n" +
			"checks decide it; or the script of a check, which `fwpcheck run -` would play.",
		Example: "  fwpcheck explain FWP-HI-01",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want one clause or one check; fwpcheck list and fwpcheck list --clauses show them")
			}
			return nil
		},
		ValidArgsFunction: complete(func() []string { return append(clauseNames(), suiteNames()...) }),
		RunE:              func(_ *cobra.Command, args []string) error { return p.explain(args[0]) },
	}
}

func (p Process) explain(id string) error {
	scripts, err := suite()
	if err != nil {
		return err
	}
	var names []string
	for _, s := range scripts {
		names = append(names, s.Name)
		if s.Name == strings.TrimSuffix(id, ".fwp") {
			return p.print(source(s))
		}
	}
	if c, ok := conformance.ClauseByID(strings.ToUpper(id)); ok {
		return p.print(explainClause(c, decidedBy(checkRows(scripts), c.ID)))
	}
	near := nearest(id, names)
	if clause := conformance.Suggest(id); clause != "" && !strings.Contains(id, "/") {
		near = []string{clause}
	}
	return fmt.Errorf("there is no clause and no check %q%s", id, didYouMean(near))
}

// source is the text of a script.
func source(s *scenarios.Script) string {
	return strings.TrimRight(strings.Join(s.Source, "\n"), "\n") + "\n"
}

func explainClause(c conformance.Clause, checks []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s\n\n", c.ID, c.Level, c.Level.Words())
	for _, line := range wrap(c.Statement, textWidth) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b)
	decided := strings.Join(checks, ", ")
	switch {
	case decided == "" && !c.BindsServer():
		decided = "none: it does not bind servers"
	case decided == "":
		decided = "none yet"
	}
	reading := c.Reading
	if c.Recorded {
		reading += " (What a target does is recorded, and is never a failure.)"
	}
	for _, field := range [][2]string{
		{"section", c.Section}, {"binds", spelled(c.Party, parties)}, {"reading", reading},
		{"settles", c.Ambiguity}, {"takes", spelled(c.Special, specials)}, {"checks", decided},
	} {
		label := field[0]
		for _, line := range wrap(field[1], textWidth-labelWidth) {
			fmt.Fprintf(&b, "%-*s%s\n", labelWidth, label, line)
			label = ""
		}
	}
	return b.String()
}

const (
	textWidth  = 100
	labelWidth = 10
)

var parties = map[string]string{"S": "servers", "C": "clients", "K": "consumers", "P": "producers"}

var specials = map[string]string{
	"pw": "a server with a password", "wait": "up to a minute", "long": "more than a minute",
	"sig": "an operator who quiets or terminates workers", "rst": "a restart", "env": "a certain environment",
	"adv": "a scripted server, since it binds clients",
}

// spelled writes out a list of abbreviations.
func spelled(list string, words map[string]string) string {
	var all []string
	for _, short := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		if long, ok := words[short]; ok {
			short = long
		}
		all = append(all, short)
	}
	return strings.Join(all, ", ")
}

// wrap breaks a text into lines of at most so many characters, as far as its
// words allow; an empty text has no lines.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
