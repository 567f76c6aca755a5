package crowd

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// The limits of the check, so that no run takes much longer because of it.
const (
	producers    = 12 // more than workers, so that queues are not empty before the end
	workers      = 4
	commands     = 930              // three for each job: a bug of every 50th job comes six times
	lasts        = 13 * time.Second // on a server that leaves commands unanswered; else about 4 s
	shrinkingFor = 9 * time.Second  // for all findings, some of which wait twice for a job that is not delivered
	mostFindings = 20
)

// Check returns the check with many clients at the same time.
func Check() conformance.Property {
	return conformance.Property{
		Name:  "explore/crowd",
		Title: "With many concurrent producers and workers each job is delivered once, and none is lost",
		About: "Producers push jobs while workers fetch and acknowledge them. Now and then a client disconnects without " +
			"reading a reply, or with a reserved job, and reconnects. Each call and reply is recorded with its time, and " +
			"the history of every job is checked: a history that no order of overlapping calls can explain is a finding.",
		Wait: lasts, Connections: producers + workers + 2, // two test whether the server is alive
		Run: check,
	}
}

var errNoOther = errors.New("there is no second server")

func check(ctx context.Context, on conformance.Setup) conformance.Evidence {
	l := &Load{Workers: workers, Producers: producers, Explorer: explore.Explorer{
		Subject: moves.New(), Target: on.Target, Password: on.Password, Seed: on.Seed, Steps: commands,
		Timeout: on.Timeout, Patience: on.Patience, Slack: machine.Allowance,
		Findings: mostFindings, Unshrunk: true, Shrinking: shrinkingFor - time.Second,
		Fresh: func() (play.Target, func(), error) { return nil, nil, errNoOther },
	}, LawApart: true}
	limited, cancel := context.WithTimeout(ctx, lasts-shrinkingFor+6*on.Timeout)
	defer cancel()
	r := l.Run(limited)
	e := conformance.Evidence{Served: r.Served, Leftover: r.Left, Law: r.Law, Tally: r.Tally}
	switch {
	case limited.Err() != nil:
		e.Open = "the server was too slow for the check"
	case 2*r.Answered < r.Commands:
		e.Open = "fewer than half of the commands were answered"
	case !r.History.Drained || len(r.Left) > 0:
		e.Open = "not every job could be accounted for, because the queues could not be emptied"
	}
	if r.Dead {
		e.Dead = "no new connection is served"
	}
	if r.Served && ctx.Err() == nil && (!r.Dead || on.Fresh != nil) {
		r.Findings = shortened(ctx, on, l.Explorer, r.Findings)
	}
	for _, f := range r.Findings {
		e.Findings = append(e.Findings, f.Finding)
	}
	return e
}

// shortened looks for short conversations that reproduce the findings. It uses a new server
// if there can be one: bugs that count begin anew there, and it has not crashed.
// Findings that turn out to be the same are reported once.
func shortened(
	ctx context.Context, on conformance.Setup, e explore.Explorer, found []explore.Finding,
) (kept []explore.Finding) {
	if on.Fresh != nil && len(found) > 0 {
		target, end, err := on.Fresh()
		if err != nil {
			return found
		}
		defer end()
		e.Target = target
	}
	ctx, cancel := context.WithTimeout(ctx, shrinkingFor)
	defer cancel()
	e.Fresh, e.Unshrunk = on.Fresh, false
	for _, f := range found {
		f.Unscripted = ""
		Shorten(ctx, &e, &f)
		same := func(o explore.Finding) bool { return o.Clause == f.Clause && o.Rule == f.Rule }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, f)
		}
	}
	return kept
}
