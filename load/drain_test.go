package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
)

// The server is gone when it has had no connection for more than five seconds, though the load has some.
func TestWhatCountsAsAnOutage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status client.Status
		since  time.Duration // without a connection
		want   bool
	}{
		"five seconds":          {client.Status{Wanted: 3}, 5 * time.Second, false},
		"a moment more":         {client.Status{Wanted: 3}, 5*time.Second + 1, true},
		"one connection is up":  {client.Status{Wanted: 3, Ready: 1}, time.Minute, false},
		"a load without any":    {client.Status{}, time.Minute, false},
		"some are being opened": {client.Status{Wanted: 3, Open: 3}, time.Minute, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &run{began: time.Now().Add(-time.Hour), status: test.status}
			r.lastSeen = r.now() - test.since
			assert.Equal(t, test.want, r.gone(), name)
		})
	}
}

// What is known of workers and jobs at the end of a drain, and whether missing jobs are lost by that.
func TestWhatCountsAsDrained(t *testing.T) {
	t.Parallel()
	lost := func(l *ledger.Ledger) { l.Sent(1, 0); l.Pushed(1) }
	returning := func(l *ledger.Ledger) { lost(l); l.Delivered(1, 0); l.MayReturn(1) }
	for name, test := range map[string]struct {
		status client.Status
		jobs   func(*ledger.Ledger)
		fails  float64
		want   bool
		why    string
	}{
		"all workers found their queues empty": {status: client.Status{Drained: true, Wanted: 2, Ready: 2}, want: true},
		"a lost job in the backlog": {status: client.Status{Drained: true, Wanted: 2, Ready: 2}, jobs: lost,
			want: true},
		"pushes are in flight": {status: client.Status{Drained: true, Pushing: true},
			why: "the queues were not empty at the end of the drain"},
		"a worker holds a job": {status: client.Status{Drained: true, Held: 1},
			why: "1 job still reserved by workers at the end of the drain"},
		"a worker has no connection, but no job is missing": {
			status: client.Status{Wanted: 2, Ready: 1, Emptied: 1}, want: true},
		"a worker has no connection, and a job is missing": {
			status: client.Status{Wanted: 2, Ready: 1, Emptied: 1}, jobs: lost,
			why: "1 of 2 connections were missing, so their queues were not emptied"},
		"no worker found anything empty": {status: client.Status{Wanted: 2, Ready: 1},
			why: "1 of 2 connections were missing, so their queues were not emptied"},
		"a failed job is to come back": {status: client.Status{Drained: true}, jobs: returning, fails: 0.1,
			why: "1 job still to be retried at the end of the drain"},
		"a failed job came back often enough": {status: client.Status{Drained: true, Repeated: 1}, jobs: returning,
			fails: 0.1, want: true},
	} {
		r := &run{ledger: ledger.New(), status: test.status, work: plan.Workload{FailShare: test.fails}}
		if test.jobs != nil {
			test.jobs(r.ledger)
		}
		assert.Equal(t, test.want, r.allDrained(), name)
		if !test.want {
			assert.Equal(t, test.why, r.whyNotDrained(), name)
		}
	}
}
