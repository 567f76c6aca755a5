package fwpsuite

import (
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/internal/lag"
)

// The limits of an exploration, so that no run takes much longer because of it.
const (
	commandsSent   = 600                     // at most
	exploringFor   = 3 * time.Second         // at most, without waiting for its end
	valuesSent     = 6000                    // commands at most: about one for each bucket of each field
	valuesFor      = 2 * time.Second         // at most
	livesFor       = 120 * time.Second       // at most: a reservation of 60 s, and a retry
	livesWait      = 130 * time.Second       // with its end
	mostFindings   = 20                      // of one property
	shrinkingFor   = 1500 * time.Millisecond // for all findings of an exploration together
	exploringLasts = 10 * time.Second        // on a server that leaves commands unanswered; else about 2 s
)

// Exploration returns the check that sends generated commands for a short time.
func Exploration() conformance.Property {
	return conformance.Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in whatever order, each reply is one that the specification allows",
		About: "Commands are generated from the seed of the run: legal ones, ones that are illegal in the state of their " +
			"connection, malformed ones, and disconnects. Each reply is compared with the model of the specification. " +
			"The check is a short `fwpcheck explore`.",
		Wait: exploringLasts, Connections: 12,
		Run: func(ctx context.Context, on conformance.Setup) conformance.Evidence {
			e := explore.Explorer{Subject: fwpsubject.New(), Steps: commandsSent, Exploring: exploringFor}
			return exploreCommands(ctx, on, e)
		},
	}
}

// Values returns the check that sends jobs with values of every bucket, and fetches them.
func Values() conformance.Property {
	return conformance.Property{
		Name:  "explore/values",
		Title: "Whatever legal values a job has, it is delivered with them",
		About: "Jobs are generated from the seed of the run with values from every bucket that each of their fields has: " +
			"sizes, numbers, instants and texts at whose borders servers differ. They are pushed and fetched, and what comes " +
			"back is compared with what was sent. A value that a server may refuse stands alone in its job.",
		Wait: conformance.QuickWait, Connections: 12,
		Run: func(ctx context.Context, on conformance.Setup) conformance.Evidence {
			e := explore.Explorer{Subject: fwpsubject.Values(), Steps: valuesSent, Exploring: valuesFor}
			return exploreCommands(ctx, on, e)
		},
	}
}

// Lives returns the check that follows jobs with values of every bucket through schedules, failures and the ends of
// their reservations.
func Lives() conformance.Property {
	return conformance.Property{
		Name:  "explore/lives",
		Title: "Whatever legal values a job has, it comes back with them after its time, a failure or its reservation",
		About: "Jobs are generated as for explore/values. Some are scheduled, some are failed once, and some are kept " +
			"until their reservation ends. All of them wait together, and are compared when they come.",
		Wait: livesWait, Connections: 12,
		Run: func(ctx context.Context, on conformance.Setup) conformance.Evidence {
			return exploreCommands(ctx, on, explore.Explorer{Subject: fwpsubject.Lives(), Exploring: livesFor})
		},
	}
}

// explored is the result of an exploration.
type explored struct {
	findings []explore.Finding
	served   bool // a client was identified
	dead     bool
	outage   string // when it was unreachable, empty if it never was
	commands int    // that were sent
	answered int    // how many of them were answered
	leftover []string
	open     string // why it is inconclusive although there is no finding; empty if it is not
}

// evidence returns it as the evidence of the check.
func (s explored) evidence() conformance.Evidence {
	e := conformance.Evidence{Served: s.served, Leftover: s.leftover, Open: s.why()}
	switch {
	case s.dead:
		e.Dead = "no new connection is served"
	case s.outage != "" && len(s.findings) == 0:
		e.Dead, e.Back = s.outage, true
	}
	for _, f := range s.findings {
		e.Findings = append(e.Findings, conformance.Finding{
			Clause: f.Clause, Should: f.Should, Crash: f.Crash, Clocked: slices.Contains(clocked, f.Rule),
			Expected: f.Expected, Got: f.Got, What: f.What, Script: f.Script,
		})
	}
	return e
}

// why returns Evidence.Open.
func (s explored) why() string {
	if s.served && 2*s.answered < s.commands {
		return "fewer than half of the commands were answered"
	}
	return s.open
}

// exploreOnce explores, and counts the commands.
func exploreOnce(ctx context.Context, e explore.Explorer) explored {
	sent := 0
	e.Watch = func(step explore.Step) {
		if do := step.Sends(); do != nil && !do.Raw { // others need no reply
			sent++
		}
	}
	r := e.Run(ctx)
	s := explored{findings: r.Findings, dead: r.Dead, commands: sent, leftover: r.Left}
	if len(r.Outages) > 0 {
		s.outage = r.Outages[0].String()
	}
	s.served = r.Coverage.States["identified"]+r.Coverage.States["identified worker"] > 0
	for _, n := range r.Coverage.Outcomes {
		s.answered += n
	}
	return s
}

// exploreCommands explores as e says, and shrinks what it finds. If there can be another server, that is where it is
// shrunk: faults that count begin anew there, and it has not crashed.
func exploreCommands(ctx context.Context, on conformance.Setup, e explore.Explorer) conformance.Evidence {
	e.Target, e.Password, e.Seed, e.Alone, e.Fresh, e.Impatient = on.Target, on.Password, on.Seed, on.Alone, on.Fresh, true
	e.Timeout, e.Patience, e.Slack = on.Timeout, on.Patience, lag.Allowance
	e.Findings, e.Shrinking, e.Time = mostFindings, shrinkingFor/explore.Shrinkings, e.Exploring+6*on.Timeout
	limited, cancel := context.WithTimeout(ctx, e.Time+shrinkingFor)
	defer cancel()
	s := exploreOnce(limited, e)
	if limited.Err() != nil && s.open == "" {
		s.open = "the server delayed the check for too long"
	}
	return s.evidence()
}

// clocked are the rules of the model that a lag of this machine may seem to break.
var clocked = []string{"stalled", "late", "asleep", "block", "lingers", "silent"}
