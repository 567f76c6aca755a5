package play

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

func TestWhatLatenessCastsDoubtOn(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	tests := map[string]struct {
		outcome          Outcome
		room             time.Duration
		lag, ago, behind time.Duration
		want             Outcome
	}{
		"no premise of time":         {Mismatched, 0, time.Hour, 0, time.Hour, Mismatched},
		"not late":                   {Mismatched, 500 * ms, 0, 0, 0, Mismatched},
		"late by less than there is": {Mismatched, 500 * ms, 300 * ms, 0, 199 * ms, Mismatched},
		"late by as much":            {Mismatched, 500 * ms, 300 * ms, 0, 200 * ms, Unsure},
		"the machine, long ago":      {Mismatched, 500 * ms, time.Hour, 20 * time.Hour, 0, Mismatched},
		"our lines, long ago":        {Mismatched, 500 * ms, 0, 20 * time.Hour, 500 * ms, Unsure},
		"little room":                {Mismatched, ms, 0, 0, ms, Unsure},
		"a match":                    {Matched, ms, time.Hour, 0, time.Hour, Matched},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pl := &play{Player: Player{Meter: new(lag.Meter)}, rec: &recorder{start: time.Now()}}
				pl.delay.Note(time.Now(), time.Now().Add(test.behind))
				time.Sleep(time.Second)
				pl.Meter.Note(time.Now(), test.lag)
				time.Sleep(test.ago)
				r := pl.doubt(Result{Outcome: test.outcome, room: test.room, At: time.Since(pl.rec.start)})
				assert.Equal(t, test.want, r.Outcome)
				assert.Equal(t, test.want == Unsure, r.Transient)
			})
		})
	}
}

// When a server has read a line is known no better than how long it takes for its replies.
func TestASlowServerMayHaveReadALineLate(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		took, ago time.Duration // of another reply, how long before
		since     time.Duration // how long before lines matter
		want      Outcome
	}{
		"quick":                  {499 * ms, time.Second, 2 * time.Second, Mismatched},
		"slow":                   {500 * ms, time.Second, 2 * time.Second, Unsure},
		"slow, and none matters": {500 * ms, time.Second, 0, Mismatched},
		"slow, before those":     {500 * ms, time.Second, time.Second, Mismatched},
		"at a time":              {time.Second, 300 * ms, 2 * time.Second, Mismatched},
		"slow, long ago":         {500 * ms, time.Minute, time.Hour, Mismatched},
	} {
		synctest.Test(t, func(t *testing.T) {
			pl := &play{Player: Player{Meter: new(lag.Meter)}, rec: &recorder{start: time.Now()}}
			time.Sleep(time.Hour)
			pl.answeredIn(time.Now().Add(-test.took), time.Now())
			time.Sleep(test.ago)
			r := Result{Outcome: Mismatched, room: 500 * ms, At: time.Since(pl.rec.start)}
			if test.since > 0 {
				r.since = time.Now().Add(-test.since)
			}
			assert.Equal(t, test.want, pl.doubt(r).Outcome, name)
		})
	}
}

// However late this machine is: what was received was received.
func TestABreachIsNeverInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pl := &play{Player: Player{Meter: new(lag.Meter)}, rec: &recorder{start: time.Now()}}
		pl.Meter.Note(time.Now(), time.Hour)
		pl.breach(scenarios.Breach{Kind: scenarios.ExtraReply})
		assert.Len(t, pl.breaches, 1)
	})
}

func TestWhatTimeMayExplain(t *testing.T) {
	t.Parallel()
	const job, later = `${"jid":"a","args":[1]}`, "C: FAIL {}\nS: +OK\n"
	const enqueued, another = `{"enqueued_at":"2026-01-02T03:04:05Z"}`, "C: FETCH p\nS: ${\"enqueued_at\":$later:time}\n"
	tests := map[string]struct {
		before, line, asked string
		kind                byte
		text                string
		want                time.Duration
	}{
		"null for a job":             {later, job, "FETCH q", '_', "", lag.Room},
		"null for a job, in turn":    {"", job, "FETCH q", '_', "", 2 * time.Second},
		"null for an error":          {later, "-", "FETCH q", '_', "", 0},
		"an error for null":          {later, "$-1", "FETCH q", '-', "ERR no job", 0},
		"an error for a job":         {later, job, "FETCH q", '-', "ERR no job", 0},
		"a job for null":             {later, "$-1", "FETCH q", '$', `{"jid":"a","args":[1]}`, lag.Room},
		"a job for null or an error": {later, "$-1 | -", "FETCH q", '$', `{"jid":"a","args":[1]}`, lag.Room},
		"another job":                {later, job, "FETCH q", '$', `{"jid":"b","args":[1]}`, lag.Room},
		"another job, in turn":       {"", job, "FETCH q", '$', `{"jid":"b","args":[1]}`, 0},
		"a job for null, in turn":    {"", "$-1", "FETCH q", '$', `{"jid":"a","args":[1]}`, 0},
		"the job, altered":           {later, job, "FETCH q", '$', `{"jid":"a","args":[2]}`, 0},
		"altered, or null":           {later, job + " | $-1", "FETCH q", '$', `{"jid":"a","args":[2]}`, 0},
		"another one, or null":       {later, job + " | $-1", "FETCH q", '$', `{"jid":"b","args":[2]}`, lag.Room},
		"a time before that of another": {
			later + another, `${"jid":"a","enqueued_at":time($later..)}`, "FETCH q", '$',
			`{"jid":"a","enqueued_at":"2020-01-02T03:04:05Z"}`, lag.Room,
		},
		"that, and another value": {
			later + another, `${"jid":"a","args":[2],"enqueued_at":time($later..)}`, "FETCH q", '$',
			`{"jid":"a","args":[1],"enqueued_at":"2020-01-02T03:04:05Z"}`, 0,
		},
		"no command that waits":    {later, job, "INFO", '$', `{"jid":"b","args":[1]}`, lag.Room},
		"none, and nothing is due": {"", job, "INFO", '$', `{"jid":"b","args":[1]}`, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(fwpdialect.Dialect{}, "x",
				[]byte("connect as consumer\n"+test.before+"C: "+test.asked+"\nS: "+test.line+"\n"))
			require.NoError(t, err)
			th := &thread{play: &play{script: script}, scope: scenarios.NewScope("x")}
			for _, step := range script.Steps[:len(script.Steps)-1] {
				if e, is := step.(*scenarios.Expect); is {
					th.try(&e.Choices[0], session.Received{Message: session.Message{Kind: '$', Text: []byte(enqueued)}})
				}
			}
			a := session.Received{Message: session.Message{Kind: test.kind, Text: []byte(test.text)}, Asked: []byte(test.asked)}
			assert.Equal(t, test.want, th.room(script.Steps[len(script.Steps)-1].(*scenarios.Expect), a))
		})
	}
}
