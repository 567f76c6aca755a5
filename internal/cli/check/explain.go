package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
	"github.com/fwpsuite/fwp/scenarios"
)

// newExplain builds `fwpcheck explain`.
func newExplain(p process) *cobra.Command {
	protocol := ""
	cmd := &cobra.Command{
		Use:   "explain CLAUSE|CHECK|AMBIGUITY|BUG",
		Short: "Explain a clause, an ambiguity or a planted bug, or print the script of a check",
		Args: func(_ *cobra.Command, args []string) error {
			return errorIf(len(args) != 1,
				"give one clause, check, ambiguity or planted bug; fwpcheck list, list --clauses and "+
					"list --bugs show them")
		},
		ValidArgsFunction: shared.Complete(func() []string { return explainNames(registry.All()...) }),
		RunE:              func(_ *cobra.Command, args []string) error { return p.explain(args[0], protocol) },
	}
	shared.DeclareProtocol(cmd.Flags(), &protocol, "")
	return cmd
}

// explainNames returns the names of the clauses, the checks and the bugs of protocols.
func explainNames(protocols ...*registry.Entry) (names []string) {
	for _, p := range protocols {
		for _, c := range p.Clauses() {
			names = append(names, c.ID)
		}
		all, _ := p.Checks() // those of a suite with a mistake are not known
		names = slices.Concat(names, namesOf(all), run.Unlisted(p.Suite)[1:], p.BugNames())
	}
	return names
}

// explain explains what has an id. protocolName is the value of --protocol, empty for all.
func (p process) explain(id, protocolName string) error {
	protocols, err := expandExtensions(protocolName)
	if err != nil {
		return err
	}
	if c, ok := findClause(id); ok && slices.Contains(protocols, registry.OfClause(c.ID)) {
		checks, err := checksOf(registry.OfClause(c.ID))
		if err != nil {
			return err
		}
		return p.PrintPage(explainClause(c, checksByClause(checks)[c.ID]))
	}
	if page, ok := explainAmbiguity(id); ok {
		return p.PrintPage(page)
	}
	if page, ok := explainRule(id, protocols); ok {
		return p.PrintPage(page)
	}
	var all []conformance.Check
	for _, protocol := range protocols { // the scripts of the next ones are not parsed in vain
		checks, err := checksOf(protocol)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(checks, hasID(id)); i >= 0 {
			return p.explainCheck(checks[i])
		}
		all = append(all, checks...)
	}
	if page, ok := explainBugs(id, protocols, checksByClause(all)); ok {
		return p.PrintPage(page)
	}
	return unknownID(id, protocolName, protocols)
}

// hasID returns what recognizes the check of an id, which may end as its file does.
func hasID(id string) func(conformance.Check) bool {
	id = strings.TrimSuffix(id, ".fwp")
	return func(c conformance.Check) bool { return c.Describe().ID == id }
}

// explainCheck prints the script of a check, or what a property does.
func (p process) explainCheck(check conformance.Check) error {
	if property, ok := check.(conformance.Property); ok {
		return p.PrintPage(explainProperty(property))
	}
	return p.Print(explainScript(check.Describe()))
}

// unknownID returns the error for an id that nothing has.
func unknownID(id, protocolName string, protocols []*registry.Entry) error {
	for _, p := range protocols {
		if newID := p.Retired[strings.ToLower(id)]; newID != "" {
			return fmt.Errorf("there is no check %q; %s replaces it", id, newID)
		}
		if clause := p.Suggest(id); clause != "" && !strings.Contains(id, "/") {
			return fmt.Errorf("unknown clause %q; %s", id, text.DidYouMean(clause))
		}
	}
	if protocolName != "" {
		protocolName = " of " + protocolName
	}
	return fmt.Errorf("unknown clause, check, ambiguity or planted bug%s %q%s", protocolName, id, cmp.Or(
		shared.Suggestion(id, explainNames(protocols...)), "; see fwpcheck list [--clauses|--bugs], docs/ambiguities.md"))
}

// explainScript returns the script of a check and, below it as comments, its clauses, needs and bugs. The lines keep
// their numbers, and the text can be played.
func explainScript(d conformance.Description) string {
	var f explanation
	for _, id := range clausesOf(d) {
		clause, _ := registry.Clause(id) // a test knows that there is one
		f.add("clauses", fmt.Sprintf("%s (%s): %s", id, clause.Level, clause.Statement))
	}
	for _, need := range d.Needs {
		f.add("needs", needWords[need])
	}
	f.bugs(bugsOf(clausesOf(d)...))
	var b strings.Builder
	comment := page.Text(reports.Page{Blocks: []reports.Block{f.block()}}, page.TextOptions{Width: textWidth - len("# ")})
	fmt.Fprintf(&b, "%s\n\n", strings.TrimRight(strings.Join(d.Source, "\n"), "\n"))
	for line := range strings.Lines(string(comment)) {
		b.WriteString("# " + line)
	}
	return b.String()
}

