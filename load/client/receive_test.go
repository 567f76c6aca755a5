package client

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// A job that is not what was pushed is a finding. What is ours is settled in spite of
// that, and nothing that belongs to somebody else.
func TestAlteredJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t, consumers(1))
	good := s.body(100)
	inner := good[strings.Index(good, "\r\n")+2 : len(good)-2]
	bulk := func(body string) string {
		return "$" + strconv.Itoa(len(body)) + "\r\n" + body + "\r\n"
	}
	cases := map[string]struct {
		reply, report string
		delivered     int64
	}{
		"another queue": {bulk(strings.Replace(inner, `"queue":"fwpbench-run-0"`, `"queue":"default"`, 1)),
			"ACK {\"jid\":\"" + s.jid(100), 1},
		"another's args": {bulk(strings.Replace(inner, s.jid(100), s.jid(101), 1)), "ACK {\"jid\":\"" + s.jid(101), 1},
		"foreign":        {bulk(`{"jid":"some\"body","jobtype":"t","args":[]}`), `FAIL {"jid":"some\"body"`, 0},
		"unknown jid":    {bulk(strings.Replace(inner, s.jid(100), "somebody", 1)), `ACK {"jid":"somebody"`, 0},
		"no JSON":        {bulk(`}`), fetchLine, 0},
		"never pushed":   {s.body(5000), "ACK {\"jid\":\"" + s.jid(5000), 0},
	}
	for name, d := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newWorkScene(t, consumers(1))
			c := &w.conns[0].conn
			s.takeSent(c)
			s.data(c, d.reply)
			line := s.takeSent(c)
			assert.True(t, strings.HasPrefix(line, d.report), line)
			counts := s.ledger.Count(false)
			assert.Equal(t, int64(1), counts.Foreign)
			assert.Equal(t, d.delivered, counts.Delivered)
			if line != fetchLine {
				s.data(c, okLine)
				assert.Equal(t, fetchLine, s.takeSent(c))
			}
		})
	}
}

func TestJobOfAnotherQueue(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Queues.Number = 2
	s, w := newWorkScene(t, load)
	c := &w.conns[0].conn
	w.queueSet = &queueSet{names: []bool{true, false}}
	for k := range int64(20) {
		s.data(c, s.body(100+k))
		s.data(c, okLine)
	}
	counts := s.ledger.Count(false)
	assert.Positive(t, counts.Foreign)
	assert.Less(t, counts.Foreign, int64(20))
	assert.Equal(t, int64(20), counts.Acked)
	assert.Contains(t, s.ledger.Findings().Foreign[0].Description, "did not ask for its queue")
}

func TestDuplicateJob(t *testing.T) {
	t.Parallel()
	s, w := newWorkScene(t, consumers(1))
	c := &w.conns[0].conn
	for range 2 {
		s.data(c, s.body(100))
		s.takeSent(c)
		s.data(c, okLine)
	}
	assert.Equal(t, int64(1), s.ledger.Count(false).Returned)
	assert.Equal(t, []int64{100}, s.ledger.Findings().Returned)
}

// The replies of all connections share their memory, so that servers cannot fill it with replies that never end.
func TestEndlessReply(t *testing.T) {
	t.Parallel()
	s, c := newPhaseScene(t, "pushing")
	s.shard.unfinishedLimit = 8
	s.data(c, "+OK")
	assert.Equal(t, int64(3), s.shard.shared.unfinishedBytes.Load())
	s.data(c, "12345")
	assert.Equal(t, phaseBusy, c.phase)
	s.data(c, "6")
	assert.Equal(t, errEndless, s.shard.FirstError(measure.Push, measure.TooLong))
	assert.Zero(t, s.shard.shared.unfinishedBytes.Load(), "its memory is given back")
	assert.Empty(t, s.shard.Breaches(), "no clause bounds a reply")
}

func TestTooLongReply(t *testing.T) {
	t.Parallel()
	s, c := newPhaseScene(t, "pushing")
	s.data(c, "-"+strings.Repeat("x", 1<<20))
	assert.ErrorIs(t, s.shard.FirstError(measure.Push, measure.TooLong), wire.ErrTooLong)
	assert.Empty(t, s.shard.Breaches(), "no clause bounds a reply")
}
