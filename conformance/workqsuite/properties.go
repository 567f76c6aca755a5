package workqsuite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/workqsubject"
)

// The limits of the explorations, so that no run takes much longer because of them.
const (
	valuesSent  = 2500                    // commands: about three for each bucket of a field
	valuesFor   = 12 * time.Second        // at most
	livesFor    = 7000 * time.Millisecond // at most: what time does has happened before, even on a server that is late
	longFor     = 15 * time.Second        // at most, in the same way
	connections = 30
)

// Properties returns the checks that generate what they send.
func Properties() []conformance.Check {
	return []conformance.Check{
		explore.Property(conformance.Property{
			Name:  "explore/values",
			Title: "Whatever several clients send in whatever order, each reply is one that the document allows",
			About: "Commands are generated from the seed of the run, with all their flags and with values from every bucket " +
				"that each of their fields has, and malformed ones. Jobs are added, leased, reported, deleted and inspected " +
				"in any order by clients of which some wait. Each reply is compared with the model of the document.",
			Wait: conformance.QuickWait, Connections: connections,
		}, workqsubject.Values, explore.Explorer{Steps: valuesSent, Exploring: valuesFor}),
		explore.Property(conformance.Property{
			Name:  "explore/lives",
			Title: "Jobs that are due, whose time to run or time to live ends, are then what the document says",
			About: "Jobs go each way that time has a part in: a report comes late, a time to live ends in each state, one " +
				"time to run ends behind the other, jobs of all priorities come to be ready, leases and results are awaited. " +
				"Others are generated as for explore/values, with short times. All of them wait together, and each is looked " +
				"at when everything that is due has happened.",
			Wait: conformance.QuickWait, Connections: connections,
		}, workqsubject.Lives, explore.Explorer{Exploring: livesFor}),
		explore.Property(conformance.Property{
			Name:  "explore/long-lives",
			Title: "Times to run and to live that are longer than a server may be late are as long as they say",
			About: "As explore/lives, with times six times as long: one that is halved or doubled on some way shows.",
			Wait:  longFor, Connections: connections,
		}, workqsubject.LongLives, explore.Explorer{Exploring: longFor}),
	}
}