// explainProperty returns the explanation of a check that has no script.
func explainProperty(p conformance.Property) reports.Page {
	var f explanation
	f.add("does", p.Summary)
	f.add("decides", "It fails each clause that it finds broken, with a script that reproduces it if one was found "+
		"in time. No clause passes by it. The check passes if nothing was found and most of its commands were answered.")
	f.add("waits", "up to "+p.Wait.String())
	return reports.Page{Blocks: []reports.Block{titleBlock(p.Name, "property: "+p.Title), f.block()}}
}

// explainRule returns the explanation of a rule of a protocol's law, by the name of its check.
func explainRule(id string, protocols []*registry.Entry) (reports.Page, bool) {
	for _, entry := range protocols {
		rule, ok := entry.Law.Rules[strings.TrimPrefix(id, reports.LawPrefix)]
		if !ok || !strings.HasPrefix(id, reports.LawPrefix) {
			continue
		}
		var f explanation
		f.add("does", "It is applied to every conversation of every script of "+entry.Title+", for any clauses that its "+
			"lines test: "+
			rule.Title+".")
		f.add("occasion", rule.Decided)
		f.add("decides", "It fails a broken clause, with the first conversation that shows it. No clause passes by it.")
		for slug := range strings.FieldsSeq(rule.Clauses) {
			c, _ := entry.ClauseByID(entry.Prefix + slug) // a test knows that there is one
			f.add("clauses", fmt.Sprintf("%s (%s; %s): %s", c.ID, c.Level, explainSource(c, c.Sources[0]), c.Statement))
		}
		return reports.Page{Blocks: []reports.Block{titleBlock(id, "law: "+rule.Title), f.block()}}, true
	}
	return reports.Page{}, false
}

// titleBlock returns the first line of an explanation.
func titleBlock(id, words string) reports.Block {
	return reports.Prose{Lines: []reports.Text{{{Text: id, Style: reports.Strong}, {Text: "  "}, {Text: words}}}}
}

func explainClause(c conformance.Clause, checks []conformance.Description) reports.Page {
	var f explanation
	for _, s := range c.Sources {
		f.add("source", explainSource(c, s))
	}
	f.add("binds", spellOut(c.Party, parties))
	reading := c.Reading
	if c.Recorded {
		reading += " (The behaviour is recorded and is never a failure.)"
	}
	f.add("reading", reading)
	if c.Ambiguity != "" {
		f.add("resolves", c.Ambiguity+": see "+ambiguities)
	}
	f.add("takes", spellOut(c.Special, specials))
	f.checks(c, checks)
	f.clients(c)
	f.bugs(bugsOf(c.ID))
	f.add("fix", docs.Fix(false, c.ID))
	f.add("fix", docs.Fix(true, c.ID))
	return reports.Page{Blocks: []reports.Block{
		titleBlock(c.ID, string(c.Level)+": "+c.Level.Words()),
		reports.Prose{Lines: reports.LinesOf(c.Statement)},
		f.block(),
	}}
}

// checks adds what decides a clause, or why nothing does.
func (f *explanation) checks(c conformance.Clause, checks []conformance.Description) {
	for _, check := range checks {
		f.add("checks", check.ID+": "+check.Title)
	}
	switch {
	case c.ExclusionReason != "":
		f.add("excluded", c.ExclusionReason)
	case len(checks) > 0:
	case c.BindsServer():
		f.add("checks", "none yet")
	default:
		f.add("checks", "none: it binds clients, not servers")
	}
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

// explanation are labelled texts, in their order.
type explanation []reports.Field

// add appends a text, unless it is empty, to the field before it if that has the same label.
func (f *explanation) add(label, words string) {
	if words == "" {
		return
	}
	if last := len(*f) - 1; last >= 0 && (*f)[last].Label == label {
		(*f)[last].Lines = append((*f)[last].Lines, reports.PlainText(words))
		return
	}
	*f = append(*f, reports.Field{Label: label, Lines: []reports.Text{reports.PlainText(words)}, Wrap: true})
}

// bugs adds bugs of the fakes; internal/proof/selftest proves that they are detected.
func (f *explanation) bugs(bugs []registry.Bug) {
	for _, bug := range bugs {
		f.add("bugs", bug.Name+": "+bug.Summary)
	}
}

func (f *explanation) block() reports.Block { return reports.Fields{LabelWidth: 8, Fields: *f} }

// ambiguities is the list of the ambiguous places of the specification.
const ambiguities = "docs/ambiguities.md"

// textWidth is where the text of explain is wrapped.
const textWidth = 100

var parties = map[string]string{"S": "servers", "C": "clients", "K": "consumers", "P": "producers"}

var specials = map[string]string{
	"pw": "a server with a password", "wait": "up to a minute", "long": "more than a minute",
	"sig": "a command that quiets or terminates workers (--control)", "rst": "a restart", "env": "a certain environment",
	"adv": "a scripted server, because it binds clients",
}

var needWords = map[scenarios.Need]string{
	scenarios.NeedOpen: "a server without a password", scenarios.NeedPassword: "a server with a password",
	scenarios.NeedSignals: "a command that quiets or terminates workers (--control)", scenarios.NeedRestart: "a restart",
	scenarios.NeedKill: "a kill and a start", scenarios.NeedAlone: "a server without other clients (--exclusive)",
	scenarios.NeedFlush: "a server whose jobs may be deleted (--allow-flush)",
}

// spellOut returns a list of abbreviations in words.
func spellOut(list string, words map[string]string) string {
	var all []string
	for _, short := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		if long, ok := words[short]; ok {
			short = long
		}
		all = append(all, short)
	}
	return strings.Join(all, ", ")
}

