package fwpsubject

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// Every move of the round trips is one of the table, and none of their jobs is scheduled for later.
func TestRoundTripsAreAtOnce(t *testing.T) {
	t.Parallel()
	g := made(1)
	s := Values()
	a := s.Alphabet(g.Draw, g.law)
	assert.Len(t, a.Moves, len(ofValues))
	assert.False(t, a.Done())
	g.steady = true
	queues := map[string]bool{}
	for range 2000 {
		var job struct{ Queue, At string }
		_ = json.Unmarshal([]byte(g.Fill(g.job())), &job) // some are wrong
		queues[job.Queue] = true
		if job.At != "" {
			at, err := rfc3339.Parse(job.At)
			assert.NoError(t, err)
			assert.True(t, at.Before(time.Now()), job.At)
		}
	}
	assert.LessOrEqual(t, len(queues), 12, "six, and six with an unusual name")
}

// Jobs are pushed for some time; the worker of an even connection keeps those whose reservation ends soon.
func TestLives(t *testing.T) {
	t.Parallel()
	g := made(1)
	var births bool
	g.births = func() bool { return births }
	for reserved, kept := range map[string]bool{"": false, `,"reserve_for":60`: true, `,"reserve_for":61`: false} {
		worker := g.law.world.Conns[2]
		jid, queue := g.jid(), g.freshQueue()
		p := &player{law: g.law, replies: [][2]string{{"FETCH " + queue, `${"jid":"~` + jid[1:] + `"}`}}}
		p.play(push(2, jid, queue, reserved))
		p.play(line(2, "FETCH %s", queue))
		has := func(conn int) bool {
			for _, j := range g.toReport(conn, worker) {
				if g.law.symbol(j.JID) == jid {
					return true
				}
			}
			return false
		}
		assert.Equal(t, !kept, has(2), reserved)
		assert.True(t, has(3), reserved)
	}
	assert.NotEmpty(t, g.underWay())
	job := &oracle.Job{JID: g.law.real("$jid2")}
	assert.Contains(t, g.report(job), "ACK ")
	births = true
	assert.Contains(t, g.report(job), "FAIL ")
}
