package main

import (
	"context"
	"fmt"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/proof/selftest"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// seeds is how many runs on the embedded server there are. A seed makes the order of the checks, the names, and what is
// sent by those that generate it.
const seeds = 20

// quickChecks returns the checks of a quick run on the servers of a protocol.
func quickChecks(entry *registry.Entry, fixture selftest.Fixture) ([]conformance.Check, error) {
	if fixture.Client != nil {
		return nil, nil
	}
	all, err := entry.Checks()
	if err != nil {
		return nil, err
	}
	selection, _, err := conformance.Selection{Quick: true}.Apply(all)
	return selection, err
}

// embeddedPlays returns the quick runs on the server as it is, one for each seed.
func (c catalogue) embeddedPlays(b bubbles) (all []play) {
	if len(c.quickChecks) == 0 {
		return nil
	}
	for seed := range uint64(seeds) {
		seed++
		name := fmt.Sprintf("%s/seed-%02d", c.name, seed)
		all = append(all, play{key{"embedded", name, 1}, func(context.Context) (outcome, error) {
			report, err := b.report(func(ctx context.Context, fixture selftest.Fixture) (*reports.Report, error) {
				return fixture.Report(ctx, nil, c.quickChecks, func(r *run.Runner) {
					r.Seed, r.SeedNames, r.Quick = seed, true,
						true
				})
			}, c.fixture)
			return outcomeOf(report), err
		}})
	}
	return all
}
