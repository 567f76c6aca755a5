package shared

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
)

// The network of a disruption: which side's bytes no longer pass, or how slowly they do.
func TestConditionOfADisruption(t *testing.T) {
	t.Parallel()
	partition := condition(disrupt.Disruption{Action: target.Partition})
	assert.Len(t, partition.HeldSides, 2)
	toServer := condition(disrupt.Disruption{Action: target.Partition, Direction: disrupt.ToServer})
	toClients := condition(disrupt.Disruption{Action: target.Partition, Direction: disrupt.ToClients})
	assert.Len(t, toServer.HeldSides, 1)
	assert.Len(t, toClients.HeldSides, 1)
	assert.NotEqual(t, toServer.HeldSides, toClients.HeldSides)
	slow := condition(disrupt.Disruption{Action: target.Slow, Link: disrupt.Link{Delay: time.Second}})
	assert.Equal(t, time.Second, slow.Delay)
	assert.Empty(t, slow.HeldSides)
}
