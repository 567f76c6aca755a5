package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/scenarios"
)

// How far the properties go. No run may take much longer because of them.
const (
	commandsMadeUp  = 600                     // of an exploration
	exploringFor    = 3 * time.Second         // at most; what waits for its end is not counted
	commandsOfCrowd = 900                     // three for each job
	findingsTold    = 20                      // of one property
	shrinkingFor    = 1500 * time.Millisecond // for all findings of a property together
	exploringLasts  = 10 * time.Second        // on a server that leaves something unanswered; mostly it is 2 s
	lateness        = 2 * time.Second         // of replies for which other checks or the network may be the reason
)

// madeUpCommands is a short walk through states that nobody listed.
func madeUpCommands() Property {
	return Property{
		Name:  "explore/commands",
		Title: "Whatever several clients send in whatever order, each reply is one that the specification allows",
		About: "Commands are made up from the seed of the run: legal ones, such that are illegal in the state of their connection, " +
			"malformed ones, and disconnects. Each reply is held against the model of the specification. The check is a short " +
			"`fwpcheck explore`, which goes on for as long as it is asked to.",
		Wait: exploringLasts, Connections: 12,
		Run: func(ctx context.Context, on Trial) Sight {
			return on.twice(ctx, func(ctx context.Context, e explore.Explorer) Sight {
				sent := 0
				e.Watch = func(step explore.Step) {
					if step.Kind == explore.Send && !step.Raw { // others need no answer
						sent++
					}
				}
				e.Steps, e.Time = commandsMadeUp, exploringFor
				r := e.Run(ctx)
				s := Sight{Findings: r.Findings, Dead: r.Dead, Commands: sent, Left: r.Left, Served: r.Coverage.States["identified"]+r.Coverage.States["identified worker"] > 0}
				for _, n := range r.Coverage.Outcomes {
					s.Answered += n
				}
				return s
			})
		},
	}
}

// manyClients is a short history of producers and workers that work side by side. The
// producers are more than the workers, and there is one queue, so that it is not empty
// before the end: a FETCH that waits for nothing takes as long as all else.
func manyClients() Property {
	return Property{
		Name:  "explore/crowd",
		Title: "With many producers and workers at a time each job is delivered once, and none is lost",
		About: "Producers push jobs of their own while workers fetch and acknowledge them. Each call and each reply is recorded " +
			"with its time, and the history of every job is judged: what no order of overlapping calls can explain is a finding.",
		Wait: exploringLasts, Connections: 18,
		Run: func(ctx context.Context, on Trial) Sight {
			return on.twice(ctx, func(ctx context.Context, e explore.Explorer) Sight {
				e.Steps, e.Connections = commandsOfCrowd, 4
				h := (&explore.Crowd{Explorer: e, Producers: 12, QueuesAtAll: 1}).Run(ctx)
				s := Sight{Findings: h.Findings, Dead: h.Dead, Commands: h.Commands, Left: h.Left, Served: h.Commands > 0}
				for _, call := range h.Events {
					if call.Outcome != history.Open {
						s.Answered++
					}
				}
				if !h.Drained || len(h.Left) > 0 {
					s.Open = "not every job could be accounted for: the queues could not be emptied"
				}
				return s
			})
		},
	}
}

// twice explores, and if that finds something, once more for the sake of scripts that
// show it. What was found is told all the same if there is no time to make it small.
func (on Trial) twice(ctx context.Context, once func(context.Context, explore.Explorer) Sight) Sight {
	e := explore.Explorer{
		Target: on.Target, Password: on.Password, Seed: on.Seed, Alone: on.Alone, Timeout: on.Timeout, Patience: on.Patience,
		Slack: lateness, Findings: findingsTold, Unshrunk: true, Shrinking: shrinkingFor / 4,
		Fresh: func() (scenarios.Target, func(), error) { return nil, nil, errNoOther }, // so that it does not wait for jobs that were put off
	}
	limited, cancel := context.WithTimeout(ctx, exploringFor+6*on.Timeout)
	defer cancel()
	s := once(limited, e)
	if limited.Err() != nil && s.Open == "" {
		s.Open = "the server kept it waiting for too long"
	}
	if len(s.Findings) == 0 || !s.Served || ctx.Err() != nil || s.Dead && on.Fresh == nil {
		return s
	}
	if on.Fresh != nil { // where faults count, and the dead live again
		target, end, err := on.Fresh()
		if err != nil {
			return s
		}
		defer end()
		e.Target = target
	}
	ctx, end := context.WithTimeout(ctx, shrinkingFor)
	defer end()
	e.Fresh, e.Unshrunk = on.Fresh, false
	again := once(ctx, e)
	if on.Fresh == nil {
		s.Left = append(s.Left, again.Left...)
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		same := func(o explore.Finding) bool { return o.Clause == f.Clause && o.Rule == f.Rule && o.Script != "" }
		if j := slices.IndexFunc(again.Findings, same); j >= 0 {
			*f = again.Findings[j]
		}
	}
	return s
}

var errNoOther = errors.New("there is no other server like this one")

// clocked are the rules of the model for which a lag of ours may be the reason.
var clocked = []string{"stalled", "late", "asleep", "block", "lingers", "silent"}
