package conformance

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// ScriptCheck is a check that plays a script, which must not change any more.
type ScriptCheck struct {
	Script *scenarios.Script

	describe func() Description // shared by the copies of a check; nil: each Describe reads the script
}

// Scripts returns a check for each script.
func Scripts(scripts ...*scenarios.Script) []Check {
	all := make([]Check, len(scripts))
	for i, s := range scripts {
		all[i] = ScriptCheck{s, sync.OnceValue(ScriptCheck{Script: s}.Describe)}
	}
	return all
}

// Describe returns what the header and the lines of the script say.
func (c ScriptCheck) Describe() Description {
	if c.describe != nil {
		return c.describe()
	}
	s, g := c.Script, c.Script.Dialect.Grammar()
	return Description{
		ID: s.Name, Title: s.Title, File: s.Name, Source: s.Source, Marks: slices.Collect(s.Marks()), Needs: s.Needs,
		Wait:        s.Waits,
		Connections: s.Connections(), Sharing: sharing(s), Hostile: s.BreaksProtocol() || countsUnderLoad(s),
		// The engine asks a producer's connection with the command that counts.
		SendsCount: sendsCount(s) || g.Verbs.Count != "" && s.BreaksProtocol() && s.Opens(scenarios.Producer),
	}
}

// sendsCount reports whether a script sends the command that counts everything on the server.
func sendsCount(s *scenarios.Script) bool {
	verb := s.Dialect.Grammar().Verbs.Count
	return verb != "" && s.Sends(verb)
}

// countsUnderLoad reports whether a script counts everything while many of its own connections add jobs.
func countsUnderLoad(s *scenarios.Script) bool {
	const minConns = 10
	return sendsCount(s) && s.Sends(s.Dialect.Grammar().Verbs.Add) && s.Connections() > minConns
}

// sharing returns which checks may share a server with a script: none, if it ends or empties the server, or counts
// everything there, or while queues come into being. The other scripts that need the server for themselves use the
// queue default.
func sharing(script *scenarios.Script) Sharing {
	mode := SharesAll
	for _, n := range script.Needs {
		switch n {
		case scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill:
			return SharesNothing
		case scenarios.NeedAlone:
			mode = SharesOneByOne
		}
	}
	if mode == SharesOneByOne && sendsCount(script) || countsUnderLoad(script) {
		return SharesNothing
	}
	return mode
}

// newLawWatch returns what judges the conversations of a play, nil for nothing.
func (setup Setup) newLawWatch() *law.Watch {
	if setup.Suite == nil || setup.Suite.Law.Start == nil {
		return nil
	}
	terms := law.Terms{
		NamePrefix: setup.NamePrefix, Password: setup.Password, Alone: setup.Alone, Flush: setup.Alone,
		Patience: cmp.Or(setup.Patience, scenarios.DefaultPatience), Slack: machine.Allowance, History: setup.History,
	}
	if setup.NeedsNoPassword {
		terms.Password = ""
	}
	return law.NewWatch(setup.Suite.Law, terms)
}

// Play plays the script.
func (c ScriptCheck) Play(ctx context.Context, setup Setup) Evidence {
	ctx, cancel := setup.withTimeout(ctx)
	defer cancel()
	patience, cutShort := setup.patience()
	player := &play.Player{
		Target: setup.Target, Password: setup.Password, Timeout: setup.Timeout, Patience: patience, Quick: cutShort,
		Meter: setup.Meter, WatchLine: setup.WatchLine, HasEnded: setup.HasEnded, Peers: setup.Peers,
	}
	watch := setup.newLawWatch()
	if watch != nil {
		player.Observer = watch
	}
	run := player.Play(ctx, c.Script, setup.NamePrefix)
	e := Evidence{
		Began: run.Began, Took: run.Took, DeadReason: run.NotServing, Looks: run.Looks, OpenConns: run.OpenConns,
		Refusal:      run.Refusal,
		LeftoverJobs: run.LeftoverJobs, Err: run.Err,
		Results: run.Results, Breaches: run.Breaches, Conversation: run.Conversation,
	}
	if watch != nil {
		e.Law, e.Tally = watch.Occurrences(), watch.Tally()
		if run.Remainder != nil {
			e.Remainder = &Remainder{run.Remainder, watch}
		}
	}
	if run.Outage != nil && e.DeadReason == "" && !run.Passed() {
		e.DeadReason, e.HasRecovered, e.OpenConns = run.Outage.String(), true, 0
	}
	if len(run.Results) == 0 && run.Passed() {
		e.OpenCause = "the script expects nothing"
	}
	return e
}
