package ledger

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// pushJobs books jobs as accepted.
func pushJobs(l *Ledger, from, until int64) {
	for k := from; k < until; k++ {
		l.BookSent(k, 0)
		l.BookPush(k)
	}
}

// What a server has lost is counted by the stops after the push.
func TestLossesByStops(t *testing.T) {
	t.Parallel()
	l := New()
	pushJobs(l, 0, 10)
	l.BookStop(true)
	pushJobs(l, 10, 12) // accepted before it has stopped
	l.BookRestart()
	pushJobs(l, 12, 15)
	l.BookStop(false)
	l.BookRestart()
	pushJobs(l, 15, 16)
	c := l.Count(true)
	assert.EqualValues(t, 16, c.Missing)
	assert.EqualValues(t, 12, c.LostByKill)
	assert.EqualValues(t, 3, c.LostByRestart)
	assert.EqualValues(t, 1, c.LostJobs)
	for k, want := range map[int64]Stop{
		0: Kill, 11: Kill, 12: Restart, 14: Restart, 15: NoStop,
	} {
		assert.Equal(t, want, l.StoppedAfter(k), "job %d", k)
	}
	undrained := l.Count(false)
	assert.Zero(t, undrained.LostByKill+undrained.LostByRestart+undrained.LostJobs)
}

// Fetches without a reply excuse losses, those first that are findings, until they were waited out.
func TestLossesThatFetchesExcuse(t *testing.T) {
	t.Parallel()
	l := New()
	pushJobs(l, 0, 2)
	l.BookStop(true)
	l.BookRestart()
	pushJobs(l, 2, 3)
	l.BookFetchLoss()
	l.BookFetchLoss()
	c := l.Count(true)
	assert.Zero(t, c.LostJobs)
	assert.EqualValues(t, 1, c.LostByKill)
	l.EndReservations()
	c = l.Count(true)
	assert.EqualValues(t, 1, c.LostJobs)
	assert.EqualValues(t, 2, c.LostByKill)
}

// A stop excuses deliveries of the jobs that were pushed before, and of no others.
func TestDeliveriesThatStopsExcuse(t *testing.T) {
	t.Parallel()
	l := New()
	pushJobs(l, 0, 3)
	l.BookDelivery(0, 0)
	l.BookAck(0)
	l.BookDelivery(1, 0)
	l.BookDelivery(2, 0)
	l.BookDelivery(2, 0)
	assert.EqualValues(t, 1, l.Count(false).Duplicated, "before the stop")
	l.BookStop(false)
	l.BookDelivery(0, 0)
	l.BookRestart()
	assert.Equal(t, Duplicate, l.BookDelivery(1, 0))
	pushJobs(l, 3, 4)
	l.BookDelivery(3, 0)
	l.BookDelivery(3, 0)
	l.BookAck(3)
	l.BookDelivery(3, 0)
	c := l.Count(false)
	assert.EqualValues(t, 1, c.ReturnedByStop)
	assert.EqualValues(t, 1, c.DuplicatedByStop)
	assert.EqualValues(t, 2, c.Duplicated)
	assert.EqualValues(t, 1, c.Returned)
	found := l.Findings()
	assert.Equal(t, []int64{2, 3}, found.Duplicates)
	assert.Equal(t, []int64{3}, found.Returned)
}

func TestReportsLost(t *testing.T) {
	t.Parallel()
	l := New()
	l.BookReportLoss()
	assert.EqualValues(t, 1, l.Count(false).ReportsLost)
}

// A job whose report was refused has to be delivered again, unless it was, or a stop excuses that it is not.
func TestNotReturned(t *testing.T) {
	t.Parallel()
	l := New()
	pushJobs(l, 0, 6)
	deny := func(k int64) {
		l.BookDelivery(k, 0)
		l.BookReturnable(k)
		l.BookDenial(k)
	}
	deny(0)
	l.BookStop(false)
	l.BookRestart()
	pushJobs(l, 6, 10)
	for k := int64(6); k < 10; k++ {
		deny(k)
	}
	l.BookAck(7)
	l.BookDelivery(8, 0)
	l.BookReturnable(8) // its second ack has no reply
	assert.Equal(t, []int64{6, 9}, slices.Collect(l.NotReturned()))
	for k := range l.NotReturned() {
		assert.EqualValues(t, 6, k)
		break
	}
}
