package fakes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

// places lists where the jobs of a server are: "queue a" and so on.
func places(s *fakes.Server) []string {
	var all []string
	for _, j := range s.Jobs() {
		all = append(all, j.Place+" "+j.Queue)
	}
	return all
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		p, c := dial().greet(producer), dial().greet(producer)
		at := s.Now().Add(time.Hour).Format(time.RFC3339Nano)
		require.Equal(t, "+OK", p.do(job("later", `"queue":"a","at":"`+at+`"`)))
		require.Equal(t, "+OK", p.do(job("now", `"queue":"a"`)))
		require.Contains(t, c.do("FETCH a"), `"now"`)
		assert.Equal(t, []string{"scheduled a", "working a"}, places(s))

		begin := time.Now()
		s.Advance(2 * time.Hour)
		assert.Zero(t, elapsed(begin), "no time passes for clients")
		assert.Contains(t, c.do("FETCH a"), `"failure"`, "the reservation of the other one ended, and its retry was due")
		assert.Contains(t, c.do("FETCH a"), `"later"`)
		assert.Equal(t, 2*time.Hour, s.Now().Sub(begin))
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		p, c := dial().greet(producer), dial().greet(fmt.Sprintf(consumer, "w1"))
		require.Equal(t, "+OK", p.do(job("1", "")))
		require.NoError(t, s.Signal("", "quiet"))
		require.Contains(t, c.do(`BEAT {"wid":"w1"}`), "quiet")
		require.Equal(t, []string{"queue default"}, places(s))
		assert.Contains(t, string(s.Jobs()[0].Unit), `"enqueued_at"`)

		s.Reset()
		assert.Empty(t, s.Jobs())
		assert.Equal(t, "+OK", c.do(`BEAT {"wid":"w1"}`))
		require.Equal(t, "+OK", p.do(job("2", "")))
		assert.Contains(t, c.do("FETCH default"), `"2"`, "connections stay, and the worker may fetch again")
	})
}

// A queue is emptied alone, and the clock goes back only while no job has a time.
func TestResetQueueAndRewind(t *testing.T) {
	t.Parallel()
	withMemoryServer(t, fakes.Config{Extension: fakes.Faktory}, func(t *testing.T, s *fakes.Server, dial func() *wire) {
		p, c := dial().greet(producer), dial().greet(producer)
		for _, queue := range []string{"a", "b"} {
			at := s.Now().Add(time.Hour).Format(time.RFC3339Nano)
			require.Equal(t, "+OK", p.do(job(queue+"1", `"queue":"`+queue+`"`)))
			require.Equal(t, "+OK", p.do(job(queue+"2", `"queue":"`+queue+`"`)))
			require.Equal(t, "+OK", p.do(job(queue+"3", `"queue":"`+queue+`","at":"`+at+`"`)))
			require.Contains(t, c.do("FETCH "+queue), queue+"1")
		}
		require.Equal(t, "+OK", p.do("QUEUE PAUSE a"))
		s.ResetQueue("a")
		assert.Equal(t, []string{"queue b", "scheduled b", "working b"}, places(s))
		require.Equal(t, "+OK", p.do(job("4", `"queue":"a"`)))
		assert.Contains(t, c.do("FETCH a"), `"4"`, "it is not paused")

		assert.False(t, s.Rewind(time.Hour))
		s.ResetQueue("a")
		s.ResetQueue("b")
		begin := s.Now()
		assert.True(t, s.Rewind(time.Hour))
		assert.Equal(t, -time.Hour, s.Now().Sub(begin))
	})
}
