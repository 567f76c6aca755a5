package fwpsuite

import (
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
)

// The limits of an exploration, so that no run takes much longer because of it.
const (
	commandsSent   = 600               // at most
	exploringFor   = 3 * time.Second   // at most, without waiting for its end
	valuesSent     = 6000              // commands at most: about one for each bucket of each field
	valuesFor      = 2 * time.Second   // at most
	livesFor       = 120 * time.Second // at most: a reservation of 60 s, and a retry
	livesWait      = 130 * time.Second // with its end
	exploringLasts = 10 * time.Second  // on a server that leaves commands unanswered; else about 2 s
)

// Exploration returns the check that sends generated commands for a short time.
func Exploration() conformance.Property {
	return explore.Property(conformance.Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in whatever order, each reply is one that the specification allows",
		About: "Commands are generated from the seed of the run: legal ones, ones that are illegal in the state of their " +
			"connection, malformed ones, and disconnects. Each reply is compared with the model of the specification. " +
			"The check is a short `fwpcheck explore`.",
		Wait: exploringLasts, Connections: 12,
	}, func() explore.Explorer {
		return explore.Explorer{Subject: fwpsubject.New(), Steps: commandsSent, Exploring: exploringFor}
	})
}

// Values returns the check that sends jobs with values of every bucket, and fetches them.
func Values() conformance.Property {
	return explore.Property(conformance.Property{
		Name:  "explore/values",
		Title: "Whatever legal values a job has, it is delivered with them",
		About: "Jobs are generated from the seed of the run with values from every bucket that each of their fields has: " +
			"sizes, numbers, instants and texts at whose borders servers differ. They are pushed and fetched, and what comes " +
			"back is compared with what was sent. A value that a server may refuse stands alone in its job.",
		Wait: conformance.QuickWait, Connections: 12,
	}, func() explore.Explorer {
		return explore.Explorer{Subject: fwpsubject.Values(), Steps: valuesSent, Exploring: valuesFor}
	})
}

// Lives returns the check that follows jobs with values of every bucket through schedules, failures and the ends of
// their reservations.
func Lives() conformance.Property {
	return explore.Property(conformance.Property{
		Name:  "explore/lives",
		Title: "Whatever legal values a job has, it comes back with them after its time, a failure or its reservation",
		About: "Jobs are generated as for explore/values. Some are scheduled, some are failed once, and some are kept " +
			"until their reservation ends. All of them wait together, and are compared when they come.",
		Wait: livesWait, Connections: 12,
	}, func() explore.Explorer {
		return explore.Explorer{Subject: fwpsubject.Lives(), Exploring: livesFor}
	})
}
