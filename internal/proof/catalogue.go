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
	name        string // of the protocol
	fixture     selftest.Fixture
	checks      []conformance.Check
	extra       []conformance.Check // that explore: they look at a bug that no other check finds
	quickChecks []conformance.Check // what a quick run plays on a server; none for a client
	bugs        []registry.Bug
	variations  []registry.Variation

	// convert returns what is played in the place of a check; nil: itself.
	convert func(conformance.Check) conformance.Check
	// isFirst is set if a bug that is found is not played on, where checks have servers of their own.
	isFirst bool
}

// catalogues returns those of all protocols and extensions. What an extension adds is one of its own.
func catalogues() (all []catalogue, err error) {
	for _, entry := range registry.All() {
		for _, fixture := range selftest.Fixtures(entry) {
			c := catalogue{name: entry.Name, fixture: fixture, bugs: fixture.Bugs(), variations: fixture.Variations()}
			if c.checks, err = fixture.Checks(); err != nil {
				return nil, err
			}
			if fixture.Client == nil && entry.Properties != nil {
				c.extra = entry.Properties()
			}
			if c.quickChecks, err = quickChecks(entry, fixture); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		for _, name := range entry.ExtensionNames() {
			c, err := extension(entry, name)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// extension returns what an extension adds to the servers of a protocol: checks and bugs, and the server itself.
func extension(entry *registry.Entry, name string) (c catalogue, err error) {
	extensiond, err := entry.WithExtension(name)
	if err != nil {
		return c, err
	}
	base, err := entry.Scripts()
	if err != nil {
		return c, err
	}
	c = catalogue{
		name: entry.Name + "-" + name, fixture: selftest.Fixture{Entry: extensiond},
		variations: []registry.Variation{{Name: name}},
	}
	if c.checks, err = extensiond.Scripts(); err != nil {
		return c, err
	}
	c.checks = slices.DeleteFunc(c.checks, func(check conformance.Check) bool {
		return slices.ContainsFunc(base, func(b conformance.Check) bool { return b.Describe().ID == check.Describe().ID })
	})
	c.quickChecks = c.checks // a run plays those of the protocol too, which its own catalogue plays
	c.bugs = slices.DeleteFunc(extensiond.AllBugs(), func(f registry.Bug) bool {
		return slices.Contains(entry.BugNames(), f.Name)
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
			report, err := b.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
				return fixture.Vary(ctx, v, c.checks)
			}, c.fixture)
			return outcomeOf(report), err
		}})
	}
	return append(all, c.embeddedPlays(b)...)
}

// bug plays the checks that look at a bug, and those that explore if nothing finds it.
func (c catalogue) bug(b bubbles, bug registry.Bug) (outcome, error) {
	looking := c.fixture.ChecksFor(bug, c.checks)
	if c.isFirst {
		slices.SortStableFunc(looking, func(a, b conformance.Check) int { return effort(a) - effort(b) })
	}
	for i := range looking {
		if c.convert != nil {
			looking[i] = c.convert(looking[i])
		}
	}
	groups := [][]conformance.Check{looking}
	if c.fixture.HasOwnServers() {
		groups = slices.Collect(slices.Chunk(groups[0], 1))
	}
	for _, check := range c.extra {
		groups = append(groups, []conformance.Check{check})
	}
	var all []*reports.Report
	for i, checks := range groups {
		mayEnd := c.isFirst || len(groups)-i <= len(c.extra)
		if mayEnd && withBlame(outcomeOf(all...), bug).result == resultFound {
			break
		}
		report, err := b.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
			return fixture.Report(ctx, []registry.Bug{bug}, checks, nil)
		}, c.fixture)
		if err != nil {
			return outcome{}, err
		}
		all = append(all, report)
	}
	return withBlame(outcomeOf(all...), bug), nil
}

// effort returns how many rounds of blocks a script has.
func effort(check conformance.Check) (rounds int) {
	script, ok := check.(conformance.ScriptCheck)
	if !ok {
		return 0
	}
	for step := range script.Script.All() {
		if b, ok := step.(*scenarios.Block); ok {
			rounds += b.Count
		}
	}
	return rounds
}

// report calls f in a bubble, with a network.
func (b bubbles) report(
	f func(context.Context, selftest.Fixture) (*reports.Report, error), fixture selftest.Fixture,
) (report *reports.Report, err error) {
	err = b.run(func(ctx context.Context) (err error) {
		fixture.Network = memnet.New()
		report, err = f(ctx, fixture)
		return err
	})
	return report, err
}

// withBlame returns an outcome with whether the clauses that are broken are those of a bug.
func withBlame(o outcome, bug registry.Bug) outcome {
	isNamed := slices.ContainsFunc(o.clauses, func(id string) bool { return slices.Contains(bug.Clauses, id) })
	if o.result == resultFound && !isNamed && len(o.clauses) > 0 {
		o.result = resultElsewhere
	}
	return o
}

// outcomeOf returns what reports come to together.
func outcomeOf(all ...*reports.Report) outcome {
	o, clauses := outcome{result: resultNothing}, map[string]bool{}
	for _, report := range all {
		if report == nil {
			continue
		}
		o.exit = reports.WorstExit(o.exit, report.ExitCode(reports.ExitOptions{}))
		for _, check := range report.Checks {
			if check.Verdict == reports.Crash {
				o.result = resultFound
			}
			breaks := check.Verdict.IsBreach()
			for _, c := range check.Clauses {
				clauses[c.ID] = clauses[c.ID] || c.Verdict.IsDecided()
				switch {
				case c.Verdict.IsBreach():
					o.result, o.clauses, breaks = resultFound, append(o.clauses, c.ID), true
				case c.Verdict == reports.Inconclusive:
					o.openClauses = append(o.openClauses, c.ID)
				}
			}
			if breaks {
				o.checks = append(o.checks, check.ID)
			}
		}
	}
	o.clauses, o.checks = set(o.clauses), set(o.checks)
	o.openClauses = slices.DeleteFunc(set(o.openClauses), func(id string) bool { return clauses[id] })
	return o
}
