package play

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/session"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsession "github.com/fwpsuite/fwp/protocols/fwp/session"
	"github.com/fwpsuite/fwp/scenarios"
)

func TestWhatLatenessCastsDoubtOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome     Outcome
		span        bool
		before, lag time.Duration // of a timer before the play, and in it
		want        Outcome
	}{
		"no premise of time":   {Mismatched, false, 0, time.Hour, Mismatched},
		"not late":             {Mismatched, true, 0, 0, Mismatched},
		"hardly late":          {Mismatched, true, 0, machine.Room - 1, Mismatched},
		"late":                 {Mismatched, true, 0, machine.Room, Unsure},
		"late before the play": {Mismatched, true, machine.Room, 0, Mismatched},
		"a match":              {Matched, true, 0, time.Hour, Matched},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				meter := new(machine.Meter)
				meter.Note(time.Now(), test.before)
				<-time.After(time.Minute)
				pl := &play{Player: Player{Meter: meter}, rec: &recorder{start: time.Now()}}
				meter.Note(time.Now(), test.lag)
				<-time.After(time.Minute)
				r := pl.doubt(Result{Outcome: test.outcome, restsOnTime: test.span, At: time.Since(pl.rec.start)})
				assert.Equal(t, test.want, r.Outcome)
				assert.Equal(t, test.want == Unsure, r.IsTransient)
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
		"quick":                  {299 * ms, time.Second, 2 * time.Second, Mismatched},
		"slow":                   {500 * ms, time.Second, 2 * time.Second, Unsure},
		"slow, and none matters": {500 * ms, time.Second, 0, Mismatched},
		"slow, before those":     {500 * ms, time.Second, time.Second, Mismatched},
		"at a time":              {time.Second, 300 * ms, 2 * time.Second, Mismatched},
	} {
		synctest.Test(t, func(t *testing.T) {
			pl := &play{Player: Player{Meter: new(machine.Meter)}, rec: &recorder{start: time.Now()}}
			time.Sleep(time.Hour)
			pl.noteReplyTime(time.Now().Add(-test.took), time.Now())
			time.Sleep(test.ago)
			r := Result{Outcome: Mismatched, restsOnTime: true, At: time.Since(pl.rec.start)}
			if test.since > 0 {
				r.sentSince = time.Now().Add(-test.since)
			}
			assert.Equal(t, test.want, pl.doubt(r).Outcome, name)
		})
	}
}

// However late this machine is: what was received was received.
func TestABreachIsNeverInDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pl := &play{Player: Player{Meter: new(machine.Meter)}, rec: &recorder{start: time.Now()}}
		pl.Meter.Note(time.Now(), time.Hour)
		pl.breach(scenarios.Breach{Kind: scenarios.ExtraReply})
		assert.Len(t, pl.breaches, 1)
	})
}

func TestWhatTimeMayExplain(t *testing.T) {
	t.Parallel()
	const job, later = `${"jid":"a","args":[1]}`, "C: FAIL {}\nS: +OK\n"
	for name, test := range map[string]struct {
		before, line, command string
		kind                  byte
		span, read            bool // a span is its premise, and when the server has read the lines before it
	}{
		"null for a job":           {later, job, "FETCH q", '_', true, true},
		"null for a job, in turn":  {"", job, "FETCH q", '_', true, false},
		"null for an error":        {later, "-", "FETCH q", '_', false, true},
		"an error for null":        {later, "$-1", "FETCH q", '-', false, false},
		"an error for a job":       {later, job, "FETCH q", '-', false, false},
		"a job for null":           {later, "$-1", "FETCH q", '$', true, false},
		"a job for null, in turn":  {"", "$-1", "FETCH q", '$', false, false},
		"another job":              {later, job, "FETCH q", '$', true, false},
		"another job, in turn":     {"", job, "FETCH q", '$', false, false},
		"no command that waits":    {later, job, "INFO", '$', true, false},
		"none, and nothing is due": {"", job, "INFO", '$', false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(fwpscript.Dialect{}, "x",
				[]byte("connect as consumer\n"+test.before+"C: "+test.command+"\nS: "+test.line+"\n"))
			require.NoError(t, err)
			th := &thread{play: &play{script: script}, scope: scenarios.NewScope("x")}
			a := session.Received{
				Message: session.Message{Kind: test.kind, Text: []byte(`{"jid":"b","args":[1]}`)}, Command: []byte(test.command),
			}
			c := &conn{Conn: written(t)}
			ok, since := th.dependsOnTime(c, script.Steps[len(script.Steps)-1].(*scenarios.Expect), a)
			assert.Equal(t, test.span, ok)
			assert.Equal(t, test.read, !since.IsZero())
		})
	}
}

// written returns a connection on which a line was written.
func written(t *testing.T) *session.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	c := session.New(ours, fwpsession.Codec{}, session.Config{Timeout: time.Minute})
	t.Cleanup(func() { _ = c.End(scenarios.Closed) })
	require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("FETCH q\r\n")}, 0))
	return c
}
