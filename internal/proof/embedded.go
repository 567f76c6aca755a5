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

// quick returns the checks of a quick run on the servers of a protocol.
func quick(of *registry.Peer, on selftest.Fixture) ([]conformance.Check, error) {
	if on.Client != nil {
		return nil, nil
	}
	all, err := of.Checks()
	if err != nil {
		return nil, err
	}
	picked, _, err := conformance.Selection{Quick: true}.Apply(all)
	return picked, err
}

// embedded returns the quick runs on the server as it is, one for each seed.
func (c catalogue) embedded(b bubbles) (all []play) {
	if len(c.quick) == 0 {
		return nil
	}
	for seed := range uint64(seeds) {
		seed++
		name := fmt.Sprintf("%s/seed-%02d", c.name, seed)
		all = append(all, play{key{"embedded", name, 1}, func(context.Context) (outcome, error) {
			report, err := b.report(func(ctx context.Context, on selftest.Fixture) (*reports.Report, error) {
				return on.Report(ctx, nil, c.quick, func(r *run.Runner) { r.Seed, r.SeedNames, r.Quick = seed, true, true })
			}, c.on)
			return outcomeOf(report), err
		}})
	}
	return all
}
