package workercheck

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/scenarios"
)

func TestWhatIsWrongByItselfNeedsNoOtherPlay(t *testing.T) {
	t.Parallel()
	cases := []struct {
		breach  string
		certain bool
	}{
		{monitor.LineEnd, true},
		{monitor.LineForm, true},
		{monitor.LineSyntax, true},
		{monitor.LineUTF8, true},
		{monitor.HelloNotFirst, true},
		{monitor.HelloVersion, true},
		{monitor.WorkerFields, true},
		{monitor.PasswordMissing, true},
		{monitor.EndWithJobs, true},
		{monitor.PasswordHash, true},
		{monitor.FetchWithoutWid, true},
		{monitor.HelloDiffers, true},
		{monitor.WidShared, true},
		{monitor.FetchOtherQueue, true},
		{monitor.BeatWid, true},
		{monitor.BeatState, true},
		{monitor.BeatMemory, true},
		{monitor.AckFields, true},
		{monitor.FailFields, true},
		{monitor.FailEmpty, true},
		{monitor.AckOfFailed, true},
		{monitor.PushJID, true},
		{monitor.PushJobtype, true},
		{monitor.PushArgs, true},
		{monitor.PushOptional, true},
		{monitor.PushReadOnly, true},
		{monitor.FailOfDone, false},
		{monitor.PushJIDReused, false},
		{monitor.BeatInterval, false},
		{monitor.BeatMissing, false},
		{monitor.FetchAfterQuiet, false},
	}
	for _, c := range cases {
		t.Run(c.breach, func(t *testing.T) {
			t.Parallel()
			b := &bed{harness: &Harness{}, situation: &Situation{}}
			found, sure := b.monitored([]monitor.Result{
				{Rule: monitor.Rule{Breach: c.breach}, Breaches: 1, Examples: []monitor.Breach{{}}},
			})
			if assert.Len(t, found, 1) && c.certain {
				assert.Empty(t, b.doubtful(found, sure))
			} else {
				assert.Equal(t, []string{conformance.ClauseOf(c.breach)}, b.doubtful(found, sure))
			}
		})
	}
}

// What is certain stands, whatever else a play has found that another one has to confirm.
func TestCertainFindingsStandBesideDoubtfulOnes(t *testing.T) {
	t.Parallel()
	h := &Harness{}
	h.setUp()
	b := &bed{harness: h, situation: &Situation{ID: "x"}}
	e := &conformance.Evidence{Decisions: []conformance.Decision{
		{Clause: "FWP-HELLO-02", Outcome: scenarios.Mismatched},
		{Clause: "FWP-BEAT-06", Outcome: scenarios.Mismatched},
	}}
	b.confirm(e, map[string]bool{"FWP-HELLO-02": true})
	assert.Equal(t, scenarios.Mismatched, e.Decisions[0].Outcome)
	assert.Equal(t, scenarios.Unsure, e.Decisions[1].Outcome)
	assert.True(t, e.Transient, "another play may confirm the other one")
}
