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
	lateReply := play.Result{Outcome: play.Mismatched, IsLate: true, Cause: "after 2 s"}
	wrongReply := play.Result{Outcome: play.Mismatched, Cause: "another reply"}
	for name, test := range map[string]struct {
		before   *conformance.Evidence
		result   play.Result
		want     play.Outcome
		unproven bool
	}{
		"the first play":                    {nil, lateReply, play.Unsure, true},
		"behind one without a late reply":   {&conformance.Evidence{}, lateReply, play.Unsure, true},
		"behind a late reply":               {&conformance.Evidence{IsUnproven: true}, lateReply, play.Mismatched, false},
		"wrong in another way":              {nil, wrongReply, play.Mismatched, false},
		"wrong in another way, behind late": {&conformance.Evidence{IsUnproven: true}, wrongReply, play.Mismatched, false},
		"right":                             {nil, play.Result{Outcome: play.Matched}, play.Matched, false},
	} {
		e := conformance.Evidence{Results: []play.Result{test.result}}
		doubtLateReplies(&e, test.before)
		got := e.Results[0]
		assert.Equal(t, test.want, got.Outcome, name)
		assert.Equal(t, test.unproven, e.IsUnproven, name)
		assert.Equal(t, test.unproven, got.IsTransient && got.Reason == play.Lag, name)
		assert.Equal(t, test.unproven, strings.Contains(got.Cause, "no second play confirmed it"), name)
	}
}

// TestFurtherTries: how often a check is tried again that lag made inconclusive, or whose finding is counted.
func TestFurtherTries(t *testing.T) {
	t.Parallel()
	const shortTime, longTime = conformance.QuickPatience, conformance.QuickPatience + 1
	for _, test := range []struct {
		purpose         purpose
		took            time.Duration
		unproven, quick bool
		want            int
	}{
		{timeReplay, shortTime, false, false, 3}, {timeReplay, shortTime, false, true, 3}, {timeReplay, longTime, false, false, 1},
		{timeReplay, longTime, false, true, 0}, {timeReplay, longTime, true, false, 3}, {timeReplay, longTime, true, true, 3},
		{countReplay, shortTime, false, false, 3}, {countReplay, longTime, false, false, 0}, {countReplay, longTime, true, false, 3},
	} {
		assert.Equal(t, test.want, furtherTries(test.purpose, test.took, test.unproven, test.quick), test)
	}
}

// What becomes of a check that is refused a connection: beside others it is played again with half as many at a time,
// alone two times more.
func TestARefusedConnection(t *testing.T) {
	t.Parallel()
	refusal := conformance.Evidence{Refusal: &play.Refusal{AllConns: 3}, Results: []play.Result{{Outcome: play.Mismatched}}}
	deadPlay := refusal
	deadPlay.DeadReason = "dead"
	for name, test := range map[string]struct {
		room     int // for connections, before
		refuses  bool
		task     task
		e        conformance.Evidence
		isQueued bool
		want     int // room behind it
	}{
		"beside others":            {400, false, task{isShared: true, conns: 64}, refusal, true, 32},
		"of an earlier time":       {8, false, task{isShared: true, conns: 64}, refusal, true, 8},
		"beside one":               {400, false, task{isShared: true, conns: 1}, refusal, true, 1},
		"alone":                    {1, false, task{}, refusal, true, 1},
		"alone, once more":         {1, false, task{refusedTries: aloneTries - 1}, refusal, true, 1},
		"alone, and no more":       {1, false, task{refusedTries: aloneTries}, refusal, false, maxConns},
		"where all are refused":    {400, true, task{isShared: true, conns: 64}, refusal, false, 400},
		"a server that has ended":  {400, false, task{isShared: true, conns: 64}, deadPlay, false, 400},
		"a check that was let in":  {400, false, task{isShared: true, conns: 64}, conformance.Evidence{}, false, 400},
		"too few for a single one": {1, false, task{refusedTries: aloneTries}, ownRefused(refusal), false, 1},
	} {
		s, h := new(runState), newHost(Server{})
		h.connLimit, h.refusesAlways = test.room, test.refuses
		test.task.host, test.task.evidence = h, &test.e
		assert.Equal(t, test.isQueued, s.postpone(&test.task), name)
		assert.Equal(t, test.isQueued, len(s.pending) == 1, name)
		assert.Equal(t, test.want, h.connLimit, name)
	}
}

