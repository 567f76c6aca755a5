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

	about func() Description // shared by the copies of a check; nil: each Describe reads the script
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
	if c.about != nil {
		return c.about()
	}
	s, g := c.Script, c.Script.Dialect.Grammar()
	return Description{
		ID: s.Name, Title: s.Title, File: s.Name, Source: s.Source, Marks: slices.Collect(s.Marks()), Needs: s.Needs,
		Wait:        s.Waits,
		Connections: s.Connections(), Sharing: sharing(s), Hostile: s.BreaksProtocol() || countsInACrowd(s),
		// The engine asks a producer's connection with the command that counts.
		Counts: counts(s) || g.Verbs.Counts != "" && s.BreaksProtocol() && s.Opens(scenarios.Producer),
	}
}

// counts reports whether a script sends the command that counts everything on the server.
func counts(s *scenarios.Script) bool {
	verb := s.Dialect.Grammar().Verbs.Counts
	return verb != "" && s.Sends(verb)
}

// countsInACrowd reports whether a script counts everything while many of its own connections add jobs.
func countsInACrowd(s *scenarios.Script) bool {
	const crowd = 10
	return counts(s) && s.Sends(s.Dialect.Grammar().Verbs.Adds) && s.Connections() > crowd
}

// sharing returns which checks may share a server with a script: none, if it ends or empties the server, or counts
// everything there, or while queues come into being. The other scripts that need the server for themselves use the
// queue default.
func sharing(script *scenarios.Script) Sharing {
	how := SharesAll
	for _, n := range script.Needs {
		switch n {
		case scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill:
			return SharesNothing
		case scenarios.NeedAlone:
			how = SharesOneByOne
		}
	}
	if how == SharesOneByOne && counts(script) || countsInACrowd(script) {
		return SharesNothing
	}
	return how
}

// watch returns what judges the conversations of a play, nil for nothing.
func (on Setup) watch() *law.Watch {
	if on.Protocol == nil || on.Protocol.Law.Start == nil {
		return nil
	}
	terms := law.Terms{
		Prefix: on.Names, Password: on.Password, Alone: on.Alone, Flush: on.Alone,
		Patience: cmp.Or(on.Patience, scenarios.DefaultPatience), Slack: machine.Allowance, Server: on.Server,
	}
	if on.Open {
		terms.Password = ""
	}
	return law.NewWatch(on.Protocol.Law, terms)
}

// Play plays the script.
func (c ScriptCheck) Play(ctx context.Context, on Setup) Evidence {
	ctx, cancel := on.limit(ctx)
	defer cancel()
	patience, cutShort := on.patience()
	player := &play.Player{
		Target: on.Target, Password: on.Password, Timeout: on.Timeout, Patience: patience, Quick: cutShort,
		Meter: on.Meter, Watch: on.Watch, Gone: on.Gone, Peers: on.Peers,
	}
	watch := on.watch()
	if watch != nil {
		player.Observer = watch
	}
	run := player.Play(ctx, c.Script, on.Names)
	e := Evidence{
		Began: run.Began, Took: run.Took, Dead: run.NotServing, Amid: run.OpenThen, Refused: run.Refused,
		Leftover: run.Leftover, Err: run.Err,
		Results: run.Results, Breaches: run.Breaches, Conversation: run.Conversation,
	}
	if watch != nil {
		e.Law, e.Tally = watch.Found(), watch.Tally()
	}
	if run.Outage != nil && e.Dead == "" && !run.Passed() {
		e.Dead, e.Back, e.Amid = run.Outage.String(), true, 0
	}
	if len(run.Results) == 0 && run.Passed() {
		e.Open = "the script expects nothing"
	}
	return e
}
