package situations

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestFindingsAreConfirmed plays a situation several times: what may depend on time is a finding only if a second play
// has it, too.
func TestFindingsAreConfirmed(t *testing.T) {
	t.Parallel()
	type plays = [][]string // the clauses that each play finds broken
	for _, row := range []struct {
		name          string
		certainClause string
		plays         plays
		want          []string // of the last play
		isTransient   bool     // the last play asks for another one
	}{
		{"once", "", plays{{"BEAT-06"}}, []string{"BEAT-06 open"}, true},
		{"twice", "", plays{{"BEAT-06"}, {"BEAT-06"}}, []string{"BEAT-06 broken"}, false},
		{"what is certain needs no second play", "FWP-BEAT-06", plays{{"BEAT-06"}}, []string{"BEAT-06 broken"}, false},
		{"once, and then not", "", plays{{"BEAT-06"}, {}}, []string{"BEAT-06 open"}, false},
		{"twice, and then not", "", plays{{"BEAT-06"}, {"BEAT-06"}, {}}, nil, false},
		{
			"another one each time", "", plays{{"BEAT-06"}, {"FETCH-09"}}, []string{"FETCH-09 open", "BEAT-06 open"}, true,
		},
		{
			"one again, and another one", "", plays{{"BEAT-06"}, {"BEAT-06", "FETCH-09"}},
			[]string{"BEAT-06 broken", "FETCH-09 open"}, true,
		},
		{"nothing", "", plays{{}}, nil, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := &Harness{}
			h.setUp()
			var e conformance.Evidence
			for _, clauses := range row.plays {
				e = conformance.Evidence{Decisions: brokenClauses(clauses...)}
				tr := &trial{harness: h, situation: &situation{id: "x"}}
				tr.confirm(&e, map[string]bool{row.certainClause: true})
			}
			assert.Equal(t, row.want, outcomes(e.Decisions))
			assert.Equal(t, row.isTransient, e.IsTransient)
			assert.Equal(t, row.isTransient, e.IsUnproven)
		})
	}
}

// TestALagMayExplainWhatASituationFinds: what did not come in time is open where this machine was late itself.
func TestALagMayExplainWhatASituationFinds(t *testing.T) {
	t.Parallel()
	for lag, want := range map[time.Duration]string{machine.Room: "FETCH-11 open", machine.Room - 1: "FETCH-11 broken"} {
		h := &Harness{}
		h.setUp()
		var e conformance.Evidence
		for range 2 {
			tr := &trial{
				harness: h, situation: &situation{id: "x"}, startTime: time.Now().Add(-time.Minute), meter: new(machine.Meter),
			}
			tr.meter.Note(time.Now(), lag)
			tr.decide("FETCH-11", false, "", "what it was")
			e = conformance.Evidence{Decisions: tr.decisions}
			tr.confirm(&e, nil)
		}
		assert.Equal(t, []string{want}, outcomes(e.Decisions), lag)
	}
}

// TestALagDoesNotExplainAMissingReport that was awaited for much longer: two plays without it are enough.
func TestALagDoesNotExplainAMissingReport(t *testing.T) {
	t.Parallel()
	for lag, want := range map[time.Duration]string{longWaitRoom - 1: "FETCH-09 broken", longWaitRoom: "FETCH-09 open"} {
		h := &Harness{}
		h.setUp()
		var e conformance.Evidence
		for range 2 {
			replayTrial(t, &situation{id: "x"}, "1 worker w"+jobLine(1, "a"), func(t *testing.T, tr *trial, _ *program) {
				t.Helper()
				tr.harness, tr.meter = h, new(machine.Meter)
				tr.meter.Note(time.Now(), lag)
				tr.judgeReports([]string{"a"}, "", "within 10s of the delivery")
				e = conformance.Evidence{Decisions: tr.decisions}
				tr.confirm(&e, nil)
			})
		}
		assert.Equal(t, []string{want}, outcomes(e.Decisions), lag)
	}
}