// ownRefused is evidence of a refusal beside other connections of the same play.
func ownRefused(e conformance.Evidence) conformance.Evidence {
	e.Refusal = &play.Refusal{OwnConns: 2, AllConns: 2}
	return e
}

// TestWhoEndedTheServer: a check that found it dead has ended it if it was alone and was served before. Of a crash,
// what was dead before the check began is started again for it, as often as a server may end in a run.
func TestWhoEndedTheServer(t *testing.T) {
	t.Parallel()
	lines := []reports.Line{{From: reports.FromServer, Text: "+HI"}}
	closes := []reports.Line{{From: reports.FromServer, IsEnd: true}}
	for name, test := range map[string]struct {
		together bool
		e        conformance.Evidence
		certain  bool
	}{
		"alone, and served":       {false, conformance.Evidence{Conversation: lines}, true},
		"a property":              {false, conformance.Evidence{HasServed: true}, true},
		"beside others":           {true, conformance.Evidence{Conversation: lines}, false},
		"nothing was said":        {false, conformance.Evidence{}, false},
		"the connection was shut": {false, conformance.Evidence{Conversation: closes}, false},
	} {
		s := newRunState(&Runner{Suite: fwpsuite.Protocol()})
		assert.Equal(t, test.certain, s.isCertain(&task{isShared: test.together, evidence: &test.e}), name)
	}
	s, h := newRunState(&Runner{Suite: fwpsuite.Protocol()}), newHost(Server{})
	unserved := &task{host: h, isSuspect: true, evidence: &conformance.Evidence{DeadReason: "dead"}}
	h.crash = &crash{remaining: 1}
	for range maxCrashes {
		s.pending = nil
		s.endAlone(unserved)
		assert.Equal(t, []*task{unserved}, s.pending)
		assert.True(t, unserved.isSuspect && h.isDown && h.lostReason == "")
	}
	s.endAlone(unserved)
	assert.Equal(t, "the server no longer served", h.lostReason)
	assert.Len(t, s.crashes, 1)
}

// TestWreck: a check may have ended a server that the next ones had within a second, and is played again on a new one.
func TestWreck(t *testing.T) {
	t.Parallel()
	now := time.Now()
	taskOf := func(ago time.Duration) *task {
		return &task{evidence: &conformance.Evidence{Began: now.Add(-ago - time.Minute), Took: time.Minute}}
	}
	oldTask, before, newTask, last := taskOf(wreckDelay+1), taskOf(wreckDelay), taskOf(0), taskOf(0)
	w := newWreck(&host{hostileTasks: []*task{oldTask, before, newTask, last}}, last, conformance.Evidence{Began: now})
	assert.True(t, slices.Equal([]*task{last, newTask, before}, w.tasks))

	s, h := newRunState(&Runner{Suite: fwpsuite.Protocol()}), newHost(Server{})
	h.StartServer = func() (Server, func(), error) { return Server{}, func() {}, nil }
	idle := newHost(Server{})
	for _, other := range []*wreck{w, nil} {
		h.idleHosts = []*host{idle}
		hostile := &task{hostModel: h, description: conformance.Description{Hostile: true}, wreck: other}
		_, err := s.occupy(hostile)
		require.NoError(t, err)
		assert.Equal(t, other == nil, hostile.server == idle)
	}
}

// verdictAbout returns the verdict about a clause of the play of a script with one line about it.
func verdictAbout(clause string, fatal bool, e conformance.Evidence, level string) reports.ClauseVerdict {
	mark := scenarios.ClauseMark{Clause: clause, Level: level}
	for i := range e.Results {
		if e.Results[i].Marks != nil {
			e.Results[i].Marks = []scenarios.ClauseMark{mark}
		}
	}
	s := newRunState(&Runner{Suite: fwpsuite.Protocol()})
	check, _ := s.verdicts(&task{
		description: conformance.Description{ID: "a/b", Marks: []scenarios.ClauseMark{mark}}, evidence: &e, isFatal: fatal,
	})
	i := slices.IndexFunc(check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == clause })
	return check.Clauses[i]
}

