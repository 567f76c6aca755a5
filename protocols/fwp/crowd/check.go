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
	producers   = 12 // more than workers, so that queues are not empty before the end
	workers     = 4
	commands    = 930              // three for each job: a bug of every 50th job comes six times
	checkTime   = 13 * time.Second // on a server that leaves commands unanswered; else about 4 s
	shrinkTime  = 9 * time.Second  // for all findings, some of which wait twice for a job that is not delivered
	maxFindings = 20
)

// Check returns the check with many clients at the same time.
func Check() conformance.Property {
	return conformance.Property{
		Name:  "explore/crowd",
		Title: "With many concurrent producers and workers each job is delivered once, and none is lost",
		Summary: "Producers push jobs while workers fetch and acknowledge them. Now and then a client disconnects without " +
			"reading a reply, or with a reserved job, and reconnects. Each call and reply is recorded with its time, and " +
			"the history of every job is checked: a history that no order of overlapping calls can explain is a finding.",
		Wait: checkTime, Connections: producers + workers + 2, // two test whether the server is alive
		Run: check,
	}
}

var errNoServer = errors.New("there is no second server")

func check(ctx context.Context, setup conformance.Setup) conformance.Evidence {
	l := &Crowd{Workers: workers, Producers: producers, Explorer: explore.Explorer{
		Alphabet: moves.New(), Target: setup.Target, Password: setup.Password, Seed: setup.Seed, Steps: commands,
		Timeout: setup.Timeout, Patience: setup.Patience, Slack: machine.Allowance,
		Findings: maxFindings, SkipsShrinking: true, Shrinking: shrinkTime - time.Second,
		StartTarget: func() (play.Target, func(), error) { return nil, nil, errNoServer },
	}, ExcludesLaw: true}
	limited, cancel := context.WithTimeout(ctx, checkTime-shrinkTime+6*setup.Timeout)
	defer cancel()
	r := l.Run(limited)
	e := conformance.Evidence{HasServed: r.IsServed, LeftoverJobs: r.UnaccountedJobs, Law: r.Law, Tally: r.Tally}
	switch {
	case limited.Err() != nil:
		e.OpenCause = "the server was too slow for the check"
	case 2*r.Answers < r.Commands:
		e.OpenCause = "fewer than half of the commands were answered"
	case !r.History.Drained || len(r.UnaccountedJobs) > 0:
		e.OpenCause = "not every job could be accounted for, because the queues could not be emptied"
	}
	if r.IsDead {
		e.DeadReason = "no new connection is served"
	}
	if r.IsServed && ctx.Err() == nil && (!r.IsDead || setup.StartTarget != nil) {
		r.Findings = shortenFindings(ctx, setup, l.Explorer, r.Findings)
	}
	for _, f := range r.Findings {
		e.Findings = append(e.Findings, f.Finding)
	}
	return e
}

// shortenFindings looks for short conversations that reproduce the findings. It uses a new server
// if there can be one: bugs that count begin anew there, and it has not crashed.
// Findings that turn out to be the same are reported once.
func shortenFindings(
	ctx context.Context, setup conformance.Setup, e explore.Explorer, found []explore.Finding,
) (findings []explore.Finding) {
	if setup.StartTarget != nil && len(found) > 0 {
		target, end, err := setup.StartTarget()
		if err != nil {
			return found
		}
		defer end()
		e.Target = target
	}
	ctx, cancel := context.WithTimeout(ctx, shrinkTime)
	defer cancel()
	e.StartTarget, e.SkipsShrinking = setup.StartTarget, false
	for _, f := range found {
		f.UnscriptedReason = ""
		Shorten(ctx, &e, &f)
		isSame := func(o explore.Finding) bool { return o.Clause == f.Clause && o.Rule == f.Rule }
		if !slices.ContainsFunc(findings, isSame) {
			findings = append(findings, f)
		}
	}
	return findings
}
