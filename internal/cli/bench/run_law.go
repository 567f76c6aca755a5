package bench

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// A sample is judged by the law of the protocol: the first connections of each kind, and of each the first messages, so
// that a load of any size pays the same.
const (
	sampledEach     = 2 // of workers, and of all others
	sampledMessages = 250
	sampledSlack    = 5 * time.Second // by which a reply may be late for reasons of the network
)

// sample is a protocol of a load whose first connections the law judges. The others are those of Protocol itself.
type sample struct {
	protocol.Protocol
	session session.Protocol
	watch   *law.Watch

	mu    sync.Mutex
	taken map[bool]int // connections: of workers, of others
	found map[string]*results.LoadFinding
}

// judgeSample has the law judge a sample of the connections of a load.
func judgeSample(config *load.Config, of *peer.Peer, password string) {
	s := &sample{
		Protocol: config.Protocol, session: of.Dialect, taken: map[bool]int{}, found: map[string]*results.LoadFinding{},
		watch: law.NewWatch(of.Law, law.Terms{Shared: true, Password: password, Slack: sampledSlack}),
	}
	s.watch.Tell(s.note)
	config.Protocol, config.Findings = s, s.findings
}

// Speaker implements [protocol.Protocol].
func (s *sample) Speaker(worker string) protocol.Speaker {
	of := s.Protocol.Speaker(worker)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[worker != ""]++; s.taken[worker != ""] > sampledEach {
		return of
	}
	return &sampled{Speaker: of, tap: law.NewTap(s.session, s.watch.Dialed(""))}
}

// note keeps what the law found, unless one sight does not prove it.
func (s *sample) note(v law.Seen) {
	if v.Unproven() || v.Should {
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

// sampled is a Speaker whose commands and messages the law judges.
type sampled struct {
	protocol.Speaker
	tap      *law.Tap
	messages int
}

// sent has the law get what was appended to the first bytes of out.
func (s *sampled) sent(before int, out []byte) []byte {
	s.tap.Sent(out[before:], time.Now())
	return out
}

// The commands implement [protocol.Speaker].

func (s *sampled) Open(out []byte) ([]byte, error) {
	before := len(out)
	out, err := s.Speaker.Open(out)
	return s.sent(before, out), err
}

func (s *sampled) Push(out []byte, job *workload.Push) []byte {
	return s.sent(len(out), s.Speaker.Push(out, job))
}

// PushAll implements [protocol.Batcher], for a Speaker that does.
func (s *sampled) PushAll(out []byte, jobs []workload.Push) []byte {
	return s.sent(len(out), s.Speaker.(protocol.Batcher).PushAll(out, jobs)) //nolint:forcetypeassert // see above
}

func (s *sampled) Take(out []byte, from *protocol.Queues) []byte {
	return s.sent(len(out), s.Speaker.Take(out, from))
}

func (s *sampled) Done(out, jid []byte) []byte { return s.sent(len(out), s.Speaker.Done(out, jid)) }
func (s *sampled) Fail(out, jid []byte) []byte { return s.sent(len(out), s.Speaker.Fail(out, jid)) }
func (s *sampled) Info(out []byte) []byte      { return s.sent(len(out), s.Speaker.Info(out)) }
func (s *sampled) Bye(out []byte) []byte       { return s.sent(len(out), s.Speaker.Bye(out)) }

func (s *sampled) Beat(out []byte, state protocol.State) []byte {
	return s.sent(len(out), s.Speaker.Beat(out, state))
}

// Hear implements [protocol.Speaker].
func (s *sampled) Hear(in []byte, e *protocol.Event) (n int, err error) {
	n, err = s.Speaker.Hear(in, e)
	if s.tap.Received(in[:n], time.Now()); n > 0 {
		if s.messages++; s.messages == sampledMessages {
			s.tap.Ended(session.Closed)
		}
	}
	return n, err
}

// QueueSizes implements [protocol.Sizer] where the speaker does.
func (s *sampled) QueueSizes(info []byte) map[string]int64 {
	if sizer, can := s.Speaker.(protocol.Sizer); can {
		return sizer.QueueSizes(info)
	}
	return nil
}
