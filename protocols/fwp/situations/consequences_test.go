package situations

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// brokenClauses returns decisions that clauses are broken.
func brokenClauses(clauses ...string) (all []conformance.Decision) {
	for _, clause := range clauses {
		all = append(all, conformance.Decision{Clause: "FWP-" + clause, Outcome: play.Mismatched, Got: "what it was"})
	}
	return all
}

// TestConsequences leaves those findings open that follow from another one.
func TestConsequences(t *testing.T) {
	t.Parallel()
	const fetched = "1 worker w\n1 C: FETCH\n1 S: ${\"jid\":\"a\",\"jobtype\":\"t\",\"args\":[]}"
	for _, row := range []struct {
		name, situation, conversation string
		found, want                   []string
	}{
		{"nothing else was found", "x", "1 worker w", []string{"FETCH-09"}, []string{"FETCH-09 broken"}},
		{
			"an ACK that was refused for its spaces", "x", fetched + "\n1 C: ACK  {\"jid\":\"a\"}\n1 S: -ERR no",
			[]string{"FRAME-02", "FETCH-09", "BEAT-06"}, []string{"FRAME-02 broken", "FETCH-09 open", "BEAT-06 broken"},
		},
		{
			"an ACK that was carried out all the same", "x", fetched + "\n1 C: ACK  {\"jid\":\"a\"}\n1 S: +OK",
			[]string{"FRAME-02", "FETCH-09"}, []string{"FRAME-02 broken", "FETCH-09 broken"},
		},
		{
			"a BEAT that nothing answered", "x", "1 worker w\n1 C: BEAT  {\"wid\":\"w\"}",
			[]string{"FRAME-02", "BEAT-06", "FETCH-09"}, []string{"FRAME-02 broken", "BEAT-06 open", "FETCH-09 broken"},
		},
		{
			"an empty line", "x", "1 producer\n1 C: PUSH {\"jid\":\"j1\",\"jobtype\":\"t\",\"args\":[]}\n1 C: ",
			[]string{"FRAME-04", "FRAME-07", "WU-19", "BEAT-06"},
			[]string{"FRAME-04 broken", "FRAME-07 open", "WU-19 open", "BEAT-06 broken"},
		},
		{
			"replies are not understood", "x", "1 worker w",
			[]string{"RESP-08", "FRAME-07", "FETCH-09", "FETCH-10"},
			[]string{"RESP-08 broken", "FRAME-07 open", "FETCH-09 open", "FETCH-10 broken"},
		},
		{
			"it is not quiet after a loss", quietAfterLoss, "1 worker w",
			[]string{"STATE-24", "STATE-17"}, []string{"STATE-24 broken", "STATE-17 open"},
		},
		{
			"it is not quiet, and nothing was lost", "quiet/once", "1 worker w",
			[]string{"STATE-24", "STATE-17"}, []string{"STATE-24 broken", "STATE-17 broken"},
		},
		{
			"a second report for a job", "x", fetched + ackLine("a") + ackLine("a"),
			[]string{"FETCH-10", "WRK-15"}, []string{"FETCH-10 broken", "WRK-15 broken"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			replayTrial(t, &situation{id: row.situation}, row.conversation, func(t *testing.T, tr *trial, _ *program) {
				t.Helper()
				got := tr.consequences(brokenClauses(row.found...), tr.rules.Results())
				assert.Equal(t, row.want, outcomes(got))
			})
		})
	}
}

// TestCauseIsNamed: what is open says which finding it may follow from.
func TestCauseIsNamed(t *testing.T) {
	t.Parallel()
	replayTrial(t, &situation{id: "x"}, "1 worker w", func(t *testing.T, tr *trial, _ *program) {
		t.Helper()
		got := tr.consequences(brokenClauses("RESP-08", "FETCH-09"), tr.rules.Results())
		assert.Equal(t, "this finding may be a consequence of the one about FWP-RESP-08", got[1].Cause)
		assert.Equal(t, reports.ReasonSetUp, got[1].Reason)
		assert.Empty(t, got[0].Cause)
	})
}

// TestShownLines takes the verb from the last event that shows a breach.
func TestShownLines(t *testing.T) {
	t.Parallel()
	breach := func(texts ...string) (b clientrules.Breach) {
		for _, text := range texts {
			b.Evidence = append(b.Evidence, clientrules.Moment{Text: text})
		}
		return b
	}
	assert.Equal(t, "ACK", verbOfEvidence(breach("C: FETCH", "C: ack{}")))
	assert.Equal(t, "PUSH", verbOfEvidence(breach("C:  PUSH {}")))
	assert.Empty(t, verbOfEvidence(breach()))
	assert.Equal(t, "INFO", textOfEvidence(breach("C: INFO")))
}
