package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestLateReplies: a late reply is no finding until a second play has one too. Whatever else was wrong is one at once.
func TestLateReplies(t *testing.T) {
	t.Parallel()
	late := play.Result{Outcome: play.Mismatched, Late: true, Cause: "after 2 s"}
	wrong := play.Result{Outcome: play.Mismatched, Cause: "another reply"}
	for name, test := range map[string]struct {
		before   *conformance.Evidence
		result   play.Result
		want     play.Outcome
		unproven bool
	}{
		"the first play":                    {nil, late, play.Unsure, true},
		"behind one without a late reply":   {&conformance.Evidence{}, late, play.Unsure, true},
		"behind a late reply":               {&conformance.Evidence{Unproven: true}, late, play.Mismatched, false},
		"wrong in another way":              {nil, wrong, play.Mismatched, false},
		"wrong in another way, behind late": {&conformance.Evidence{Unproven: true}, wrong, play.Mismatched, false},
		"right":                             {nil, play.Result{Outcome: play.Matched}, play.Matched, false},
	} {
		e := conformance.Evidence{Results: []play.Result{test.result}}
		confirmLate(&e, test.before)
		got := e.Results[0]
		assert.Equal(t, test.want, got.Outcome, name)
		assert.Equal(t, test.unproven, e.Unproven, name)
		assert.Equal(t, test.unproven, got.Transient && got.Reason == play.Lag, name)
		assert.Equal(t, test.unproven, strings.Contains(got.Cause, "no second play confirmed it"), name)
	}
}

// TestFurtherTries: how often a check is tried again that lag made inconclusive, or whose finding is counted.
func TestFurtherTries(t *testing.T) {
	t.Parallel()
	const short, long = conformance.QuickPatience, conformance.QuickPatience + 1
	for _, test := range []struct {
		purpose         purpose
		took            time.Duration
		unproven, quick bool
		want            int
	}{
		{toMeasure, short, false, false, 3}, {toMeasure, short, false, true, 3}, {toMeasure, long, false, false, 1},
		{toMeasure, long, false, true, 0}, {toMeasure, long, true, false, 3}, {toMeasure, long, true, true, 3},
		{toCount, short, false, false, 3}, {toCount, long, false, false, 0}, {toCount, long, true, false, 3},
	} {
		assert.Equal(t, test.want, furtherTries(test.purpose, test.took, test.unproven, test.quick), test)
	}
}

// What becomes of a check that is refused a connection: beside others it is played again with half as many at a time,
// alone two times more.
func TestARefusedConnection(t *testing.T) {
	t.Parallel()
	refused := conformance.Evidence{Refused: &play.Refusal{All: 3}, Results: []play.Result{{Outcome: play.Mismatched}}}
	dead := refused
	dead.Dead = "dead"
	for name, test := range map[string]struct {
		room    int // for connections, before
		refuses bool
		task    task
		e       conformance.Evidence
		again   bool
		want    int // room behind it
	}{
		"beside others":            {400, false, task{together: true, conns: 64}, refused, true, 32},
		"of an earlier time":       {8, false, task{together: true, conns: 64}, refused, true, 8},
		"beside one":               {400, false, task{together: true, conns: 1}, refused, true, 1},
		"alone":                    {1, false, task{}, refused, true, 1},
		"alone, once more":         {1, false, task{refused: triesAlone - 1}, refused, true, 1},
		"alone, and no more":       {1, false, task{refused: triesAlone}, refused, false, mostConnections},
		"where all are refused":    {400, true, task{together: true, conns: 64}, refused, false, 400},
		"a server that has ended":  {400, false, task{together: true, conns: 64}, dead, false, 400},
		"a check that was let in":  {400, false, task{together: true, conns: 64}, conformance.Evidence{}, false, 400},
		"too few for a single one": {1, false, task{refused: triesAlone}, ownRefused(refused), false, 1},
	} {
		s, h := new(runState), newHost(Server{})
		h.room, h.refuses = test.room, test.refuses
		test.task.host, test.task.evidence = h, &test.e
		assert.Equal(t, test.again, s.postpone(&test.task), name)
		assert.Equal(t, test.again, len(s.pending) == 1, name)
		assert.Equal(t, test.want, h.room, name)
	}
}

// ownRefused is evidence of a refusal beside other connections of the same play.
func ownRefused(e conformance.Evidence) conformance.Evidence {
	e.Refused = &play.Refusal{Own: 2, All: 2}
	return e
}

