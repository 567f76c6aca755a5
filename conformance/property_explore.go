package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/scenarios"
)

// How far the properties go. No run may take much longer because of them.
const (
	commandsMadeUp = 600                     // of an exploration
	exploringFor   = 3 * time.Second         // at most; what waits for its end is not counted
	findingsTold   = 20                      // of one property
	shrinkingFor   = 1500 * time.Millisecond // for all findings of an exploration together
	exploringLasts = 10 * time.Second        // on a server that leaves something unanswered; mostly it is 2 s
	lateness       = 2 * time.Second         // of replies for which other checks or the network may be the reason
)

// Exploration is a short walk through states that nobody listed.
func Exploration() Property {
	return Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in whatever order, each reply is one that the specification allows",
		About: "Commands are made up from the seed of the run: legal ones, such that are illegal in the state of their connection, " +
			"malformed ones, and disconnects. Each reply is held against the model of the specification. The check is a short " +
			"`fwpcheck explore`, which goes on for as long as it is asked to.",
		Wait: exploringLasts, Connections: 12,
		Run: func(ctx context.Context, on Setup) Evidence {
			return on.explore(ctx)
		},
	}
}

// explored is what an exploration saw.
type explored struct {
	findings []explore.Finding
	served   bool // a client was identified
	dead     bool
	commands int // that were sent
	answered int // how many of them were answered
	leftover []string
	open     string // why nothing can be said although nothing was found; empty if there is no reason
}

// evidence is what the check says of it.
func (s explored) evidence() Evidence {
	e := Evidence{Served: s.served, Leftover: s.leftover, Open: s.why()}
	if s.dead {
		e.Dead = "no new connection is served"
	}
	for _, f := range s.findings {
		e.Findings = append(e.Findings, Finding{
			Clause: f.Clause, Should: f.Should, Crash: f.Crash, Clocked: slices.Contains(clocked, f.Rule),
			Expected: f.Expected, Got: f.Got, What: f.What, Script: f.Script,
		})
	}
	return e
}

// why is what Evidence.Open says.
func (s explored) why() string {
	if s.served && 2*s.answered < s.commands {
		return "fewer than half of the commands were answered"
	}
	return s.open
}

// inTurn explores.
func inTurn(ctx context.Context, e explore.Explorer) explored {
	sent := 0
	e.Watch = func(step explore.Step) {
		if step.Kind == explore.Send && !step.Raw { // others need no answer
			sent++
		}
	}
	e.Steps, e.Time = commandsMadeUp, exploringFor
	r := e.Run(ctx)
	s := explored{findings: r.Findings, dead: r.Dead, commands: sent, leftover: r.Left}
	s.served = r.Coverage.States["identified"]+r.Coverage.States["identified worker"] > 0
	for _, n := range r.Coverage.Outcomes {
		s.answered += n
	}
	return s
}

// explore looks once, and if that finds something, explores once more with shrinking, and
// takes the scripts of what comes up again. What was found is reported all the same if
// there is no time for that.
func (on Setup) explore(ctx context.Context) Evidence {
	e := explore.Explorer{
		Subject: fwpsubject.New(),
		Target:  on.Target, Password: on.Password, Seed: on.Seed, Alone: on.Alone, Timeout: on.Timeout, Patience: on.Patience,
		Slack: lateness, Findings: findingsTold, Unshrunk: true, Shrinking: shrinkingFor / 4,
		Fresh: func() (scenarios.Target, func(), error) { return nil, nil, errNoOther }, // so that it does not wait for jobs that were put off
	}
	limited, cancel := context.WithTimeout(ctx, exploringFor+6*on.Timeout)
	defer cancel()
	s := inTurn(limited, e)
	if limited.Err() != nil && s.open == "" {
		s.open = "the server kept it waiting for too long"
	}
	if len(s.findings) > 0 && s.served && ctx.Err() == nil && (!s.dead || on.Fresh != nil) {
		on.script(ctx, e, &s)
	}
	return s.evidence()
}

// script explores again, on another server if there can be one, where faults count from the
// start and the dead serve again.
func (on Setup) script(ctx context.Context, e explore.Explorer, s *explored) {
	if on.Fresh != nil {
		target, end, err := on.Fresh()
		if err != nil {
			return
		}
		defer end()
		e.Target = target
	}
	ctx, end := context.WithTimeout(ctx, shrinkingFor)
	defer end()
	e.Fresh, e.Unshrunk = on.Fresh, false
	again := inTurn(ctx, e)
	if e.Fresh == nil {
		s.leftover = append(s.leftover, again.leftover...)
	}
	for i := range s.findings {
		f := &s.findings[i]
		same := func(o explore.Finding) bool { return o.Clause == f.Clause && o.Rule == f.Rule && o.Script != "" }
		if j := slices.IndexFunc(again.findings, same); j >= 0 {
			*f = again.findings[j]
		}
	}
}

var errNoOther = errors.New("there is no other server like this one")

// clocked are the rules of the model for which a lag of ours may be the reason.
var clocked = []string{"stalled", "late", "asleep", "block", "lingers", "silent"}
