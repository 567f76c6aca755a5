package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
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

// TestPostponed: which plays are played again because of a limit of connections, and how often.
func TestPostponed(t *testing.T) {
	t.Parallel()
	missed, matched := []play.Result{{Outcome: play.Mismatched}}, []play.Result{{Outcome: play.Matched}}
	refusal := func(all, own int) *play.Refusal { return &play.Refusal{All: all, Own: own} }
	for name, test := range map[string]struct {
		e          conformance.Evidence
		beside     bool                  // others were played meanwhile
		refused    int                   // tries before this one that were refused a connection
		refusesAll bool                  // the server is known to
		death      *conformance.Evidence // of an earlier try
		again      bool
		apart      bool
		dead       bool // the evidence that counts is of a dead server
	}{
		"nothing was refused": {e: conformance.Evidence{Results: missed}, beside: true},
		"refused, and passed": {e: conformance.Evidence{Results: matched, Refused: refusal(3, 1)}, beside: true},
		"refused beside others": {
			e: conformance.Evidence{Results: missed, Refused: refusal(3, 1)}, beside: true, again: true,
		},
		"refused a second time": {
			e: conformance.Evidence{Results: missed, Refused: refusal(3, 1)}, beside: true, refused: 1, again: true, apart: true,
		},
		"refused alone": {
			e: conformance.Evidence{Results: missed, Refused: refusal(1, 1)}, refused: 2, again: true, apart: true,
		},
		"refused alone a second time": {e: conformance.Evidence{Results: missed, Refused: refusal(1, 1)}, refused: 3},
		"by one that refuses all": {
			e: conformance.Evidence{Results: missed, Refused: refusal(1, 1)}, beside: true, refusesAll: true,
		},
		"dead beside others": {
			e: conformance.Evidence{Dead: "d", Amid: 2}, beside: true, again: true, apart: true,
		},
		"dead alone":                    {e: conformance.Evidence{Dead: "d", Amid: 2}, dead: true},
		"dead, and no connection stays": {e: conformance.Evidence{Dead: "d"}, beside: true, dead: true},
		"dead, and its process ended": {
			e: conformance.Evidence{Dead: "d", Amid: 2, Ending: "exit 2"}, beside: true, dead: true,
		},
		"refused again after a death": {
			e: conformance.Evidence{Results: missed, Refused: refusal(0, 0)}, death: &conformance.Evidence{Dead: "d"},
			dead: true,
		},
		"served again after a death": {e: conformance.Evidence{Results: matched}, death: &conformance.Evidence{Dead: "d"}},
	} {
		h := newHost(Server{})
		h.limiter.refusesAll = test.refusesAll
		s := &runState{runner: &Runner{Protocol: fwpsuite.Protocol()}, hosts: []*host{h}}
		task := &task{host: h, together: test.beside, refused: test.refused, death: test.death, evidence: &test.e}
		assert.Equal(t, test.again, s.postpone(task), name)
		assert.Equal(t, test.again, slices.Contains(s.pending, task), name)
		assert.Equal(t, test.apart, task.apart, name)
		if !test.again {
			assert.Equal(t, test.dead, task.evidence.Dead != "", name)
		}
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
	s := &runState{runner: &Runner{Protocol: fwpsuite.Protocol()}}
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
			e: dead, want: reports.Inconclusive, reason: reports.ReasonOtherClause, halted: true,
		},
		"the server died of it":              {e: dead, fatal: true, want: reports.Crash},
		"the play is open":                   {e: open, want: reports.Inconclusive, reason: reports.ReasonTooLittle},
		"something else came (no end to it)": {e: breach, want: reports.Pass},
	} {
		got := verdictAbout("FWP-PUSH-01", test.fatal, test.e, test.level)
		assert.Equal(t, test.want, got.Verdict, name)
		assert.Equal(t, test.reason, got.Reason, name)
		assert.Equal(t, test.halted, got.Halted, name)
	}
}

