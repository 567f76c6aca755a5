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
		"five seconds":          {client.Status{Target: 3}, 5 * time.Second, false},
		"a moment more":         {client.Status{Target: 3}, 5*time.Second + 1, true},
		"one connection is up":  {client.Status{Target: 3, ReadyConns: 1}, time.Minute, false},
		"a load without any":    {client.Status{}, time.Minute, false},
		"some are being opened": {client.Status{Target: 3, OpenConns: 3}, time.Minute, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := &run{began: time.Now().Add(-time.Hour), status: test.status}
			r.lastConnAt = r.now() - test.since
			assert.Equal(t, test.want, r.isGone(), name)
		})
	}
}

// What is known of workers and jobs at the end of a drain, and whether missing jobs are lost by that.
func TestWhatCountsAsDrained(t *testing.T) {
	t.Parallel()
	lose := func(l *ledger.Ledger) { l.BookSent(1, 0); l.BookPush(1) }
	returning := func(l *ledger.Ledger) { lose(l); l.BookDelivery(1, 0); l.BookReturnable(1) }
	for name, test := range map[string]struct {
		status client.Status
		jobs   func(*ledger.Ledger)
		fails  float64
		want   bool
		reason string
	}{
		"all workers found their queues empty": {status: client.Status{IsDrained: true, Target: 2, ReadyConns: 2}, want: true},
		"a lost job in the backlog": {status: client.Status{IsDrained: true, Target: 2, ReadyConns: 2}, jobs: lose,
			want: true},
		"pushes are in flight": {status: client.Status{IsDrained: true, IsPushing: true},
			reason: "the queues were not empty at the end of the drain"},
		"a worker holds a job": {status: client.Status{IsDrained: true, HeldJobs: 1},
			reason: "1 job still reserved by workers at the end of the drain"},
		"a worker has no connection, but no job is missing": {
			status: client.Status{Target: 2, ReadyConns: 1, DrainedWorkers: 1}, want: true},
		"a worker has no connection, and a job is missing": {
			status: client.Status{Target: 2, ReadyConns: 1, DrainedWorkers: 1}, jobs: lose,
			reason: "1 of 2 connections were missing, so their queues were not emptied"},
		"no worker found anything empty": {status: client.Status{Target: 2, ReadyConns: 1},
			reason: "1 of 2 connections were missing, so their queues were not emptied"},
		"a failed job is to come back": {status: client.Status{IsDrained: true}, jobs: returning, fails: 0.1,
			reason: "1 job still to be retried at the end of the drain"},
		"a failed job came back often enough": {status: client.Status{IsDrained: true, RepeatedAcks: 1}, jobs: returning,
			fails: 0.1, want: true},
	} {
		r := &run{ledger: ledger.New(), status: test.status, work: plan.Workload{FailShare: test.fails}}
		if test.jobs != nil {
			test.jobs(r.ledger)
		}
		assert.Equal(t, test.want, r.isDrained(), name)
		if !test.want {
			assert.Equal(t, test.reason, r.drainFailure(), name)
		}
	}
}
