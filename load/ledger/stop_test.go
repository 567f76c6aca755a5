package ledger

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// pushed books jobs as accepted.
func pushed(l *Ledger, from, until int64) {
	for k := from; k < until; k++ {
		l.Sent(k, 0)
		l.Pushed(k)
	}
}

// What a server has lost is counted by the stops after the push.
func TestLossesByStops(t *testing.T) {
	t.Parallel()
	l := New()
	pushed(l, 0, 10)
	l.Stopping(true)
	pushed(l, 10, 12) // accepted before it has stopped
	l.Serving()
	pushed(l, 12, 15)
	l.Stopping(false)
	l.Serving()
	pushed(l, 15, 16)
	c := l.Count(true)
	assert.EqualValues(t, 16, c.Missing)
	assert.EqualValues(t, 12, c.LostByKill)
	assert.EqualValues(t, 3, c.LostByRestart)
	assert.EqualValues(t, 1, c.Lost)
	for k, want := range map[int64]Stop{
		0: Killed, 11: Killed, 12: Restarted, 14: Restarted, 15: NotStopped,
	} {
		assert.Equal(t, want, l.StoppedAfter(k), "job %d", k)
	}
	undrained := l.Count(false)
	assert.Zero(t, undrained.LostByKill+undrained.LostByRestart+undrained.Lost)
}

// Fetches without a reply excuse losses, those first that are findings, until they were waited out.
func TestLossesThatFetchesExcuse(t *testing.T) {
	t.Parallel()
	l := New()
	pushed(l, 0, 2)
	l.Stopping(true)
	l.Serving()
	pushed(l, 2, 3)
	l.FetchLost()
	l.FetchLost()
	c := l.Count(true)
	assert.Zero(t, c.Lost)
	assert.EqualValues(t, 1, c.LostByKill)
	l.WaitedOut()
	c = l.Count(true)
	assert.EqualValues(t, 1, c.Lost)
	assert.EqualValues(t, 2, c.LostByKill)
}

// A stop excuses deliveries of the jobs that were pushed before, and of no others.
func TestDeliveriesThatStopsExcuse(t *testing.T) {
	t.Parallel()
	l := New()
	pushed(l, 0, 3)
	l.Delivered(0, 0)
	l.Acked(0)
	l.Delivered(1, 0)
	l.Delivered(2, 0)
	l.Delivered(2, 0)
	assert.EqualValues(t, 1, l.Count(false).Duplicated, "before the stop")
	l.Stopping(false)
	l.Delivered(0, 0)
	l.Serving()
	assert.Equal(t, Twice, l.Delivered(1, 0))
	pushed(l, 3, 4)
	l.Delivered(3, 0)
	l.Delivered(3, 0)
	l.Acked(3)
	l.Delivered(3, 0)
	c := l.Count(false)
	assert.EqualValues(t, 1, c.ReturnedByStop)
	assert.EqualValues(t, 1, c.TwiceByStop)
	assert.EqualValues(t, 2, c.Duplicated)
	assert.EqualValues(t, 1, c.Returned)
	found := l.Findings()
	assert.Equal(t, []int64{2, 3}, found.Twice)
	assert.Equal(t, []int64{3}, found.Returned)
}

func TestReportsLost(t *testing.T) {
	t.Parallel()
	l := New()
	l.ReportLost()
	assert.EqualValues(t, 1, l.Count(false).ReportsLost)
}

// A job whose report was refused has to be delivered again, unless it was, or a stop excuses that it is not.
func TestNotReturned(t *testing.T) {
	t.Parallel()
	l := New()
	pushed(l, 0, 6)
	deny := func(k int64) {
		l.Delivered(k, 0)
		l.MayReturn(k)
		l.Denied(k)
	}
	deny(0)
	l.Stopping(false)
	l.Serving()
	pushed(l, 6, 10)
	for k := int64(6); k < 10; k++ {
		deny(k)
	}
	l.Acked(7)
	l.Delivered(8, 0)
	l.MayReturn(8) // its second ack has no reply
	assert.Equal(t, []int64{6, 9}, slices.Collect(l.NotReturned()))
	for k := range l.NotReturned() {
		assert.EqualValues(t, 6, k)
		break
	}
}
