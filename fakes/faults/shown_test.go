package faults_test

import (
	"testing"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/internal/faketest"
)

// TestEveryFaultShows compares what conversations come to with each fault, and without one. Some faults show in none:
// see internal/selftest for these.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	var all []faketest.Departure
	for _, f := range faults.All() {
		all = append(all, faketest.Departure{Name: f.Name, Configure: func(c *fakes.Config) { c.Hook = f.Hook() }})
	}
	faketest.Shown(t, all, 8)
}
