package suite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
)

// The limits of the explorations, so that no run takes much longer because of them.
const (
	valuesSteps   = 2500                    // commands: about three for each bucket of a field
	valuesTime    = 12 * time.Second        // at most
	livesTime     = 7000 * time.Millisecond // at most: what time does has happened before, even on a server that is late
	longLivesTime = 15 * time.Second        // at most, in the same way
	connections   = 30

	turns     = 400             // leases by which a property shows how a server chooses: half of them show most habits
	turnsTime = 6 * time.Second // at most
)

// Properties returns the checks that generate what they send.
func Properties() []conformance.Check {
	return []conformance.Check{
		explore.Property(conformance.Property{
			Name:  "explore/values",
			Title: "Whatever several clients send in any order, each reply is one that the document allows",
			Summary: "Commands are generated from the seed of the run, with all flags and with values at limits where " +
				"servers differ, and malformed ones. Jobs are added, leased, reported, deleted and inspected in any order; " +
				"some clients wait. Each reply is compared with the model of the document.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Values, explore.Explorer{Steps: valuesSteps, Exploring: valuesTime}),
		explore.Property(conformance.Property{
			Name:  "explore/lives",
			Title: "When a job is due, or its time to run or to live ends, its state is as in the document",
			Summary: "Jobs take each way that depends on time: a late report, the end of a time to live in each state, one " +
				"time to run after the other, jobs of all priorities that become ready, leases and results that wait. Others " +
				"are generated as for explore/values, with short times. All wait together, and each is inspected when " +
				"everything due has happened.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Lives, explore.Explorer{Exploring: livesTime}),
		explore.Property(conformance.Property{
			Name:  "explore/turns",
			Title: "A lease of several names with jobs chooses a name at random",
			Summary: "Three names have jobs, one of them more than the others. Some hundred leases name all three, in any " +
				"order. The choice must not depend on the place or spelling of a name, or on the age or number of its jobs.",
			Wait: conformance.QuickWait, Connections: connections,
		}, Turns, explore.Explorer{Steps: 3 * turns, MinAnswers: 3 * turns / 2, Exploring: turnsTime}),
		explore.Property(conformance.Property{
			Name:    "explore/long-lives",
			Title:   "Longer times to run and to live have the right length",
			Summary: "As explore/lives, with times six times as long, so that a halved or doubled time is found.",
			Wait:    longLivesTime, Connections: connections,
		}, LongLives, explore.Explorer{Exploring: longLivesTime}),
	}
}