// TestAMinuteOutlastsALag: what did not come within a minute is a breach for certain if this machine was late by less
// than a second.
func TestAMinuteOutlastsALag(t *testing.T) {
	t.Parallel()
	for lag, isCertain := range map[time.Duration]bool{longWaitRoom - 1: true, longWaitRoom: false} {
		replayTrial(t, &situation{}, "1 worker w", func(t *testing.T, tr *trial, _ *program) {
			t.Helper()
			tr.meter = new(machine.Meter)
			tr.decide("FETCH-11", false, "", "what it was")
			tr.meter.Note(time.Now(), lag)
			tr.makeCertain(harmNoWork, 0)
			assert.Equal(t, isCertain, tr.isCertain["FWP-FETCH-11"], lag)
		})
	}
}

// TestASilentProgramIsSilentAgain: a program that has connected, and sends nothing, is not played again; one that has
// not may have been slow to start.
func TestASilentProgramIsSilentAgain(t *testing.T) {
	t.Parallel()
	for isTransient, attack := range map[bool]func(*attacker){
		true: func(a *attacker) { a.pause(time.Hour) },
		false: func(a *attacker) {
			if nc := a.dial(); nc != nil {
				a.pause(time.Hour)
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			network := memnet.New()
			h := &Harness{
				Launcher:    &attacker{network: network, attack: attack, tally: new(tally)},
				ListenAgain: network.Listen,
				Listen:      func(bool) (net.Listener, error) { return network.Listen("127.0.0.1:0") },
			}
			h.setUp()
			for _, play := range []func(*trial){playHello(""), playWrongCertificate} {
				s := &situation{id: "x", play: play, setup: setup{wrongCert: new(wrongCertificate)}}
				e := check{s, h}.Play(t.Context(), conformance.Setup{})
				assert.Equal(t, isTransient, e.IsTransient)
				clear(h.findings)
			}
		})
	}
}

// TestFindingsOfOtherSituations say nothing about this one.
func TestFindingsOfOtherSituations(t *testing.T) {
	t.Parallel()
	h := &Harness{}
	h.setUp()
	for _, id := range []string{"x", "y"} {
		e := conformance.Evidence{Decisions: brokenClauses("BEAT-06")}
		(&trial{harness: h, situation: &situation{id: id}}).confirm(&e, nil)
		assert.Equal(t, []string{"BEAT-06 open"}, outcomes(e.Decisions), id)
		assert.Equal(t, reports.ReasonUnsteady.Words()+": what it was", e.Decisions[0].Cause)
	}
}

// TestSituationsConfirmEachOther: what a rule has found in two situations, at different times, needs no second play of
// either. What a situation has found by itself does, and what one stall of the machine may have done to both.
func TestSituationsConfirmEachOther(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		isByRule   bool
		first, now time.Duration // of the breaches
		want       string
	}{
		{"at different times", true, 0, time.Second, "STATE-22 broken"},
		{"the other way round", true, time.Minute, time.Second, "STATE-22 broken"},
		{"at the same time", true, 0, minDistance - 1, "STATE-22 open"},
		{"not by a rule", false, 0, time.Minute, "STATE-22 open"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := &Harness{}
			h.setUp()
			start := time.Now()
			var e conformance.Evidence
			for id, at := range map[string]time.Duration{"x": row.first, "y": row.now} {
				e = conformance.Evidence{Decisions: brokenClauses("STATE-22")}
				tr := &trial{harness: h, situation: &situation{id: id}, recording: &recording{start: start}}
				if row.isByRule {
					tr.brokenAt = map[string]time.Duration{"FWP-STATE-22": at}
				}
				tr.confirm(&e, nil)
			}
			assert.Equal(t, []string{row.want}, outcomes(e.Decisions), "of the one that is played last")
		})
	}
}

