package suite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
)

// The limits of the explorations, so that no run takes much longer because of them.
const (
	valuesFor   = 15 * time.Second // at most, on a busy machine; on another one about 4 s
	connections = 16
)

// Properties returns the checks that generate what they send.
func Properties() []conformance.Check {
	return []conformance.Check{
		explore.Property(conformance.Property{
			Name:  "explore/values",
			Title: "A message with any legal frames reaches its peer unchanged, on any path",
			Summary: "Messages are generated from the seed of the run. Their frames have sizes, numbers and texts at limits " +
				"where brokers differ. Workers are ready or not, have queues with similar names, and reply; clients leave, " +
				"and others send malformed messages.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Values, explore.Explorer{Exploring: valuesFor}),
	}
}
