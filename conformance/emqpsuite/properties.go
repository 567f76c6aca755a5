package emqpsuite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/emqpsubject"
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
			Title: "Whatever legal frames a message has, and whichever way it takes, its peer gets it as it was sent",
			About: "Messages are generated from the seed of the run, with values from every bucket that each of " +
				"their frames has: sizes, numbers and texts at whose borders brokers differ. They reach workers that " +
				"are ready or not, that have queues with names that are nearly alike, and that reply; clients leave, " +
				"and others send what is malformed.",
			Wait: conformance.QuickWait, Connections: connections,
		}, emqpsubject.Values, explore.Explorer{Exploring: valuesFor}),
	}
}
