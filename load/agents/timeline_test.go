package agents

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
)

// Where some agents have all producers, the rate of the load is that of pushes, whoever says something first.
func TestTheRateOfHalves(t *testing.T) {
	t.Parallel()
	at := func(op string, achieved, target float64) *second {
		return &second{Op: op, Second: results.Second{Over: heartbeat, Achieved: achieved, Target: target}}
	}
	all := []*second{at("push", 5, 6), at("ack", 100, 0), at("push", 7, 8), at("ack", 100, 0)}
	for range all {
		var s sum
		for _, one := range all {
			s.addRate(one)
		}
		assert.Equal(t, sum{op: "push", achieved: 12, target: 14}, s)
		all = append(slices.Clone(all[1:]), all[0])
	}
	var workers sum
	workers.addRate(at("ack", 3, 0))
	workers.addRate(at("ack", 4, 0))
	assert.Equal(t, sum{op: "ack", achieved: 7}, workers)
}
