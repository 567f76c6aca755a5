package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	steps "github.com/fwpsuite/fwp/scenarios/play"
)

// answer is a line of a script with the reply that it has got in a right conversation.
type answer struct {
	line int
	role string // see roles
	message
}

// decides is the role of a line that decides a clause.
const decides = "decides"

// roles returns what each S: line of a script is for, by its number: it decides a clause, records what a server does,
// or only prepares; either if it has alternatives, of which a changed reply may be one; awaits if it is tried until it
// matches, so that a single reply cannot be wrong there. A line that expects an end gets no reply, and has none.
func roles(s *scenarios.Script) map[int]string {
	all, awaits := map[int]string{}, map[scenarios.Step]bool{}
	for step := range s.All() {
		if b, ok := step.(*scenarios.Block); ok && b.Kind == scenarios.Eventually {
			for _, inner := range b.Steps {
				awaits[inner] = true
			}
		}
		e, ok := step.(*scenarios.Expect)
		switch {
		case !ok:
		case awaits[step]:
			all[e.Line] = "awaits"
		case e.Choices[0].Ending() != scenarios.Open && len(e.Choices) == 1:
		case len(e.Choices) > 1:
			all[e.Line] = "either"
		case len(e.Marks) == 0:
			all[e.Line] = "prepares"
		case e.Marks[0].Record:
			all[e.Line] = "records"
		default:
			all[e.Line] = decides
		}
	}
	return all
}

// tapCheck plays a script through a tap.
type tapCheck struct {
	conformance.ScriptCheck
	at     place
	change mutation

	conversation *conversation
}

// conversation is what was said in the last play of a script.
type conversation struct {
	evidence conformance.Evidence
	messages []message
}

// Play implements [conformance.Check].
func (c tapCheck) Play(ctx context.Context, setup conformance.Setup) conformance.Evidence {
	t := newTap(setup.Target, c.Script.Dialect, c.at, c.change)
	setup.Target = t
	e := c.ScriptCheck.Play(ctx, setup)
	*c.conversation = conversation{e, t.messages}
	return e
}

// noPlace is where no reply stands.
func noPlace() place { return place{-1, -1} }

// tapPlay plays a script on servers that are right, with one reply changed on its way.
func (c catalogue) tapPlay(
	b bubbles, s conformance.ScriptCheck, at place, m mutation,
) (report *reports.Report, record conversation, err error) {
	report, err = b.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
		return fixture.Report(ctx, nil, []conformance.Check{tapCheck{s, at, m, &record}}, nil)
	}, c.fixture)
	return report, record, err
}

// answers plays a script, and returns the S: lines that got a reply, with that.
func (c catalogue) answers(b bubbles, s conformance.ScriptCheck) (all []answer, err error) {
	report, record, err := c.tapPlay(b, s, noPlace(), mutation{})
	if err != nil {
		return nil, err
	}
	if o := outcomeOf(report); o.result != resultNothing {
		return nil, fmt.Errorf("%s finds something on the server that is right: %v", s.Script.Name, o)
	}
	roles := roles(s.Script)
	for _, r := range record.evidence.Results {
		i := slices.IndexFunc(record.messages, func(m message) bool { return m.at.Sub(record.evidence.Began) == r.At })
		if role, ok := roles[r.Line]; ok && i >= 0 && r.Outcome == steps.Matched {
			all = append(all, answer{r.Line, role, record.messages[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b answer) int { return cmp.Compare(a.line, b.line) })
	return all, nil
}

// mutant is a script with one reply that is changed. Its kind has the mutation; its name has the script, the number of
// the line, its role, and what is changed.
type mutant struct {
	key
	script conformance.ScriptCheck
	answer
	change mutation
}

// mutantsOf returns one for each mutation of each reply to an S: line of a script of a server.
func (c catalogue) mutantsOf(b bubbles, s conformance.ScriptCheck) (all []mutant, err error) {
	lines, err := c.answers(b, s)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		for _, m := range encodings(c.fixture.Entry.Name).mutations(l.reply) {
			name := strings.TrimSpace(fmt.Sprintf("%s/%s:%04d %s %s", c.name, s.Script.Name, l.line, l.role, m.at))
			all = append(all, mutant{key{"mutant-" + m.name, name, 1}, s, l, m})
		}
	}
	return all, nil
}

// scripts returns the checks that are scripts, those with few rounds first.
func (c catalogue) scripts() (all []conformance.ScriptCheck) {
	for _, check := range c.checks {
		if s, ok := check.(conformance.ScriptCheck); ok {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b conformance.ScriptCheck) int { return effort(a) - effort(b) })
	return all
}

// mutants returns a play for each mutant of the scripts of a server.
func (c catalogue) mutants(b bubbles) (all []play, err error) {
	for _, s := range c.scripts() {
		list, err := c.mutantsOf(b, s)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			all = append(all, play{m.key, func(context.Context) (outcome, error) { return c.outcome(b, m) }})
		}
	}
	return all, nil
}

// outcome plays a mutant.
func (c catalogue) outcome(b bubbles, m mutant) (outcome, error) {
	report, _, err := c.tapPlay(b, m.script, m.place, m.change)
	if err != nil {
		return outcome{}, err
	}
	return outcomeOf(report), nil
}
