package load

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/ledger"
)

// Jobs are counted again after a reply only, and as soon as none is held any more.
func TestADoubtLastsUntilAReply(t *testing.T) {
	t.Parallel()
	r := &run{ledger: ledger.New()}
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