// TestBearing: which plays may have had to do with the end of a server.
func TestBearing(t *testing.T) {
	t.Parallel()
	death := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		began, ended time.Duration // behind the death
		dying        bool
		rank         int
		unknown      bool // when the server ended
		want         bearing
	}{
		"under way": {began: -time.Second, ended: time.Second, rank: unreplied, want: underWay},
		"found it dead": {
			began: -2 * time.Second, ended: -time.Second, dying: true, rank: unreplied, want: underWay,
		},
		"began afterwards": {began: time.Second, ended: 2 * time.Second, rank: malformed, want: noBearing},
		"began afterwards, found it dead": {
			began: time.Second, ended: 2 * time.Second, dying: true, rank: unreplied, want: noBearing,
		},
		"over before":                    {began: -2 * time.Second, ended: -time.Second, rank: answered, want: noBearing},
		"over before, and malformed":     {began: -2 * time.Second, ended: -time.Second, rank: malformed, want: sentBefore},
		"not known when, found it dead":  {unknown: true, dying: true, rank: unreplied, want: underWay},
		"not known when":                 {unknown: true, rank: malformed, want: noBearing},
		"it ended when the server did":   {began: -time.Second, ended: 0, rank: unreplied, want: noBearing},
		"it began when the server ended": {began: 0, ended: time.Second, rank: unreplied, want: underWay},
	} {
		at := death
		if test.unknown {
			at = time.Time{}
		}
		e := &conformance.Evidence{Began: death.Add(test.began), Took: test.ended - test.began}
		assert.Equal(t, test.want, (&task{evidence: e, lead: lead{rank: test.rank}}).bearing(at, test.dying), name)
	}
}

// TestSuspects: which candidates are worth another play: the likeliest, and up to ten that sent something malformed, or
// anything that may not wait within a second before the end.
func TestSuspects(t *testing.T) {
	t.Parallel()
	death := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		rank   int
		before time.Duration
		want   bool
	}{
		"malformed":                {malformed, time.Hour, true},
		"no reply":                 {unreplied, time.Second, true},
		"no reply for longer":      {unreplied, time.Second + 1, false},
		"answered":                 {answered, time.Second, true},
		"answered long before":     {answered, time.Second + 1, false},
		"one that may wait":        {waiting, 0, false},
		"waiting for some time":    {waiting, time.Hour, false},
		"malformed, at the moment": {malformed, 0, true},
	} {
		assert.Equal(t, test.want, lead{rank: test.rank, at: death.Add(-test.before)}.suspicious(death), name)
	}
	var dying []*task
	now := time.Now()
	for i := range 2 * mostSuspects {
		dying = append(dying, playScript(now, play.Line{At: time.Duration(i), Conn: "a", From: "C", Text: "INFO"}))
	}
	grammar := fwpsuite.Protocol().Dialect.Grammar()
	candidates, suspects := candidatesOf(grammar, dying, nil)
	assert.Len(t, candidates, 2*mostSuspects)
	assert.Len(t, suspects, 1, "what the others sent came after the end: it is the first command without a reply")
	for _, d := range dying {
		d.evidence.Conversation = nil
	}
	candidates, suspects = candidatesOf(grammar, dying, dying[:3])
	assert.Len(t, candidates, 2*mostSuspects, "each once")
	assert.Len(t, suspects, 1, "what sent nothing is no suspect but for the first")
	for i, d := range dying {
		d.evidence.Conversation = []play.Line{{At: time.Duration(i), Conn: "a", From: "C", Text: "X", Bad: true}}
		d.evidence.Began = now
	}
	dying[0].evidence.Conversation = append(dying[0].evidence.Conversation,
		play.Line{At: time.Millisecond, Conn: "a", From: "S", Ended: true})
	for _, d := range dying[1:] {
		d.evidence.Conversation = append(d.evidence.Conversation, play.Line{At: time.Hour, Conn: "a", From: "S", Ended: true})
	}
	candidates, suspects = candidatesOf(grammar, dying, nil)
	assert.Len(t, candidates, 2*mostSuspects)
	assert.Equal(t, candidates[:mostSuspects], suspects)
	assert.Same(t, dying[len(dying)-1], candidates[0], "the line that was sent last")
}

// TestRankOf: how likely a line is the end of a server.
func TestRankOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text      string
		bad, soon bool
		want      int
	}{
		{"PUSH", true, true, malformed}, {"PUSH", true, false, unreplied}, {"PUSH {}", false, true, unreplied},
		{"FETCH q", false, true, waiting}, {"FETCH", true, true, malformed}, {"FETCH", true, false, waiting},
	} {
		got := rankOf(fwpsuite.Protocol().Dialect.Grammar(), play.Line{Text: test.text, Bad: test.bad}, test.soon)
		assert.Equal(t, test.want, got, test)
	}
	bad, fine := lead{line: "x", rank: malformed, open: true}, lead{line: "INFO", rank: unreplied, open: true}
	assert.Equal(t, bad, bad.followed(fine), "a malformed line stays the likeliest")
	assert.Equal(t, fine, lead{rank: waiting}.followed(fine))
	later := lead{line: "y", rank: malformed}
	assert.Equal(t, later, bad.followed(later), "the later of two")
	assert.Equal(t, lead{line: "INFO", rank: answered}, fine.replied())
	assert.Equal(t, lead{line: "x", rank: malformed}, bad.replied())
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