// TestWhoEndedTheServer: a check that found it dead has ended it if it was alone and was served before. Of a crash,
// what was dead before the check began is started again for it, as often as a server may end in a run.
func TestWhoEndedTheServer(t *testing.T) {
	t.Parallel()
	said := []reports.Line{{From: reports.FromServer, Text: "+HI"}}
	shut := []reports.Line{{From: reports.FromServer, Ended: true}}
	for name, test := range map[string]struct {
		together bool
		e        conformance.Evidence
		certain  bool
	}{
		"alone, and served":       {false, conformance.Evidence{Conversation: said}, true},
		"a property":              {false, conformance.Evidence{Served: true}, true},
		"beside others":           {true, conformance.Evidence{Conversation: said}, false},
		"nothing was said":        {false, conformance.Evidence{}, false},
		"the connection was shut": {false, conformance.Evidence{Conversation: shut}, false},
	} {
		s := newRunState(&Runner{Protocol: fwpsuite.Protocol()})
		assert.Equal(t, test.certain, s.certain(&task{together: test.together, evidence: &test.e}), name)
	}
	s, h := newRunState(&Runner{Protocol: fwpsuite.Protocol()}), newHost(Server{})
	unserved := &task{host: h, suspect: true, evidence: &conformance.Evidence{Dead: "dead"}}
	h.crash = &crash{left: 1}
	for range mostCrashes {
		s.pending = nil
		s.endAlone(unserved)
		assert.Equal(t, []*task{unserved}, s.pending)
		assert.True(t, unserved.suspect && h.down && h.lost == "")
	}
	s.endAlone(unserved)
	assert.Equal(t, "the server no longer served", h.lost)
	assert.Len(t, s.crashes, 1)
}

// TestWreck: a check may have ended a server that the next ones had within a second, and is played again on a new one.
func TestWreck(t *testing.T) {
	t.Parallel()
	now := time.Now()
	of := func(ago time.Duration) *task {
		return &task{evidence: &conformance.Evidence{Began: now.Add(-ago - time.Minute), Took: time.Minute}}
	}
	long, before, just, last := of(afterwards+1), of(afterwards), of(0), of(0)
	w := newWreck(&host{had: []*task{long, before, just, last}}, last, conformance.Evidence{Began: now})
	assert.True(t, slices.Equal([]*task{last, just, before}, w.ran))

	s, h := newRunState(&Runner{Protocol: fwpsuite.Protocol()}), newHost(Server{})
	h.Fresh = func() (Server, func(), error) { return Server{}, func() {}, nil }
	used := newHost(Server{})
	for _, again := range []*wreck{w, nil} {
		h.idle = []*host{used}
		hostile := &task{like: h, about: conformance.Description{Hostile: true}, wreck: again}
		_, err := s.occupy(hostile)
		require.NoError(t, err)
		assert.Equal(t, again == nil, hostile.server == used)
	}
}

// verdictAbout returns the verdict about a clause of the play of a script with one line about it.
func verdictAbout(clause string, fatal bool, e conformance.Evidence, level string) reports.ClauseVerdict {
	mark := scenarios.Mark{Clause: clause, Level: level}
	for i := range e.Results {
		if e.Results[i].Marks != nil {
			e.Results[i].Marks = []scenarios.Mark{mark}
		}
	}
	s := newRunState(&Runner{Protocol: fwpsuite.Protocol()})
	check, _ := s.verdicts(&task{
		about: conformance.Description{ID: "a/b", Marks: []scenarios.Mark{mark}}, evidence: &e, fatal: fatal,
	})
	i := slices.IndexFunc(check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == clause })
	return check.Clauses[i]
}