// findClause returns the clause with this id; case does not count.
func findClause(id string) (conformance.Clause, bool) {
	all := registry.Clauses()
	i := slices.IndexFunc(all, func(c conformance.Clause) bool { return strings.EqualFold(c.ID, id) })
	if i < 0 {
		return conformance.Clause{}, false
	}
	return all[i], true
}

// stripMarks returns a text without the marks of Markdown.
func stripMarks(text string) string { return strings.NewReplacer("**", "", "`", "").Replace(text) }

// explainAmbiguity returns the section on an ambiguity, whose code may be in any case, and reports whether there is
// one.
func explainAmbiguity(code string) (reports.Page, bool) {
	for section := range strings.SplitSeq(ambiguityTexts(), "\n## ") {
		head, body, _ := strings.Cut(section, "\n")
		name, title, ok := strings.Cut(head, ": ")
		if !ok || !strings.EqualFold(name, code) {
			continue
		}
		page := reports.Page{Blocks: []reports.Block{titleBlock(name, title)}}
		for paragraph := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
			words := stripMarks(strings.Join(strings.Fields(paragraph), " "))
			page.Blocks = append(page.Blocks, reports.Prose{Lines: reports.LinesOf(words)})
		}
		return page, true
	}
	return explainRow(code)
}

// ambiguityTexts returns what all protocols say of ambiguous passages.
func ambiguityTexts() string {
	var all []string
	for _, p := range registry.All() {
		all = append(all, p.Ambiguities)
	}
	return strings.Join(all, "\n")
}

// explainRow returns what another document says of an ambiguity in a row of its table.
func explainRow(code string) (reports.Page, bool) {
	for line := range strings.Lines(ambiguityTexts()) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		const columns = 3
		name := strings.TrimSpace(cells[0])
		if len(cells) != columns || !strings.Contains(name, "-AMB-") || !strings.EqualFold(name, code) {
			continue // also the heads of tables, such as "id" and "bug"
		}
		var f explanation
		f.add("taken", stripMarks(strings.TrimSpace(cells[2])))
		return reports.Page{Blocks: []reports.Block{
			titleBlock(name, stripMarks(cells[1])), f.block(),
		}}, true
	}
	return reports.Page{}, false
}

// explainBugs returns what the bugs of a name do, of which each protocol may have one, and reports whether there is
// one.
func explainBugs(
	name string, protocols []*registry.Entry, checks map[string][]conformance.Description,
) (page reports.Page, ok bool) {
	for _, p := range protocols {
		for _, bug := range p.AllBugs() {
			if bug.Name == name {
				page.Blocks = append(page.Blocks, explainBug(p, bug, checks)...)
			}
		}
	}
	return page, len(page.Blocks) > 0
}

// explainBug returns what a bug of the embedded server of a protocol does, the clauses that it breaks and the
// checks on these.
func explainBug(p *registry.Entry, bug registry.Bug, checks map[string][]conformance.Description) []reports.Block {
	var f explanation
	var ids []string
	for _, id := range bug.Clauses {
		clause, _ := registry.Clause(id) // a test knows that there is one
		f.add("breaks", fmt.Sprintf("%s (%s): %s", id, clause.Level, clause.Statement))
		for _, check := range checks[id] {
			if !slices.Contains(ids, check.ID) {
				ids = append(ids, check.ID)
				f.add("checks", check.ID+": "+check.Title)
			}
		}
	}
	words, try := "planted bug: ", "fwpcheck run --clause "+strings.Join(bug.Clauses, " --clause ")+" --bug "+bug.Name
	if !p.IsDefault() {
		words = "planted bug of " + p.Title + ": "
		try = "fwpcheck run --protocol " + p.Name + " --bug " + bug.Name
	}
	f.add("try it", try)
	return []reports.Block{titleBlock(bug.Name, words+bug.Summary), f.block()}
}
