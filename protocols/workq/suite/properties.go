package suite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
)

// The limits of the explorations, so that no run takes much longer because of them.
const (
	valuesSent  = 2500                    // commands: about three for each bucket of a field
	valuesFor   = 12 * time.Second        // at most
	livesFor    = 7000 * time.Millisecond // at most: what time does has happened before, even on a server that is late
	longFor     = 15 * time.Second        // at most, in the same way
	connections = 30

	turns    = 400             // leases by which a property shows how a server chooses: half of them show most habits
	turnsFor = 6 * time.Second // at most
)

// Properties returns the checks that generate what they send.
func Properties() []conformance.Check {
	return []conformance.Check{
		explore.Property(conformance.Property{
			Name:  "explore/values",
			Title: "Whatever several clients send in any order, each reply is one that the document allows",
			About: "Commands are generated from the seed of the run, with all flags and with values at limits where " +
				"servers differ, and malformed ones. Jobs are added, leased, reported, deleted and inspected in any order; " +
				"some clients wait. Each reply is compared with the model of the document.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Values, explore.Explorer{Steps: valuesSent, Exploring: valuesFor}),
		explore.Property(conformance.Property{
			Name:  "explore/lives",
			Title: "When a job is due, or its time to run or to live ends, its state is as in the document",
			About: "Jobs take each way that depends on time: a late report, the end of a time to live in each state, one " +
				"time to run after the other, jobs of all priorities that become ready, leases and results that wait. Others " +
				"are generated as for explore/values, with short times. All wait together, and each is inspected when " +
				"everything due has happened.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Lives, explore.Explorer{Exploring: livesFor}),
		explore.Property(conformance.Property{
			Name:  "explore/turns",
			Title: "A lease of several names with jobs chooses a name at random",
			About: "Three names have jobs, one of them more than the others. Some hundred leases name all three, in any " +
				"order. The choice must not depend on the place or spelling of a name, or on the age or number of its jobs.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Turns, explore.Explorer{Steps: 3 * turns, Least: 3 * turns / 2, Exploring: turnsFor}),
		explore.Property(conformance.Property{
			Name:  "explore/long-lives",
			Title: "Longer times to run and to live have the right length",
			About: "As explore/lives, with times six times as long, so that a halved or doubled time is found.",
			Wait:  longFor, Connections: connections,
		}, LongLives, explore.Explorer{Exploring: longFor}),
	}
}