// TestWhatKeepsAClauseFromPassing: all lines about it must match, and the play must get to its end.
func TestWhatKeepsAClauseFromPassing(t *testing.T) {
	t.Parallel()
	about := []scenarios.Mark{{}}
	line := func(o play.Outcome) play.Result { return play.Result{Outcome: o, Marks: about} }
	setup := func(o play.Outcome) play.Result { return play.Result{Outcome: o} }
	ran := func(all ...play.Result) conformance.Evidence { return conformance.Evidence{Results: all} }
	dead := ran(line(play.Mismatched))
	dead.Dead = "no new connection is served"
	open := ran(line(play.Matched))
	open.Open = "this machine was late"
	breach := ran(line(play.Matched))
	breach.Breaches = []scenarios.Breach{{Kind: scenarios.Unasked}}
	setUpLag := setup(play.Mismatched)
	setUpLag.Transient = true
	for name, test := range map[string]struct {
		e      conformance.Evidence
		fatal  bool
		level  string
		want   reports.Verdict
		reason reports.ReasonCode
		halted bool
	}{
		"it matched":          {e: ran(line(play.Matched)), want: reports.Pass},
		"it did not match":    {e: ran(line(play.Mismatched)), want: reports.Fail},
		"of a recommendation": {e: ran(line(play.Mismatched)), level: "SHOULD", want: reports.Warn},
		"one of two":          {e: ran(line(play.Matched), line(play.Mismatched)), want: reports.Fail},
		"of a recommendation, and the rest": {
			e: ran(line(play.Mismatched), line(play.NotReached)), level: "SHOULD", want: reports.Warn,
		},
		"the rest was not reached": {e: ran(line(play.Mismatched), line(play.NotReached)), want: reports.Fail},
		"it was not reached": {
			e: ran(setup(play.Mismatched), line(play.NotReached)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
			halted: true,
		},
		"the set-up failed by lag": {
			e: ran(setUpLag, line(play.NotReached)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
		},
		"a set-up line behind it failed": {
			e: ran(line(play.Matched), setup(play.Mismatched)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
			halted: true,
		},
		"the server died of another": {
			e: dead, want: reports.Inconclusive, reason: reports.ReasonSetUp, halted: true,
		},
		"the server died of it":              {e: dead, fatal: true, want: reports.Crash},
		"the play is open":                   {e: open, want: reports.Inconclusive, reason: reports.ReasonSetUp},
		"something else came (no end to it)": {e: breach, want: reports.Pass},
	} {
		got := verdictAbout("FWP-PUSH-01", test.fatal, test.e, test.level)
		assert.Equal(t, test.want, got.Verdict, name)
		assert.Equal(t, test.reason, got.Reason, name)
		assert.Equal(t, test.halted, got.Halted, name)
	}
}

// TestFold: of several repetitions the worst verdict counts for the check and for each clause, each finding stands once
// with the conversation of its own run, and the verdicts are counted.
func TestFold(t *testing.T) {
	t.Parallel()
	clause := func(id string, v reports.Verdict, why string) reports.ClauseVerdict {
		return reports.ClauseVerdict{ID: id, Verdict: v, Why: why}
	}
	finding := func(id string, v reports.Verdict) reports.Finding { return reports.Finding{Clause: id, Verdict: v} }
	line := func(text string) []reports.Line { return []reports.Line{{Text: text}} }
	got := fold([]reports.Check{
		{ID: "a/b", Verdict: reports.Warn, Left: []string{"j1"}, Conversation: line("first"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Pass, ""), clause("B", reports.Warn, "b1")},
			Findings: []reports.Finding{finding("B", reports.Warn)}},
		{ID: "a/b", Verdict: reports.Fail, Left: []string{"j2"}, Conversation: line("second"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Fail, "a2"), clause("B", reports.Inconclusive, "b2")},
			Findings: []reports.Finding{finding("A", reports.Fail)}},
		{ID: "a/b", Verdict: reports.Fail, Conversation: line("third"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Fail, "a3"), clause("B", reports.Pass, "")},
			Findings: []reports.Finding{finding("A", reports.Fail), finding("A", reports.Warn)}},
	})
	assert.Equal(t, reports.Fail, got.Verdict)
	assert.Equal(t, line("second"), got.Conversation, "of the first of the worst")
	assert.Equal(t, []string{"j1", "j2"}, got.Left)
	var clauses, findings []string
	for _, c := range got.Clauses {
		clauses = append(clauses, c.ID+" "+c.Verdict.String()+" "+c.Why)
	}
	for _, f := range got.Findings {
		text := f.Clause + " " + f.Verdict.String()
		for _, l := range f.Conversation {
			text += " " + l.Text
		}
		findings = append(findings, text)
	}
	assert.Equal(t, []string{"A fail a2", "B inconclusive b2"}, clauses)
	assert.Equal(t, []string{"A fail", "B warn first", "A warn third"}, findings)
	assert.Equal(t, reports.CountVerdicts(reports.Warn, reports.Fail, reports.Fail), got.Runs)
	assert.Equal(t, reports.CountVerdicts(reports.Pass, reports.Fail, reports.Fail), got.Clauses[0].Runs)
	one := reports.Check{ID: "a", Verdict: reports.Pass}
	assert.Equal(t, one, fold([]reports.Check{one}), "a single run is not counted")
}
