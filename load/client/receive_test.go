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
func TestJobsThatAreNotAsTheyShouldBe(t *testing.T) {
	t.Parallel()
	s := play(t, consumers(1))
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
		"no JSON":        {bulk(`}`), fetchLineOfOne, 0},
		"never pushed":   {s.body(5000), "ACK {\"jid\":\"" + s.jid(5000), 0},
	}
	for name, d := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := works(t, consumers(1))
			c := &w.conns[0].conn
			s.said(c)
			s.data(c, d.reply)
			line := s.said(c)
			assert.True(t, strings.HasPrefix(line, d.report), line)
			counts := s.ledger.Count(false)
			assert.Equal(t, int64(1), counts.Foreign)
			assert.Equal(t, d.delivered, counts.Delivered)
			if line != fetchLineOfOne {
				s.data(c, ok)
				assert.Equal(t, fetchLineOfOne, s.said(c))
			}
		})
	}
}

func TestAJobThatSomebodyElseAskedFor(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Queues.Number = 2
	s, w := works(t, load)
	c := &w.conns[0].conn
	w.asks = &asks{names: []bool{true, false}}
	for k := range int64(20) {
		s.data(c, s.body(100+k))
		s.data(c, ok)
	}
	counts := s.ledger.Count(false)
	assert.Positive(t, counts.Foreign)
	assert.Less(t, counts.Foreign, int64(20))
	assert.Equal(t, int64(20), counts.Acked)
	assert.Contains(t, s.ledger.Findings().Foreign[0].What, "did not ask for its queue")
}

func TestTheSameJobTwice(t *testing.T) {
	t.Parallel()
	s, w := works(t, consumers(1))
	c := &w.conns[0].conn
	for range 2 {
		s.data(c, s.body(100))
		s.said(c)
		s.data(c, ok)
	}
	assert.Equal(t, int64(1), s.ledger.Count(false).Returned)
	assert.Equal(t, []int64{100}, s.ledger.Findings().Returned)
}

// The replies of all connections share their memory, so that servers cannot fill it with replies that never end.
func TestAReplyWithoutAnEnd(t *testing.T) {
	t.Parallel()
	s, c := at(t, "pushing")
	s.shard.mostUnfinished = 8
	s.data(c, "+OK")
	assert.Equal(t, int64(3), s.shard.shared.unfinished.Load())
	s.data(c, "12345")
	assert.Equal(t, busy, c.phase)
	s.data(c, "6")
	assert.Equal(t, errEndless, s.shard.First(measure.Push, measure.TooLong))
	assert.Zero(t, s.shard.shared.unfinished.Load(), "its memory is given back")
	assert.Empty(t, s.shard.Breaches(), "no clause bounds a reply")
}

func TestAReplyThatIsTooLong(t *testing.T) {
	t.Parallel()
	s, c := at(t, "pushing")
	s.data(c, "-"+strings.Repeat("x", 1<<20))
	assert.ErrorIs(t, s.shard.First(measure.Push, measure.TooLong), wire.ErrTooLong)
	assert.Empty(t, s.shard.Breaches(), "no clause bounds a reply")
}
