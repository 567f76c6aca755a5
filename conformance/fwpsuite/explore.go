package fwpsuite

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/scenarios"
)

// The limits of the explorations. The times are bounds for a slow machine: where it is not, the quick ones end after
// about two seconds, with their commands, or when all values were sent.
const (
	commandsSent = 6000
	guessesSent  = 1500 // on a server with a password
	valuesSent   = 20_000
	exploringFor = 10 * time.Second
	waitingFor   = 3 * time.Second
	livesFor     = 225 * time.Second // a reservation of 60 s, and the patience for what must come then
	livesWait    = 130 * time.Second // where all comes
	connections  = 12
)

func lives() *explore.Subject      { return fwpsubject.Lives(fwpsubject.LivesLast) }
func shortLives() *explore.Subject { return fwpsubject.Lives(exploringFor) }

// Explorations returns the checks that explore.
func Explorations() []conformance.Property { return slices.Clone(explorations) }

// explorations are all of them.
var explorations = []conformance.Property{
	explore.Property(conformance.Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in whatever order, each reply is one that the specification allows",
		About: "Commands are generated from the seed of the run: legal ones, ones that are illegal in the state of their " +
			"connection, malformed ones, and disconnects. Each reply is compared with the model of the specification. " +
			"The check is a short `fwpcheck explore`.",
		Wait: conformance.QuickWait, Connections: connections,
	}, fwpsubject.Commands, explore.Explorer{Steps: commandsSent, Exploring: exploringFor}),
	explore.Property(conformance.Property{
		Name:  "explore/password",
		Title: "Whatever clients send to a server with a password, each reply is one that the specification allows",
		About: "Commands are generated as for explore/commands, with passwords and hashes that are wrong.",
		Wait:  conformance.QuickWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedPassword},
	}, fwpsubject.Commands, explore.Explorer{Steps: guessesSent, Exploring: exploringFor}),
	explore.Property(conformance.Property{
		Name:  "explore/waits",
		Title: "While FETCHes wait and lines are sent, each reply is one that the specification allows",
		About: "Generated commands as in explore/commands, of those that wait: FETCHes to which jobs come, whose " +
			"clients leave, or beside which others work; lines in segments; bytes that no client would send.",
		Wait: conformance.QuickWait, Connections: connections,
	}, fwpsubject.Waits, explore.Explorer{Exploring: waitingFor}),
	explore.Property(conformance.Property{
		Name:  "explore/values",
		Title: "Whatever legal values a job has, it is delivered with them",
		About: "Jobs are generated from the seed of the run with values from every bucket that each of their fields has: " +
			"sizes, numbers, instants and texts at whose borders servers differ. They are pushed and fetched, some by a FETCH " +
			"that waits and some when they are due, and what comes back is compared with what was sent. A value that a server " +
			"may refuse stands alone in its job.",
		Wait: conformance.QuickWait, Connections: connections,
	}, fwpsubject.Values, explore.Explorer{Steps: valuesSent, Exploring: exploringFor}),
	explore.Property(conformance.Property{
		Name:  "explore/restart",
		Title: "Whatever legal values a job has, it is delivered with them after a restart",
		About: "Jobs are generated as for explore/values. The server is restarted when all of them were pushed, and most " +
			"are delivered only then. What was acknowledged, or pushed before a FLUSH, must not come back.",
		Wait: conformance.QuickWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedRestart},
	}, fwpsubject.Restarts, explore.Explorer{Steps: valuesSent, Exploring: exploringFor}),
	explore.Property(conformance.Property{
		Name:  "explore/short-lives",
		Title: "Whatever legal values a job has, it comes back with them after a failure, and only where it may",
		About: "Jobs are generated as for explore/values. They are failed, some of them behind their time, again each time " +
			"that they come back within a few seconds, and then all queues are looked into: no job comes that has ended, " +
			"that a FLUSH removed, or whose PUSH was refused.",
		Wait: conformance.QuickWait, Connections: connections,
	}, shortLives, explore.Explorer{Exploring: exploringFor}),
	explore.Property(conformance.Property{
		Name:  "explore/lives",
		Title: "Whatever legal values a job has, it comes back with them after its time, a failure or its reservation",
		About: "Jobs are generated as for explore/values. Some are scheduled, some are failed, and some are kept until " +
			"their reservation ends, once or twice, with the values of each bucket. All of them wait together, and are " +
			"compared when they come.",
		Wait: livesWait, Connections: connections,
	}, lives, explore.Explorer{Exploring: livesFor}),
	explore.Property(conformance.Property{
		Name:  "explore/restarted-lives",
		Title: "Whatever legal values a job has, a restart changes nothing of when it comes back, and of what comes",
		About: "Jobs are generated as for explore/lives, and the server is restarted when all were pushed: some wait in " +
			"their queues then, some for their time or their next try, and some are held, or were reported.",
		Wait: livesWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedRestart},
	}, lives, explore.Explorer{Exploring: livesFor}),
}
