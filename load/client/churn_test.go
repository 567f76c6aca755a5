package client

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

func churn(n int) plan.Workload {
	return plan.Workload{Churn: true, Connections: n, Payload: plan.Constant(1)}
}

// cycle plays the server for a whole connection.
func cycle(t *testing.T, s *scene, c *conn, command string) {
	t.Helper()
	require.Contains(t, s.dials, c)
	s.pass(time.Millisecond)
	s.open(c)
	s.data(c, greetingLine)
	assert.Equal(t, "HELLO {\"v\":2}\r\n", s.takeSent(c))
	s.data(c, okLine)
	assert.Contains(t, s.takeSent(c), command)
	if command == "INFO" {
		s.data(c, "$2\r\n{}\r\n")
	} else {
		s.data(c, okLine)
	}
	assert.Equal(t, "END\r\n", s.takeSent(c))
	s.data(c, okLine)
}

func TestChurn(t *testing.T) {
	t.Parallel()
	for name, info := range map[string]bool{"PUSH": false, "INFO": true} {
		s := newScene(t, churn(2), func(c *Config) { c.ChurnInfo = info })
		s.connect()
		assert.Empty(t, s.dials)
		s.start()
		for range 3 {
			for i := range 2 {
				cycle(t, s, &s.shard.churners[i].conn, name)
			}
		}
		set := s.set()
		assert.Equal(t, int64(6), set.Done(measure.Connect))
		assert.Equal(t, int64(6), set.Done(measure.Hello))
		assert.Equal(t, int64(6), set.Done(measure.Push)+set.Done(measure.Info))
		assert.Equal(t, int64(6), set.Done(measure.End))
		s.do(s.shard.StopPushing)
		assert.True(t, s.shard.Status().IsPushing, "two are on their way")
		cycle(t, s, &s.shard.churners[0].conn, name)
		cycle(t, s, &s.shard.churners[1].conn, name)
		assert.False(t, s.shard.Status().IsPushing)
		s.do(s.shard.Stop)
		assert.Zero(t, s.shard.Status().OpenConns)
		assert.Zero(t, s.shard.Status().Errors)
	}
}

// The plan says when somebody comes; what the server takes for one delays the next, and
// that is seen in the response of its PUSH.
func TestChurnByPlan(t *testing.T) {
	t.Parallel()
	w := churn(1)
	w.Rate, w.Duration = 100, plan.Duration(time.Second)
	s := newScene(t, w)
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	s.pass(99 * time.Millisecond)
	for range 3 {
		cycle(t, s, c, "PUSH")
	}
	set := s.set()
	assert.InDelta(t, 100*time.Millisecond, percentile(set, measure.Response, 100), 1e6)
	assert.InDelta(t, 82*time.Millisecond, percentile(set, measure.Response, 1), 1e6)
	assert.Less(t, percentile(set, measure.Service, 100), time.Millisecond)
	assert.Less(t, percentile(set, measure.Lateness, 100), 2*time.Microsecond)
}

func TestChurnRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, churn(1))
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	dials := 0
	for s.now < 21*time.Second {
		if len(s.dials) > 0 {
			dials++
			s.fail(c, syscall.ECONNREFUSED)
		}
		s.pass(10 * time.Millisecond)
	}
	assert.Less(t, dials, 20, "it does not spin")
	assert.Equal(t, int64(dials), s.set().Errors(measure.Connect, measure.Refused))
	assert.Zero(t, s.ledger.Count(false).Sent)
	s.do(s.shard.Stop)
	assert.Zero(t, s.shard.Status().OpenConns)
	assert.False(t, s.shard.Status().IsPushing)
}

func TestChurnInDoubt(t *testing.T) {
	t.Parallel()
	s := newScene(t, churn(1))
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	s.open(c)
	s.data(c, greetingLine)
	s.data(c, okLine)
	s.takeSent(c)
	s.end(c, nil)
	assert.Equal(t, int64(1), s.ledger.Count(false).Doubtful)
	s.pass(firstDelay)
	cycle(t, s, c, s.jid(1))
	s.do(s.shard.Stop)
	assert.Empty(t, s.dials, "the one that was being opened is given up")
	assert.Zero(t, s.shard.Status().OpenConns)
	assert.Equal(t, int64(1), s.set().Dropped())
}

func TestChurnThinks(t *testing.T) {
	t.Parallel()
	w := churn(1)
	w.Think = plan.Range{Min: time.Second, Max: time.Second}
	s := newScene(t, w)
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	cycle(t, s, c, "PUSH")
	s.pass(999 * time.Millisecond)
	assert.Empty(t, s.dials)
	s.pass(time.Millisecond)
	cycle(t, s, c, "PUSH")
}
