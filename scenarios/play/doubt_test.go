package play

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

func TestWhatLagCastsDoubtOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lag, ago time.Duration
		result   Result
		want     Outcome
	}{
		"no lag":              {0, 0, Result{Outcome: Mismatched, timed: true}, Mismatched},
		"a small one":         {90 * time.Millisecond, 0, Result{Outcome: Mismatched, timed: true}, Mismatched},
		"time is the premise": {110 * time.Millisecond, 0, Result{Outcome: Mismatched, timed: true}, Unsure},
		"it is not":           {110 * time.Millisecond, 0, Result{Outcome: Mismatched}, Mismatched},
		"long ago, and large": {600 * time.Millisecond, 20 * time.Second, Result{Outcome: Mismatched}, Unsure},
		"long ago": {
			110 * time.Millisecond, 20 * time.Second, Result{Outcome: Mismatched, timed: true}, Mismatched},
		"a match": {time.Hour, 0, Result{Outcome: Matched, timed: true}, Matched},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pl := &play{Player: Player{Meter: new(Meter)}, rec: &recorder{start: time.Now()}}
				time.Sleep(time.Second)
				pl.Meter.noteLate(time.Now(), test.lag)
				time.Sleep(test.ago)
				test.result.At = time.Since(pl.rec.start)
				r := pl.doubt(test.result)
				assert.Equal(t, test.want, r.Outcome)
				assert.Equal(t, test.want == Unsure, r.Transient)
			})
		})
	}
}

func TestABreachIsInDoubtAfterALargeLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pl := &play{Player: Player{Meter: new(Meter)}, rec: &recorder{start: time.Now()}}
		time.Sleep(time.Second)
		for _, lag := range []time.Duration{200 * time.Millisecond, 600 * time.Millisecond} {
			pl.Meter.noteLate(time.Now(), lag)
			pl.breach(scenarios.Breach{Kind: scenarios.NoReply, At: time.Second})
		}
		assert.Len(t, pl.breaches, 1)
		assert.Contains(t, pl.late, "600ms")
	})
}

func TestWhatTimeMayExplain(t *testing.T) {
	t.Parallel()
	const job, later = `${"jid":"a","args":[1]}`, "C: FAIL {}\nS: +OK\n"
	tests := map[string]struct {
		before, line, asked string
		kind                byte
		text                string
		want                bool
	}{
		"null for a job":             {"", job, "FETCH q", '_', "", true},
		"null for an error":          {later, "-", "FETCH q", '_', "", false},
		"an error for null":          {later, "$-1", "FETCH q", '-', "ERR no job", false},
		"an error for a job":         {later, job, "FETCH q", '-', "ERR no job", false},
		"a job for null":             {later, "$-1", "FETCH q", '$', `{"jid":"a","args":[1]}`, true},
		"a job for null or an error": {later, "$-1 | -", "FETCH q", '$', `{"jid":"a","args":[1]}`, true},
		"another job":                {later, job, "FETCH q", '$', `{"jid":"b","args":[1]}`, true},
		"another job, in turn":       {"", job, "FETCH q", '$', `{"jid":"b","args":[1]}`, false},
		"a job for null, in turn":    {"", "$-1", "FETCH q", '$', `{"jid":"a","args":[1]}`, false},
		"the job, altered":           {later, job, "FETCH q", '$', `{"jid":"a","args":[2]}`, false},
		"altered, or null":           {later, job + " | $-1", "FETCH q", '$', `{"jid":"a","args":[2]}`, false},
		"another one, or null":       {later, job + " | $-1", "FETCH q", '$', `{"jid":"b","args":[2]}`, true},
		"no command that waits":      {later, job, "INFO", '$', `{"jid":"b","args":[1]}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(fwpdialect.Dialect{}, "x",
				[]byte("connect as consumer\n"+test.before+"C: "+test.asked+"\nS: "+test.line+"\n"))
			require.NoError(t, err)
			th := &thread{play: &play{script: script}, scope: scenarios.NewScope("x")}
			a := session.Received{Message: session.Message{Kind: test.kind, Text: []byte(test.text)}, Asked: []byte(test.asked)}
			assert.Equal(t, test.want, th.timed(script.Steps[len(script.Steps)-1].(*scenarios.Expect), a))
		})
	}
}
