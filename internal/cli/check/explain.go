package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// newExplain builds `fwpcheck explain`.
func newExplain(p process) *cobra.Command {
	return &cobra.Command{
		Use:   "explain CLAUSE|CHECK",
		Short: "Explain a clause, or print the script of a check",
		Long: "explain prints what a clause says, how strongly, where it comes from, how it is read, which checks\n" +
			"decide it and which faults of the embedded server they catch; or the script of a check, with all\n" +
			"else about it in comments, so that `fwpcheck run -` plays it.\n\n" +
			"A source is a document, a heading, and the block and sentence (item, row, line) below the heading.\n" +
			"fwpcheck spec compares the documents with those that the catalogue was written from.",
		Example: "  fwpcheck explain FWP-HI-01\n  fwpcheck explain hello/hi-form",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("want one clause or one check; fwpcheck list and fwpcheck list --clauses show them")
			}
			return nil
		},
		ValidArgsFunction: program.Complete(func() []string { return append(clauseNames(), suiteNames()...) }),
		RunE:              func(_ *cobra.Command, args []string) error { return p.explain(args[0]) },
	}
}

func (p process) explain(id string) error {
	all, err := checks()
	if err != nil {
		return err
	}
	for _, check := range all {
		if d := check.Describe(); d.ID == strings.TrimSuffix(id, ".fwp") {
			return p.Print(explainCheck(check, d))
		}
	}
	if c, ok := conformance.ClauseByID(strings.ToUpper(id)); ok {
		return p.Print(explainClause(c, checkRows(all)))
	}
	if clause := conformance.Suggest(id); clause != "" && !strings.Contains(id, "/") {
		return fmt.Errorf("there is no clause %q; %s", id, text.DidYouMean(clause))
	}
	return fmt.Errorf("there is no clause and no check %q%s", id, program.Suggestion(id, namesOf(all)))
}

func explainCheck(check conformance.Check, d conformance.Description) string {
	if p, is := check.(conformance.Property); is {
		return explainProperty(p)
	}
	return explainScript(d)
}

// explainScript is the script of a check and, below it and as comments, what the
// script does not say: so the lines keep their numbers, and the whole can be played.
func explainScript(d conformance.Description) string {
	var f fields
	for _, id := range clausesOf(d) {
		clause, _ := conformance.ClauseByID(id) // a test knows that there is one
		f.add("clauses", fmt.Sprintf("%s (%s): %s", id, clause.Level, clause.Statement))
	}
	for _, need := range d.Needs {
		f.add("needs", needs[need])
	}
	f.faults(faultsOf(fakes.Faults(), clausesOf(d)...))
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(strings.Join(d.Source, "\n"), "\n"))
	for line := range strings.Lines(f.text(textWidth - len("# "))) {
		b.WriteString("# " + line)
	}
	return b.String()
}

// explainProperty is what a check does that has no script.
func explainProperty(p conformance.Property) string {
	var f fields
	f.add("does", p.About)
	f.add("decides", "It fails each clause that it finds broken, with a script that shows it where one was found in time. "+
		"It passes no clause: it passes as a whole if nothing was found and most of its commands were answered.")
	f.add("waits", "up to "+p.Wait.String())
	return fmt.Sprintf("%s  property: %s\n\n%s", p.Name, p.Title, f.text(textWidth))
}

func explainClause(c conformance.Clause, checks []checkRow) string {
	var f fields
	for _, s := range c.Sources {
		f.add("source", explainSource(c, s))
	}
	f.add("binds", spelled(c.Party, parties))
	reading := c.Reading
	if c.Recorded {
		reading += " (What a target does is recorded, and is never a failure.)"
	}
	f.add("reading", reading)
	if c.Ambiguity != "" {
		f.add("settles", c.Ambiguity+": see "+ambiguities)
	}
	f.add("takes", spelled(c.Special, specials))
	for _, check := range checks {
		if slices.Contains(check.Clauses, c.ID) {
			f.add("checks", check.ID+": "+check.Title)
		}
	}
	switch {
	case c.Excluded != "":
		f.add("excluded", c.Excluded)
	case len(decidedBy(checks, c.ID)) > 0:
	case c.BindsServer():
		f.add("checks", "none yet")
	default:
		f.add("checks", "none: it does not bind servers")
	}
	f.faults(faultsOf(fakes.Faults(), c.ID))
	return fmt.Sprintf("%s  %s: %s\n\n%s\n\n%s", c.ID, c.Level, c.Level.Words(),
		strings.Join(text.Wrap(c.Statement, textWidth), "\n"), f.text(textWidth))
}

// explainSource returns where a clause is stated.
func explainSource(c conformance.Clause, s conformance.Source) string {
	text := s.Document
	if s.Heading != "" {
		text = fmt.Sprintf("%s, %s, %s", s.Document, s.Heading, s.Units)
	}
	if c.Level == reports.LevelDerived {
		text = "follows from " + text
	}
	return text
}

// fields are labelled texts, in their order.
type fields [][2]string

// add appends a text, unless it is empty. Where a label comes again it is not
// printed.
func (f *fields) add(label, text string) {
	if text != "" {
		*f = append(*f, [2]string{label, text})
	}
}

// faults adds faults of the fakes. That they are caught is what internal/selftest
// proves.
func (f *fields) faults(faults []fakes.Fault) {
	for _, fault := range faults {
		f.add("faults", fault.Name+": "+fault.Summary)
	}
}

// text is all of it in lines of at most so many characters.
func (f fields) text(width int) string {
	var b strings.Builder
	last := ""
	for _, field := range f {
		label := field[0]
		for i, line := range text.Wrap(field[1], width-labelWidth) {
			if i > 0 || label == last {
				label = ""
			}
			fmt.Fprintf(&b, "%-*s%s\n", labelWidth, label, line)
		}
		last = field[0]
	}
	return b.String()
}

// ambiguities is where the places are listed of which the specification leaves open how
// they are meant.
const ambiguities = "docs/ambiguities.md"

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

var needs = map[scenarios.Need]string{
	scenarios.NeedOpen: "a server without a password", scenarios.NeedPassword: "a server with a password",
	scenarios.NeedSignals: "an operator who quiets or terminates workers", scenarios.NeedRestart: "a restart",
	scenarios.NeedKill: "a kill and a start", scenarios.NeedAlone: "a server that nobody else uses",
	scenarios.NeedFlush: "a server whose jobs may all be deleted", scenarios.NeedEmbedded: "an embedded server that is set up for it",
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
