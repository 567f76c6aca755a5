package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// A sample is judged by the law of the protocol: the first connections of each kind, and of each the first messages, so
// that a load of any size pays the same.
const (
	sampleConnections = 2 // of workers, and of all others
	sampleMessages    = 250
	sampleSlack       = 5 * time.Second // by which a reply may be late for reasons of the network
	settleTime        = 5 * time.Second // how long after a disruption refusals may still come from it
)

// sample is the first connections of a load, which the law judges.
type sample struct {
	session session.Codec
	watch   *law.Watch
	target  disrupt.Target // nil: nothing is done to it on purpose

	mu     sync.Mutex
	counts map[bool]int // connections: of workers, of others
	byRule map[string]*results.LoadFinding
}

// judgeSample has the law judge a sample of the connections of a load.
func judgeSample(config *load.Config, entry *registry.Entry, password string) {
	s := &sample{
		session: entry.Dialect, counts: map[bool]int{}, byRule: map[string]*results.LoadFinding{},
		watch: law.NewWatch(entry.Law, law.Terms{IsShared: true, Password: password, Slack: sampleSlack}),
	}
	s.watch.SetHandler(s.note)
	if config.Tap, config.Findings = s.tap, s.findings; config.Disrupt != nil {
		s.target, config.Disrupt = config.Disrupt, s
	}
}

// maxDisruption is longer than a disruption goes on.
const maxDisruption = 24 * time.Hour

// Begin implements [disrupt.Target]: the law hears of what is done to the target, and gets new connections afterwards.
func (s *sample) Begin(ctx context.Context, d disrupt.Disruption) (end func(context.Context) error, err error) {
	if s.watch.Disturbed(time.Now().Add(maxDisruption)); d.Action.Stops() {
		s.watch.Restarted()
	}
	settle := func() {
		s.watch.Disturbed(time.Now().Add(settleTime))
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.counts)
	}
	endTarget, err := s.target.Begin(ctx, d)
	if endTarget == nil {
		settle()
		return nil, err
	}
	return func(ctx context.Context) error {
		defer settle()
		return endTarget(ctx)
	}, err
}

// tap returns what gets the bytes of a connection, of a worker unless that is empty; nil if the law does not judge it.
func (s *sample) tap(worker string) client.Tap {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[worker != ""]++; s.counts[worker != ""] > sampleConnections {
		return nil
	}
	return &sampleTap{Tap: law.NewTap(s.session, s.watch.Dialed(""))}
}

// note keeps what the law found, unless one sight does not prove it. A refusal is none: it counts in the whole run, and
// not only in the sample.
func (s *sample) note(v law.Occurrence) {
	if v.IsUnproven() || v.IsRecommendation || law.RefusedVerb(v.Place) != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.byRule[v.Rule+" "+v.Clause]
	if f == nil {
		f = new(results.NewLoadFinding(results.FindingLaw, 0, nil))
		f.Breach, f.Clause = reports.LawPrefix+v.Rule, v.Clause
		f.Notes = []string{fmt.Sprintf("expected %s, got %s", v.Expected, v.Got)}
		s.byRule[v.Rule+" "+v.Clause] = f
	}
	if f.Count++; v.JID != "" && len(f.JIDs) < results.MaxJIDs {
		f.JIDs = append(f.JIDs, v.JID)
	}
}

// findings returns what the law found.
func (s *sample) findings() (all []results.LoadFinding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.byRule)) {
		f := *s.byRule[key]
		f.MoreJIDs = f.Count - int64(len(f.JIDs))
		all = append(all, f)
	}
	return all
}

// sampleTap is a connection whose first messages the law judges.
type sampleTap struct {
	*law.Tap

	messages int
}

// RecordReceived implements [client.Tap].
func (s *sampleTap) RecordReceived(message []byte, at time.Time) {
	s.Tap.RecordReceived(message, at)
	if s.messages++; s.messages == sampleMessages {
		s.Ended(session.Closed)
	}
}
