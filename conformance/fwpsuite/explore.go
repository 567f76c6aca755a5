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
		Run: exploreCommands,
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
	e.Steps, e.Exploring = commandsSent, exploringFor
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

// exploreCommands explores, and shrinks what it finds. If there can be another server, that is where it is shrunk:
// faults that count begin anew there, and it has not crashed.
func exploreCommands(ctx context.Context, on conformance.Setup) conformance.Evidence {
	e := explore.Explorer{
		Subject: fwpsubject.New(),
		Target:  on.Target, Password: on.Password, Seed: on.Seed, Alone: on.Alone, Fresh: on.Fresh, Impatient: true,
		Timeout: on.Timeout, Patience: on.Patience, Slack: lag.Allowance,
		Findings: mostFindings, Shrinking: shrinkingFor / explore.Shrinkings, Time: exploringFor + 6*on.Timeout,
	}
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
