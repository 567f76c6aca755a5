package main

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// catalogue is what is wrong, and what differs and is right, in the servers of a protocol or in one of its clients,
// with the checks that look at it.
type catalogue struct {
	name       string // of the protocol
	on         selftest.Fixture
	checks     []conformance.Check
	extra      []conformance.Check // that explore: they look at a bug that no other check finds
	quick      []conformance.Check // what a quick run plays on a server; none for a client
	bugs       []registry.Bug
	variations []registry.Variation

	// played returns what is played in the place of a check; nil: itself.
	played func(conformance.Check) conformance.Check
	// first is set if a bug that is found is not played on, where checks have servers of their own.
	first bool
}

// catalogues returns those of all protocols and profiles. What a profile adds is one of its own.
func catalogues() (all []catalogue, err error) {
	for _, of := range registry.All() {
		for _, on := range selftest.Fixtures(of) {
			c := catalogue{name: of.Name, on: on, bugs: on.Bugs(), variations: on.Variations()}
			if c.checks, err = on.Checks(); err != nil {
				return nil, err
			}
			if on.Client == nil && of.Properties != nil {
				c.extra = of.Properties()
			}
			if c.quick, err = quick(of, on); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		for _, name := range of.ProfileNames() {
			c, err := profile(of, name)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// profile returns what a profile adds to the servers of a protocol: checks and bugs, and the server itself.
func profile(of *registry.Peer, name string) (c catalogue, err error) {
	with, err := of.With(name)
	if err != nil {
		return c, err
	}
	base, err := of.Scripts()
	if err != nil {
		return c, err
	}
	c = catalogue{
		name: of.Name + "-" + name, on: selftest.Fixture{Peer: with}, variations: []registry.Variation{{Name: name}},
	}
	if c.checks, err = with.Scripts(); err != nil {
		return c, err
	}
	c.checks = slices.DeleteFunc(c.checks, func(check conformance.Check) bool {
		return slices.ContainsFunc(base, func(b conformance.Check) bool { return b.Describe().ID == check.Describe().ID })
	})
	c.quick = c.checks // a run plays those of the protocol too, which its own catalogue plays
	c.bugs = slices.DeleteFunc(with.AllBugs(), func(f registry.Bug) bool {
		return slices.Contains(of.BugNames(), f.Name)
	})
	return c, nil
}

// plays returns a play for each bug, each variation and each seed of the embedded server.
func (c catalogue) plays(b bubbles) (all []play) {
	for _, f := range c.bugs {
		all = append(all, play{key{"bug", c.name + "/" + f.Name, 1}, func(context.Context) (outcome, error) {
			return c.bug(b, f)
		}})
	}
	for _, v := range c.variations {
		all = append(all, play{key{"variation", c.name + "/" + v.Name, 1}, func(context.Context) (outcome, error) {
			report, err := b.report(func(ctx context.Context, on selftest.Fixture) (*reports.Report, error) {
				return on.Vary(ctx, v, c.checks)
			}, c.on)
			return outcomeOf(report), err
		}})
	}
	return append(all, c.embedded(b)...)
}

// bug plays the checks that look at a bug, and those that explore if nothing finds it.
func (c catalogue) bug(b bubbles, bug registry.Bug) (outcome, error) {
	looking := c.on.Looking(bug, c.checks)
	if c.first {
		slices.SortStableFunc(looking, func(a, b conformance.Check) int { return effort(a) - effort(b) })
	}
	for i := range looking {
		if c.played != nil {
			looking[i] = c.played(looking[i])
		}
	}
	groups := [][]conformance.Check{looking}
	if c.on.Apart() {
		groups = slices.Collect(slices.Chunk(groups[0], 1))
	}
	for _, check := range c.extra {
		groups = append(groups, []conformance.Check{check})
	}
	var all []*reports.Report
	for i, checks := range groups {
		mayEnd := c.first || len(groups)-i <= len(c.extra)
		if mayEnd && blamed(outcomeOf(all...), bug).found == found {
			break
		}
		report, err := b.report(func(ctx context.Context, on selftest.Fixture) (*reports.Report, error) {
			return on.Report(ctx, []registry.Bug{bug}, checks, nil)
		}, c.on)
		if err != nil {
			return outcome{}, err
		}
		all = append(all, report)
	}
	return blamed(outcomeOf(all...), bug), nil
}

// effort returns how many rounds of blocks a script has.
func effort(check conformance.Check) (rounds int) {
	script, is := check.(conformance.ScriptCheck)
	if !is {
		return 0
	}
	for step := range script.Script.All() {
		if b, is := step.(*scenarios.Block); is {
			rounds += b.Count
		}
	}
	return rounds
}

// report calls f in a bubble, with a network.
func (b bubbles) report(
	f func(context.Context, selftest.Fixture) (*reports.Report, error), on selftest.Fixture,
) (report *reports.Report, err error) {
	err = b.run(func(ctx context.Context) (err error) {
		on.Network = memnet.New()
		report, err = f(ctx, on)
		return err
	})
	return report, err
}

// blamed returns an outcome with whether the clauses that are broken are those of a bug.
func blamed(o outcome, bug registry.Bug) outcome {
	right := slices.ContainsFunc(o.clauses, func(id string) bool { return slices.Contains(bug.Clauses, id) })
	if o.found == found && !right && len(o.clauses) > 0 {
		o.found = elsewhere
	}
	return o
}

// outcomeOf returns what reports come to together.
func outcomeOf(all ...*reports.Report) outcome {
	o, decided := outcome{found: nothing}, map[string]bool{}
	for _, report := range all {
		if report == nil {
			continue
		}
		o.exit = reports.WorstExit(o.exit, report.ExitCode(reports.ExitOptions{}))
		for _, check := range report.Checks {
			if check.Verdict == reports.Crash {
				o.found = found
			}
			breaks := check.Verdict.Breach()
			for _, c := range check.Clauses {
				decided[c.ID] = decided[c.ID] || c.Verdict.Decided()
				switch {
				case c.Verdict.Breach():
					o.found, o.clauses, breaks = found, append(o.clauses, c.ID), true
				case c.Verdict == reports.Inconclusive:
					o.open = append(o.open, c.ID)
				}
			}
			if breaks {
				o.checks = append(o.checks, check.ID)
			}
		}
	}
	o.clauses, o.checks = set(o.clauses), set(o.checks)
	o.open = slices.DeleteFunc(set(o.open), func(id string) bool { return decided[id] })
	return o
}