// TestWhatKeepsAClauseFromPassing: all lines about it must match, and the play must get to its end.
func TestWhatKeepsAClauseFromPassing(t *testing.T) {
	t.Parallel()
	marks := []scenarios.ClauseMark{{}}
	line := func(o play.Outcome) play.Result { return play.Result{Outcome: o, Marks: marks} }
	setup := func(o play.Outcome) play.Result { return play.Result{Outcome: o} }
	playOf := func(all ...play.Result) conformance.Evidence { return conformance.Evidence{Results: all} }
	deadPlay := playOf(line(play.Mismatched))
	deadPlay.DeadReason = "no new connection is served"
	openPlay := playOf(line(play.Matched))
	openPlay.OpenCause = "this machine was late"
	breach := playOf(line(play.Matched))
	breach.Breaches = []scenarios.Breach{{Kind: scenarios.Unasked}}
	setUpLag := setup(play.Mismatched)
	setUpLag.IsTransient = true
	for name, test := range map[string]struct {
		e      conformance.Evidence
		fatal  bool
		level  string
		want   reports.Verdict
		reason reports.ReasonCode
		halted bool
	}{
		"it matched":          {e: playOf(line(play.Matched)), want: reports.Pass},
		"it did not match":    {e: playOf(line(play.Mismatched)), want: reports.Fail},
		"of a recommendation": {e: playOf(line(play.Mismatched)), level: "SHOULD", want: reports.Warn},
		"one of two":          {e: playOf(line(play.Matched), line(play.Mismatched)), want: reports.Fail},
		"of a recommendation, and the rest": {
			e: playOf(line(play.Mismatched), line(play.NotReached)), level: "SHOULD", want: reports.Warn,
		},
		"the rest was not reached": {e: playOf(line(play.Mismatched), line(play.NotReached)), want: reports.Fail},
		"it was not reached": {
			e: playOf(setup(play.Mismatched), line(play.NotReached)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
			halted: true,
		},
		"the set-up failed by lag": {
			e: playOf(setUpLag, line(play.NotReached)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
		},
		"a set-up line behind it failed": {
			e: playOf(line(play.Matched), setup(play.Mismatched)), want: reports.Inconclusive, reason: reports.ReasonSetUp,
			halted: true,
		},
		"the server died of another": {
			e: deadPlay, want: reports.Inconclusive, reason: reports.ReasonSetUp, halted: true,
		},
		"the server died of it":              {e: deadPlay, fatal: true, want: reports.Crash},
		"the play is open":                   {e: openPlay, want: reports.Inconclusive, reason: reports.ReasonSetUp},
		"something else came (no end to it)": {e: breach, want: reports.Pass},
	} {
		got := verdictAbout("FWP-PUSH-01", test.fatal, test.e, test.level)
		assert.Equal(t, test.want, got.Verdict, name)
		assert.Equal(t, test.reason, got.Reason, name)
		assert.Equal(t, test.halted, got.IsHalted, name)
	}
}

// TestFold: of several repetitions the worst verdict counts for the check and for each clause, each finding stands once
// with the conversation of its own run, and the verdicts are counted.
func TestFold(t *testing.T) {
	t.Parallel()
	clause := func(id string, v reports.Verdict, reason string) reports.ClauseVerdict {
		return reports.ClauseVerdict{ID: id, Verdict: v, Cause: reason}
	}
	finding := func(id string, v reports.Verdict) reports.Finding { return reports.Finding{Clause: id, Verdict: v} }
	line := func(text string) []reports.Line { return []reports.Line{{Text: text}} }
	got := fold([]reports.Check{
		{ID: "a/b", Verdict: reports.Warn, LeftoverJobs: []string{"j1"}, Conversation: line("first"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Pass, ""), clause("B", reports.Warn, "b1")},
			Findings: []reports.Finding{finding("B", reports.Warn)}},
		{ID: "a/b", Verdict: reports.Fail, LeftoverJobs: []string{"j2"}, Conversation: line("second"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Fail, "a2"), clause("B", reports.Inconclusive, "b2")},
			Findings: []reports.Finding{finding("A", reports.Fail)}},
		{ID: "a/b", Verdict: reports.Fail, Conversation: line("third"),
			Clauses:  []reports.ClauseVerdict{clause("A", reports.Fail, "a3"), clause("B", reports.Pass, "")},
			Findings: []reports.Finding{finding("A", reports.Fail), finding("A", reports.Warn)}},
	})
	assert.Equal(t, reports.Fail, got.Verdict)
	assert.Equal(t, line("second"), got.Conversation, "of the first of the worst")
	assert.Equal(t, []string{"j1", "j2"}, got.LeftoverJobs)
	var clauses, findings []string
	for _, c := range got.Clauses {
		clauses = append(clauses, c.ID+" "+c.Verdict.String()+" "+c.Cause)
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
	check := reports.Check{ID: "a", Verdict: reports.Pass}
	assert.Equal(t, check, fold([]reports.Check{check}), "a single run is not counted")
}