// TestAProgramThatDidNotGreet is given one more play, and no more.
func TestAProgramThatDidNotGreet(t *testing.T) {
	t.Parallel()
	h := &Harness{}
	h.setUp()
	for _, isTransient := range []bool{true, false} {
		var e conformance.Evidence
		tr := &trial{harness: h, situation: &situation{id: "x"}, stopReason: "it sent no HELLO", isTransient: true}
		tr.confirm(&e, nil)
		assert.Equal(t, isTransient, e.IsTransient)
		assert.Empty(t, e.Decisions)
	}
	var e conformance.Evidence
	(&trial{harness: h, situation: &situation{id: "y"}, stopReason: "there is no certificate"}).confirm(&e, nil)
	assert.False(t, e.IsTransient, "another play would stop for the same reason")
}

// TestUndecidedClauses: what a situation is about and nothing has decided is open, with the best reason that there is.
func TestUndecidedClauses(t *testing.T) {
	t.Parallel()
	heldDecision := func(clause string) conformance.Decision {
		return conformance.Decision{Clause: "FWP-" + clause, Outcome: play.Matched}
	}
	for _, row := range []struct {
		name, clauses, stop string
		decided             []conformance.Decision
		want                []string
		cause               string // of the last one
	}{
		{"all are decided", "BEAT-06", "", []conformance.Decision{heldDecision("BEAT-06")}, []string{"BEAT-06 held"}, ""},
		{"its goal was not seen", "BEAT-06", "", nil, []string{"BEAT-06 open"}, "it was never seen that a worker was"},
		{"no rule is about it", "WRK-15", "", nil, []string{"WRK-15 open"}, "the situation does not test it"},
		{"it did not come about", "BEAT-06", "why", []conformance.Decision{heldDecision("BEAT-06")}, []string{"BEAT-06 open"}, "why"},
		{"something was wrong before that", "BEAT-06", "why", brokenClauses("BEAT-06"), []string{"BEAT-06 broken"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			replayTrial(t, &situation{clauses: row.clauses}, "1 worker w", func(t *testing.T, tr *trial, _ *program) {
				t.Helper()
				tr.stopReason = row.stop
				got := tr.complete(row.decided, tr.rules.Results())
				assert.Equal(t, row.want, outcomes(got))
				assert.Contains(t, got[len(got)-1].Cause, row.cause)
			})
		})
	}
}

// TestAGoalIsNotSeenOnALateMachine: it is waited for again, as what a lag may explain.
func TestAGoalIsNotSeenOnALateMachine(t *testing.T) {
	t.Parallel()
	for lag, isTransient := range map[time.Duration]bool{machine.Room: true, machine.Room - 1: false} {
		replayTrial(t, &situation{clauses: "BEAT-06"}, "1 worker w", func(t *testing.T, tr *trial, _ *program) {
			t.Helper()
			tr.startTime, tr.meter = time.Now().Add(-time.Minute), new(machine.Meter)
			tr.meter.Note(time.Now(), lag)
			e := conformance.Evidence{Decisions: tr.complete(nil, tr.rules.Results())}
			tr.confirm(&e, nil)
			assert.Equal(t, []string{"BEAT-06 open"}, outcomes(e.Decisions))
			assert.Equal(t, isTransient, e.IsTransient, lag)
		})
	}
}

