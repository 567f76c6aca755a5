package conformance

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestEvidenceIsHeldOnlyIfNothingIsAmiss(t *testing.T) {
	t.Parallel()
	mark := []scenarios.ClauseMark{{Clause: "FWP-ACK-01"}}
	result := func(o play.Outcome, marks []scenarios.ClauseMark) Evidence {
		return Evidence{Results: []play.Result{{Outcome: play.Matched}, {Outcome: o, Marks: marks}}}
	}
	tests := map[string]struct {
		evidence            Evidence
		complete, hasPassed bool
	}{
		"nothing":              {Evidence{}, true, true},
		"matched":              {result(play.Matched, mark), true, true},
		"mismatched":           {result(play.Mismatched, mark), true, false},
		"a set-up that failed": {result(play.Mismatched, nil), false, false},
		"unsure":               {result(play.Unsure, mark), false, false},
		"not reached":          {result(play.NotReached, mark), false, false},
		"a breach":             {Evidence{Breaches: []scenarios.Breach{{}}}, true, false},
		"a finding":            {Evidence{Findings: []Finding{{}}}, true, false},
		"dead":                 {Evidence{DeadReason: "it is gone"}, false, false},
		"open":                 {Evidence{OpenCause: "it cannot be said"}, false, false},
		"an error":             {Evidence{Err: errors.New("interrupted")}, false, false},
	}
	for name, test := range tests {
		assert.Equal(t, test.complete, test.evidence.Complete(), name)
		assert.Equal(t, test.hasPassed, test.evidence.Passed(), name)
	}
}

func TestHowScriptsShareAServer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Sharing{
		"connect as consumer\nC: INFO\nS: $\n":                  SharesAll,
		"needs: alone\nconnect as consumer\nC: FETCH\nS: $-1\n": SharesOneByOne,
		"needs: alone\nconnect as consumer\nC: INFO\nS: $\n":    SharesNothing,
		"needs: flush\nconnect as consumer\nC: FLUSH\nS: +OK\n": SharesNothing,
		"connect as consumer\nrestart\n":                        SharesNothing,
		"connect as consumer\nkill\n":                           SharesNothing,
		"connect as consumer\nC: FETCH $queue\nS: $-1\n":        SharesAll,
	} {
		script, err := scenarios.Parse(fwpscript.Dialect{}, "x", []byte(text))
		require.NoError(t, err, text)
		d := ScriptCheck{Script: script}.Describe()
		assert.Equal(t, want, d.Sharing, text)
		assert.Equal(t, "x", d.ID)
		assert.Equal(t, "x", d.File)
		assert.Equal(t, script.Source, d.Source)
	}
	assert.Equal(t, SharesIfNeeded, Property{}.Describe().Sharing)
}

func TestClausesOfADescription(t *testing.T) {
	t.Parallel()
	d := Description{Marks: []scenarios.ClauseMark{{Clause: "B"}, {Clause: "A", Record: true}, {Clause: "B", Level: "SHOULD"}}}
	assert.Equal(t, []scenarios.ClauseMark{{Clause: "B"}, {Clause: "A", Record: true}}, d.Clauses())
}

func TestTimesOfASetup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		setup    Setup
		limit    time.Duration
		cutShort bool
	}{
		"whatever it takes":   {Setup{}, 0, false},
		"a patience":          {Setup{Patience: time.Hour}, time.Hour, false},
		"quick":               {Setup{Quick: true}, QuickPatience, true},
		"quick, less time":    {Setup{Quick: true, Patience: time.Second}, time.Second, true},
		"quick, just as much": {Setup{Quick: true, Patience: QuickPatience}, QuickPatience, true},
		"quick, more time":    {Setup{Quick: true, Patience: time.Hour}, QuickPatience, true},
	} {
		limit, cutShort := test.setup.patience()
		assert.Equal(t, test.limit, limit, name)
		assert.Equal(t, test.cutShort, cutShort, name)
		ctx, cancel := test.setup.withTimeout(t.Context())
		_, ends := ctx.Deadline()
		assert.Equal(t, test.setup.Quick, ends, name)
		cancel()
	}
}

// A finding about time is taken back if this machine lagged.
func TestLagExcuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clockFinding, ackFinding := Finding{Clause: "FWP-FETCH-05", IsTimed: true}, Finding{Clause: "FWP-ACK-01"}
		calm := Evidence{Began: time.Now(), Findings: []Finding{clockFinding, ackFinding}}
		calm.excuse(new(machine.Meter))
		assert.Equal(t, []Finding{clockFinding, ackFinding}, calm.Findings)
		assert.Empty(t, calm.OpenCause)
		calm.excuse(nil)
		assert.Len(t, calm.Findings, 2)
		for lag, want := range map[time.Duration][]Finding{machine.Room - 1: {clockFinding, ackFinding}, machine.Room: {ackFinding}} {
			busy, meter := Evidence{Began: time.Now(), Findings: []Finding{clockFinding, ackFinding}}, new(machine.Meter)
			meter.Note(time.Now(), lag)
			busy.excuse(meter)
			assert.Equal(t, want, busy.Findings, lag)
			assert.Equal(t, lag == machine.Room, busy.IsTransient, lag)
		}
	})
}

func TestReasonOfAnOpenCheck(t *testing.T) {
	t.Parallel()
	for want, e := range map[reports.ReasonCode]Evidence{
		reports.ReasonSetUp:    {},
		reports.ReasonLag:      {IsTransient: true},
		reports.ReasonUnsteady: {IsTransient: true, Reason: reports.ReasonUnsteady},
	} {
		assert.Equal(t, want, e.ReasonOrDefault())
	}
}

// refusing is a target that refuses every connection.
type refusing struct{ play.Target }

func TestAPropertyThatIsRefusedEachConnection(t *testing.T) {
	t.Parallel()
	target := refusing{}
	p := Property{Name: "x", Run: func(context.Context, Setup) Evidence {
		return Evidence{DeadReason: "no new connection is served", Findings: []Finding{{Crash: true, Detail: "it ended"}}}
	}}
	e := p.Play(t.Context(), Setup{Target: target, Suite: &Suite{Dialect: fwpscript.Dialect{}}})
	assert.Empty(t, e.DeadReason, "what was never served did not die")
	assert.Equal(t, "no connection got as far as being identified", e.OpenCause)
	assert.Equal(t, []Finding{{Detail: "it ended"}}, e.Findings)
	assert.False(t, e.Began.IsZero())
}
