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
	r := &run{ledger: ledger.New(), disrupted: disrupted{done: make([]doneDisruption, 1)}}
	assert.False(t, r.inDoubt())
	r.ledger.Sent(1, 0)
	r.ledger.Pushed(1)
	assert.True(t, r.inDoubt())
	r.ledger.Delivered(1, 0)
	r.status.Held, r.status.Served = 1, 1
	assert.True(t, r.inDoubt(), "a worker has it")
	r.ledger.MayReturn(1) // its connection has ended, without a reply
	r.status.Held = 0
	assert.True(t, r.inDoubt())
	r.ledger.Delivered(1, 0)
	r.ledger.Acked(1)
	assert.True(t, r.inDoubt(), "no reply was seen")
	r.status.Served += 2
	assert.False(t, r.inDoubt())
	r.ledger.Sent(2, 0)
	r.ledger.Doubtful(2)
	assert.True(t, r.inDoubt(), "a push without a reply")
	r.ledger.Delivered(2, 0)
	r.ledger.Acked(2)
	r.status.Errors++
	assert.False(t, r.inDoubt(), "a reply that breaks the protocol may have had the job")
}

// Without a disruption only jobs that were accepted are waited for.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	r := &run{ledger: ledger.New()}
	r.ledger.Sent(1, 0)
	r.ledger.Doubtful(1)
	r.ledger.Sent(2, 0)
	r.ledger.Delivered(2, 0)
	r.ledger.MayReturn(2)
	assert.False(t, r.inDoubt())
	r.ledger.Sent(3, 0)
	r.ledger.Pushed(3)
	assert.True(t, r.inDoubt())
}

// Whether jobs that were missing for the whole drain are known to be lost.
func TestWhetherMissingJobsAreLost(t *testing.T) {
	t.Parallel()
	const late = "not delivered within 1m of their time"
	nothing := wire.Stock{Whole: true}
	some, died := wire.Stock{Whole: true, Alive: 1}, wire.Stock{Whole: true, Dead: 1}
	later := plan.Range{Min: time.Second, Max: time.Second}
	for name, test := range map[string]struct {
		delay         plan.Range
		early         bool
		before, after wire.Stock
		fetchLost     bool
		want          string
	}{
		"due at once": {},
		"due at once, and the server has them": {after: wire.Stock{Queues: map[string]int64{"fwpbench-r-0": 1}},
			want: "not delivered within 1m, although the server has 1 job in their queues"},
		"due at once, and others have jobs": {after: wire.Stock{Queues: map[string]int64{"other": 1}, Alive: 1}},
		"after a short drain": {early: true, before: nothing, after: nothing,
			want: "not delivered within 10s after the queues were empty"},
		"with a time":                   {delay: later, want: late},
		"the server has nothing":        {delay: later, before: nothing, after: nothing},
		"the server had something":      {delay: later, before: some, after: nothing, want: late},
		"the server has something":      {delay: later, before: nothing, after: some, want: late},
		"some have died":                {delay: later, before: nothing, after: died, want: late},
		"some that were dead are gone":  {delay: later, before: nothing, after: wire.Stock{Whole: true, Dead: -1}},
		"the server tells queues only":  {delay: later, before: nothing, want: late},
		"it may have gone with a FETCH": {delay: later, fetchLost: true},
	} {
		w := plan.Workload{Delay: test.delay, Queues: plan.Queues{Number: 1}}
		r := &run{config: Config{MissingWait: 10 * time.Second}, work: w.Filled(), ledger: ledger.New(), jobs: w.Jobs("r", 1)}
		r.ledger.Sent(1, 0)
		r.ledger.Pushed(1)
		if test.fetchLost {
			r.ledger.FetchLost()
		}
		assert.Equal(t, test.want, r.undecided(test.early, test.before, test.after), name)
	}
}