// TestRulesDecide: a rule that is broken counts in every situation, and one that held only where the situation is about
// its clause. What binds consumers alone is no finding about a producer.
func TestRulesDecide(t *testing.T) {
	t.Parallel()
	const early = "1 worker w\n1 C: BEAT {\"wid\":\"w\"}\n1 S: +OK\n+1s\n1 C: BEAT {\"wid\":\"v\"}\n1 S: +OK"
	replayTrial(t, &situation{clauses: "FRAME-01"}, early, func(t *testing.T, tr *trial, _ *program) {
		t.Helper()
		all, isCertain := tr.ruleDecisions(tr.rules.Results())
		assert.ElementsMatch(t, []string{"FRAME-01 held", "BEAT-07 broken", "BEAT-10 broken"}, outcomes(all))
		assert.True(t, isCertain["FWP-BEAT-10"], "what is wrong by itself is certain")
		assert.False(t, isCertain["FWP-BEAT-07"])
		for _, d := range all {
			if d.Outcome == play.Mismatched {
				assert.Equal(t, "c1", d.Conn)
				assert.Equal(t, tr.all(line("BEAT"))[1].At, d.At, "the last event that shows it")
			}
		}
		tr.harness.IsProducer = true
		all, _ = tr.ruleDecisions(tr.rules.Results())
		assert.Equal(t, []string{"FRAME-01 held"}, outcomes(all))
	})
}

func TestWhatIsWrongByItselfNeedsNoOtherPlay(t *testing.T) {
	t.Parallel()
	cases := []struct {
		breach    string
		isCertain bool
	}{
		{clientrules.LineEnd, true}, {clientrules.HelloVersion, true}, {clientrules.JobReportedTwice, true},
		{clientrules.ClosedWithoutEnd, true}, {clientrules.AckOfFailed, true}, {clientrules.FailOfDone, false},
		{clientrules.PushJIDReused, false}, {clientrules.BeatMissing, false},
		{clientrules.FetchAfterQuiet, false},
	}
	for _, c := range cases {
		t.Run(c.breach, func(t *testing.T) {
			t.Parallel()
			tr := &trial{harness: &Harness{}, situation: &situation{}}
			decisions, isCertain := tr.ruleDecisions([]clientrules.Result{
				{Rule: clientrules.Rule{Breach: c.breach}, Breaches: 1, Examples: []clientrules.Breach{{}}},
			})
			if assert.Len(t, decisions, 1) && c.isCertain {
				assert.Empty(t, (&trial{harness: &Harness{}}).doubts(decisions, isCertain))
			} else {
				assert.Equal(t, []string{fwpsuite.ClauseOf(c.breach)}, (&trial{harness: &Harness{}}).doubts(decisions, isCertain))
			}
		})
	}
}

// What is certain stands, whatever else a play has found that another one has to confirm.
func TestCertainFindingsStandBesideDoubtfulOnes(t *testing.T) {
	t.Parallel()
	h := &Harness{}
	h.setUp()
	tr := &trial{harness: h, situation: &situation{id: "x"}}
	e := &conformance.Evidence{Decisions: []conformance.Decision{
		{Clause: "FWP-HELLO-02", Outcome: play.Mismatched},
		{Clause: "FWP-BEAT-06", Outcome: play.Mismatched},
	}}
	tr.confirm(e, map[string]bool{"FWP-HELLO-02": true})
	assert.Equal(t, play.Mismatched, e.Decisions[0].Outcome)
	assert.Equal(t, play.Unsure, e.Decisions[1].Outcome)
	assert.True(t, e.IsTransient, "another play may confirm the other one")
}

// TestALineOfAProcessThatBreaksDown: a process that has broken down in the middle of a line is not to be blamed for
// that.
func TestALineOfAProcessThatBreaksDown(t *testing.T) {
	t.Parallel()
	for end, want := range map[string][]string{
		"":                {"FRAME-01 broken", "FRAME-01 held"},
		"\nexited 0":      {"FRAME-01 broken", "FRAME-01 held"},
		"\nexited 1":      {"FRAME-01 held"},
		"\n+5s\nexited 1": {"FRAME-01 broken", "FRAME-01 held"},
	} {
		s := &situation{id: "x", clauses: "FRAME-01"}
		replayTrial(t, s, "1 producer\n1 C: \"PUSH {\"\n1 C: <close>"+end, func(t *testing.T, tr *trial, _ *program) {
			t.Helper()
			all, _ := tr.ruleDecisions(tr.rules.Results())
			assert.ElementsMatch(t, want, outcomes(all), end)
		})
	}
}
