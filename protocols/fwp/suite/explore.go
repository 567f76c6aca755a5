package suite

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/scenarios"
)

// The limits of the explorations. The times are bounds for a slow machine: where it is not, the quick ones end after
// about two seconds, with their commands, or when all values were sent.
const (
	commandLimit = 6000
	guessLimit   = 1500 // on a server with a password
	valueLimit   = 20_000
	exploreTime  = 10 * time.Second
	waitTime     = 3 * time.Second
	livesTime    = 225 * time.Second // a reservation of 60 s, and the patience for what must come then
	livesWait    = 130 * time.Second // where all comes
	connections  = 12
)

func lives() *explore.Alphabet      { return moves.Lives(moves.LivesLast) }
func shortLives() *explore.Alphabet { return moves.Lives(exploreTime) }

// Explorations returns the checks that explore.
func Explorations() []conformance.Property { return slices.Clone(explorations) }

// explorations are all of them.
var explorations = []conformance.Property{
	explore.Property(conformance.Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in any order, each reply is one that the specification allows",
		Summary: "Commands are generated from the seed of the run: legal and malformed ones, ones that are illegal in the " +
			"state of their connection, and disconnects. Each reply is compared with the model of the specification. The " +
			"check is a short `fwpcheck explore`.",
		Wait: conformance.QuickWait, Connections: connections,
	}, moves.Commands, explore.Explorer{Steps: commandLimit, Exploring: exploreTime}),
	explore.Property(conformance.Property{
		Name:    "explore/password",
		Title:   "Whatever clients send to a server with a password, each reply is one that the specification allows",
		Summary: "Commands are generated as for explore/commands, with wrong passwords and hashes.",
		Wait:    conformance.QuickWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedPassword},
	}, moves.Commands, explore.Explorer{Steps: guessLimit, Exploring: exploreTime}),
	explore.Property(conformance.Property{
		Name:  "explore/waits",
		Title: "While FETCHes wait and lines are sent, each reply is one that the specification allows",
		Summary: "Commands are generated as for explore/commands: FETCHes that wait until jobs come or their clients " +
			"leave, or while others work; lines in segments; bytes that no client would send.",
		Wait: conformance.QuickWait, Connections: connections,
	}, moves.Waits, explore.Explorer{Exploring: waitTime}),
	explore.Property(conformance.Property{
		Name:  "explore/values",
		Title: "A job with any legal values is delivered unchanged",
		Summary: "Jobs are generated from the seed of the run. Their fields have sizes, numbers, times and texts at " +
			"limits where servers differ. They are pushed and fetched, some by a waiting FETCH and some when they are due, " +
			"and compared with what was sent. A value that a server may refuse is the only unusual one in its job.",
		Wait: conformance.QuickWait, Connections: connections,
	}, moves.Values, explore.Explorer{Steps: valueLimit, Exploring: exploreTime}),
	explore.Property(conformance.Property{
		Name:  "explore/restart",
		Title: "A job with any legal values is delivered unchanged after a restart",
		Summary: "Jobs are generated as for explore/values. After all pushes the server is restarted, and most jobs are " +
			"delivered only then. Acknowledged jobs, and jobs pushed before a FLUSH, must not come back.",
		Wait: conformance.QuickWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedRestart},
	}, moves.Restarts, explore.Explorer{Steps: valueLimit, Exploring: exploreTime}),
	explore.Property(conformance.Property{
		Name:  "explore/short-lives",
		Title: "A job with any legal values comes back unchanged after a failure, and only if it may",
		Summary: "Jobs are generated as for explore/values. They are failed, some after their scheduled time, again " +
			"whenever they come back within a few seconds. Then all queues are fetched: no job may come that has ended, " +
			"that a FLUSH removed, or whose PUSH was refused.",
		Wait: conformance.QuickWait, Connections: connections,
	}, shortLives, explore.Explorer{Exploring: exploreTime}),
	explore.Property(conformance.Property{
		Name:  "explore/lives",
		Title: "A job with any legal values comes back unchanged after its time, a failure or its reservation",
		Summary: "Jobs are generated as for explore/values. Some are scheduled, some are failed, and some are kept until " +
			"their reservation ends, once or twice. All of them wait together, and are compared when they come.",
		Wait: livesWait, Connections: connections,
	}, lives, explore.Explorer{Exploring: livesTime}),
	explore.Property(conformance.Property{
		Name:  "explore/restarted-lives",
		Title: "A restart does not change when a job comes back, or any of its legal values",
		Summary: "Jobs are generated as for explore/lives, and the server is restarted after all pushes: some jobs then " +
			"wait in queues, some for their time or next try, and some are reserved or reported.",
		Wait: livesWait, Connections: connections, Needs: []scenarios.Need{scenarios.NeedRestart},
	}, lives, explore.Explorer{Exploring: livesTime}),
}
