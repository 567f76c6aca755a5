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
	sampledEach     = 2 // of workers, and of all others
	sampledMessages = 250
	sampledSlack    = 5 * time.Second // by which a reply may be late for reasons of the network
	settles         = 5 * time.Second // how long after a disruption refusals may still come from it
)

// sample is the first connections of a load, which the law judges.
type sample struct {
	session session.Protocol
	watch   *law.Watch
	target  disrupt.Target // nil: nothing is done to it on purpose

	mu    sync.Mutex
	taken map[bool]int // connections: of workers, of others
	found map[string]*results.LoadFinding
}

// judgeSample has the law judge a sample of the connections of a load.
func judgeSample(config *load.Config, of *registry.Peer, password string) {
	s := &sample{
		session: of.Dialect, taken: map[bool]int{}, found: map[string]*results.LoadFinding{},
		watch: law.NewWatch(of.Law, law.Terms{Shared: true, Password: password, Slack: sampledSlack}),
	}
	s.watch.Tell(s.note)
	if config.Tap, config.Findings = s.tap, s.findings; config.Disrupt != nil {
		s.target, config.Disrupt = config.Disrupt, s
	}
}

// never is longer than a disruption goes on.
const never = 24 * time.Hour

// Begin implements [disrupt.Target]: the law hears of what is done to the target, and gets new connections afterwards.
func (s *sample) Begin(ctx context.Context, d disrupt.Disruption) (end func(context.Context) error, err error) {
	if s.watch.Disturbed(time.Now().Add(never)); d.Action.Stops() {
		s.watch.Restarted()
	}
	after := func() {
		s.watch.Disturbed(time.Now().Add(settles))
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.taken)
	}
	over, err := s.target.Begin(ctx, d)
	if over == nil {
		after()
		return nil, err
	}
	return func(ctx context.Context) error {
		defer after()
		return over(ctx)
	}, err
}

// tap returns what gets the bytes of a connection, of a worker unless that is empty; nil if the law does not judge it.
func (s *sample) tap(worker string) client.Tap {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[worker != ""]++; s.taken[worker != ""] > sampledEach {
		return nil
	}
	return &sampled{Tap: law.NewTap(s.session, s.watch.Dialed(""))}
}

// note keeps what the law found, unless one sight does not prove it. A refusal is none: it counts in the whole run, and
// not only in the sample.
func (s *sample) note(v law.Seen) {
	if v.Unproven() || v.Should || law.RefusedAt(v.Place) != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.found[v.Rule+" "+v.Clause]
	if f == nil {
		f = new(results.NewLoadFinding(results.FindingLaw, 0, nil))
		f.Breach, f.Clause = reports.LawPrefix+v.Rule, v.Clause
		f.Notes = []string{fmt.Sprintf("expected %s, got %s", v.Expected, v.Got)}
		s.found[v.Rule+" "+v.Clause] = f
	}
	if f.Count++; v.JID != "" && len(f.JIDs) < results.FindingsKept {
		f.JIDs = append(f.JIDs, v.JID)
	}
}

// findings returns what the law found.
func (s *sample) findings() (all []results.LoadFinding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(s.found)) {
		f := *s.found[key]
		f.More = f.Count - int64(len(f.JIDs))
		all = append(all, f)
	}
	return all
}

// sampled is a connection whose first messages the law judges.
type sampled struct {
	*law.Tap

	messages int
}

// Received implements [client.Tap].
func (s *sampled) Received(message []byte, at time.Time) {
	s.Tap.Received(message, at)
	if s.messages++; s.messages == sampledMessages {
		s.Ended(session.Closed)
	}
}
