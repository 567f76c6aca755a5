package load

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// Jobs are counted again after a reply only, and as soon as none is held any more.
func TestADoubtLastsUntilAReply(t *testing.T) {
	t.Parallel()
	r := &run{ledger: ledger.New(), disruptionLog: disruptionLog{disruptions: make([]timedDisruption, 1)}}
	assert.False(t, r.hasJobsInDoubt())
	r.ledger.BookSent(1, 0)
	r.ledger.BookPush(1)
	assert.True(t, r.hasJobsInDoubt())
	r.ledger.BookDelivery(1, 0)
	r.status.HeldJobs, r.status.ServedCommands = 1, 1
	assert.True(t, r.hasJobsInDoubt(), "a worker has it")
	r.ledger.BookReturnable(1) // its connection has ended, without a reply
	r.status.HeldJobs = 0
	assert.True(t, r.hasJobsInDoubt())
	r.ledger.BookDelivery(1, 0)
	r.ledger.BookAck(1)
	assert.True(t, r.hasJobsInDoubt(), "no reply was seen")
	r.status.ServedCommands += 2
	assert.False(t, r.hasJobsInDoubt())
	r.ledger.BookSent(2, 0)
	r.ledger.BookDoubt(2)
	assert.True(t, r.hasJobsInDoubt(), "a push without a reply")
	r.ledger.BookDelivery(2, 0)
	r.ledger.BookAck(2)
	r.status.Errors++
	assert.False(t, r.hasJobsInDoubt(), "a reply that breaks the protocol may have had the job")
}

// Without a disruption only jobs that were accepted are waited for.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	r := &run{ledger: ledger.New()}
	r.ledger.BookSent(1, 0)
	r.ledger.BookDoubt(1)
	r.ledger.BookSent(2, 0)
	r.ledger.BookDelivery(2, 0)
	r.ledger.BookReturnable(2)
	assert.False(t, r.hasJobsInDoubt())
	r.ledger.BookSent(3, 0)
	r.ledger.BookPush(3)
	assert.True(t, r.hasJobsInDoubt())
}

// Whether jobs that were missing for the whole drain are known to be lost.
func TestWhetherMissingJobsAreLost(t *testing.T) {
	t.Parallel()
	const reason = "not delivered within 1m of their time"
	nothing := wire.ServerJobs{IsComplete: true}
	oneJob, deadJob := wire.ServerJobs{IsComplete: true, Alive: 1}, wire.ServerJobs{IsComplete: true, Dead: 1}
	later := plan.Range{Min: time.Second, Max: time.Second}
	for name, test := range map[string]struct {
		delay         plan.Range
		isEarly       bool
		before, after wire.ServerJobs
		hasLostFetch  bool
		want          string
	}{
		"due at once": {},
		"due at once, and the server has them": {after: wire.ServerJobs{Queues: map[string]int64{"fwpbench-r-0": 1}},
			want: "not delivered within 1m, although the server has 1 job in their queues"},
		"due at once, and others have jobs": {after: wire.ServerJobs{Queues: map[string]int64{"other": 1}, Alive: 1}},
		"after a short drain": {isEarly: true, before: nothing, after: nothing,
			want: "not delivered within 10s after the queues were empty"},
		"with a time":                   {delay: later, want: reason},
		"the server has nothing":        {delay: later, before: nothing, after: nothing},
		"the server had something":      {delay: later, before: oneJob, after: nothing, want: reason},
		"the server has something":      {delay: later, before: nothing, after: oneJob, want: reason},
		"some have died":                {delay: later, before: nothing, after: deadJob, want: reason},
		"some that were dead are gone":  {delay: later, before: nothing, after: wire.ServerJobs{IsComplete: true, Dead: -1}},
		"the server tells queues only":  {delay: later, before: nothing, want: reason},
		"it may have gone with a FETCH": {delay: later, hasLostFetch: true},
	} {
		w := plan.Workload{Delay: test.delay, Queues: plan.Queues{Number: 1}}
		r := &run{config: Config{MissingWait: 10 * time.Second}, work: w.WithDefaults(), ledger: ledger.New(), jobs: w.Jobs("r", 1)}
		r.ledger.BookSent(1, 0)
		r.ledger.BookPush(1)
		if test.hasLostFetch {
			r.ledger.BookFetchLoss()
		}
		assert.Equal(t, test.want, r.doubtReason(test.isEarly, test.before, test.after), name)
	}
}
