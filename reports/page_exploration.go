package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Page returns e for people: the findings, one a line; each of them with the script that shows it; what was covered;
// and a last line that says in words what the result is.
func (e *Exploration) Page(o PageOptions) Page {
	var p Page
	if o.Figures {
		p.Add(e.tiles())
	}
	p.Target("target", e.Target, e.Version)
	p.AddTroubles(e.Trouble)
	p.explorationFindings(e)
	if len(e.Findings) > 0 {
		p.Section("DETAILS", "replies and states that the specification does not allow")
	}
	for i := range e.Findings {
		p.explorationFinding(&e.Findings[i], o)
	}
	p.coverage(e, o)
	p.leftover(e.LeftoverJobs, "of this run that are, or may be, still on the target", o, e.Target)
	limits := wordsIf(len(e.EndedBy), ", ended by "+e.EndedBy)
	p.Conclude(fmt.Sprintf("seed %d, took %s%s", e.Seed, Duration(e.Took), limits), e.Outcome(o.Exit))
	return p
}

// tiles returns how much was explored, and what was found.
func (e *Exploration) tiles() Tiles {
	return Tiles{append(tilesOf(e.counts()), Tile{text.GroupDigits(e.Commands), "commands", Plain},
		Tile{text.GroupDigits(len(e.States)), "states", Plain},
		Tile{text.GroupDigits(len(e.Outcomes)), "outcomes", Plain})}
}

// explorationFindings appends the findings, one a line, with how often each was reproduced.
func (p *Page) explorationFindings(e *Exploration) {
	t := Table{Columns: []Column{{}, {}, {IsBrief: true}, {AlignRight: true}}}
	for i := range e.Findings {
		f := &e.Findings[i]
		words := cmp.Or(f.Statement, f.Frequency, f.Actual)
		if f.Clause == "" && f.Verdict != Crash { // what died, behind what, says more
			words = "(no clause) " + words
		}
		times := wordsIf(f.Attempts, fmt.Sprintf("reproduced %d of %d", f.Reproduced, f.Attempts))
		row := f.Verdict.row(f.Clause, text.OneLine(words), cmp.Or(times, "not reproduced"))
		row.Link = findingAnchor(f.Clause, 0, f.Check)
		t.Rows = append(t.Rows, row)
	}
	p.findings(e.counts(), len(t.Rows), t)
}

// explorationFinding appends one finding and the script that shows it.
func (p *Page) explorationFinding(f *ExplorationFinding, o PageOptions) {
	fields := []Field{
		verbatimField("after", PlainText(text.Count(f.AfterCommands, "command"))), NewField("seen", f.frequency()),
		verbatimField("run", PlainText(f.RunPath)),
	}
	if f.Script == "" {
		fields = append(fields, verbatimField("not played", TextsOf(f.LastSteps)...))
	} else {
		fields = append(fields,
			verbatimField("reproduced", PlainText(fmt.Sprintf("%d of %s", f.Reproduced, text.Count(f.Attempts, "time")))),
			verbatimField("script", PlainText(cmp.Or(f.ScriptPath, "below; --save FOLDER writes it to a file"))))
	}
	control := ""
	if f.Control.IsBreach() {
		control = "the embedded server fails the script too, so this may be an error of fwpcheck: please report it"
	}
	fields = append(fields, verbatimField("control", LinesOf(control)...), NewField("reason",
		wordsIf(len(f.ExplainedBy), "probably the same as "+f.ExplainedBy+", which is reproduced; therefore only a warning")))
	fields = append(fields, fixes([]Finding{f.Finding}))
	p.findingHead([]Finding{f.Finding})
	p.evidence(&f.Evidence, o, fields...)
}

// frequency says how often a finding was seen, and where; nothing if it was once.
func (f *ExplorationFinding) frequency() string {
	const limit = 8 // places
	if f.Times <= 1 {
		return ""
	}
	places := slices.SortedFunc(maps.Keys(f.Places), func(a, b string) int {
		return cmp.Or(f.Places[b]-f.Places[a], strings.Compare(a, b))
	})
	var texts []string
	for _, place := range places[:min(limit, len(places))] {
		texts = append(texts, fmt.Sprintf("%s (%d)", place, f.Places[place]))
	}
	return JoinWith(": ", text.Count(f.Times, "time"), strings.Join(texts, ", ")) +
		wordsIf(max(0, len(places)-limit), fmt.Sprintf(", and %d more", len(places)-limit))
}

// coverage appends what was reached: with Verbose all of it.
func (p *Page) coverage(e *Exploration, o PageOptions) {
	if e.Commands == 0 {
		return
	}
	p.Section("COVERAGE", "how often each state, transition and outcome was reached")
	rows := slices.Concat(countRows(e.States), countRows(e.Transitions))
	if o.Verbose {
		rows = append(rows, countRows(e.Outcomes)...)
	} else {
		rows = append(rows, Cells(text.GroupDigits(len(e.Outcomes)),
			"different outcomes (command, state and reply); -v lists them"))
	}
	if e.ConnLimit > 0 {
		p.Add(Prose{LinesOf("the target serves at most " + text.Count(e.ConnLimit, "connection") + " at a time")})
	}
	if e.MissReason != "" {
		p.Add(Prose{LinesOf(e.MissReason)})
	}
	for _, outage := range e.Outages {
		p.Add(Prose{LinesOf(outage)})
	}
	p.Add(Table{Columns: []Column{{AlignRight: true, Width: 8}}, Rows: rows})
	p.situations(e.Situations, o)
}

// countRows returns a row for each name with how often it was counted, in the order of the names, without those that
// never were.
func countRows(counts map[string]int) []Row {
	var rows []Row
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			rows = append(rows, Cells(text.GroupDigits(counts[name]), name))
		}
	}
	return rows
}

// situations appends how many situations were reached, and which were not: nothing is known of these.
func (p *Page) situations(all map[string]int, o PageOptions) {
	if len(all) == 0 {
		return
	}
	rows, missing := countRows(all), []string{"never reached:"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == 0 {
			missing = append(missing, name)
		}
	}
	p.Section("SITUATIONS", fmt.Sprintf("%d of %d states of the specification were reached", len(rows), len(all)))
	if o.Verbose {
		p.Add(Table{Columns: []Column{{AlignRight: true, Width: 8}}, Rows: rows})
	}
	if len(missing) > 1 {
		p.Add(Prose{TextsOf(missing)})
	}
}

// Suite returns e as cases: one for each finding, and one for the exploration itself.
func (e *Exploration) Suite(o ExitOptions) Suite {
	s := NewSuite("fwpcheck explore", &e.Head, e.Outcome(o))
	s.Target, s.Subject = e.Target.String(), e.Target.shortName()
	s.AddRun("the exploration", s.Code == ExitInconclusive)
	for i := range e.Findings {
		f := &e.Findings[i]
		c := f.toCase(o)
		c.Reproducer = f.ScriptPath
		s.Add(c)
	}
	return s
}
