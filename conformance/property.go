package conformance

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Property is a check that no script can be: it generates what it sends, or evaluates the
// replies of many clients together. The clauses that it tests are not known beforehand,
// so it passes none of them: it fails those that it finds broken, and the check passes if
// it got far and found nothing.
type Property struct {
	Name        string        // the id of the check
	Title       string        // one sentence
	Summary     string        // what it does, for people
	Wait        time.Duration // what it may take: above QuickWait it is not part of a quick run
	Connections int           // that it may have open at a time
	Needs       []scenarios.Need

	// Run tests the property once on a target that counts its connections. The evidence
	// needs neither times nor refusals.
	Run func(ctx context.Context, setup Setup) Evidence
}

// Describe returns what is known of the property.
func (p Property) Describe() Description {
	d := Description{
		ID: p.Name, Title: p.Title, Wait: p.Wait, Connections: p.Connections, Sharing: SharesIfNeeded,
		Hostile: true, Needs: p.Needs,
	}
	if slices.Contains(p.Needs, scenarios.NeedRestart) {
		d.Sharing = SharesNothing
	}
	return d
}

// Play tests the property once. Neither a limit of connections nor a lag of this machine is a finding.
func (p Property) Play(ctx context.Context, setup Setup) Evidence {
	setup.Timeout = cmp.Or(setup.Timeout, play.DefaultTimeout)
	if setup.Peers == nil {
		setup.Peers = new(play.PeerStats)
	}
	counting := &countingTarget{
		Target: setup.Target, counter: play.NewConnCounter(setup.Peers), patience: setup.Timeout,
		start: time.Now(), watchLine: setup.WatchLine, refusals: refusalSigns(setup.Suite.Dialect),
	}
	setup.Target = counting
	e := p.Run(ctx, setup)
	e.Began, e.Took, e.Err = counting.start, time.Since(counting.start), context.Cause(ctx)
	e.Refusal = counting.counter.Refusal()
	if e.DeadReason != "" && e.isAtLimit() && counting.isServing(ctx) { // it is at its limit
		e.DeadReason = ""
		e.Findings = slices.DeleteFunc(e.Findings, func(f Finding) bool { return f.Crash })
		e.OpenCause = "the target refused a connection: " + e.Refusal.Got
	}
	if i := slices.IndexFunc(e.Findings, func(f Finding) bool { return f.Crash }); i >= 0 && e.DeadReason == "" {
		e.DeadReason = e.Findings[i].Observed()
	}
	if e.HasServed {
		setup.Peers.NoteService()
	} else {
		e.DeadReason, e.OpenCause = "", "no connection got as far as being identified"
		for i := range e.Findings {
			e.Findings[i].Crash = false
		}
	}
	if e.DeadReason != "" {
		e.OpenConns = setup.Peers.OpenConns()
	}
	if e.OpenCause == "" && e.Err != nil {
		e.OpenCause, e.Reason = text.OfError(e.Err), ReasonOf(e.Err)
	}
	if e.OpenCause != "" && e.isAtLimit() { // others had all connections
		e.Reason = reports.ReasonConnections
		e.OpenCause = "the target has too few connections for this check and concurrent ones: it refused one: " +
			e.Refusal.Got
	}
	e.excuse(setup.Meter)
	return e
}

// isAtLimit reports whether the target refused a connection while others were open.
func (e *Evidence) isAtLimit() bool { return e.Refusal != nil && e.Refusal.AllConns > 0 }

// excuse removes the findings that a lag of this machine may explain.
func (e *Evidence) excuse(meter *machine.Meter) {
	isClocked := func(f Finding) bool { return f.IsTimed }
	if meter != nil && meter.Lag(e.Began) >= machine.Room && slices.ContainsFunc(e.Findings, isClocked) {
		e.Findings = slices.DeleteFunc(e.Findings, isClocked)
		e.OpenCause, e.Reason = "this machine was too busy to measure whether a reply was late", reports.ReasonLag
		e.IsTransient = true
	}
}

// Observed joins the reply and what is wrong with it.
func (f *Finding) Observed() string {
	if f.Got == "" || f.Detail == "" {
		return f.Got + f.Detail
	}
	return f.Got + "; " + f.Detail
}
