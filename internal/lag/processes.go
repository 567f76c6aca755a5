package lag

import (
	"slices"
	"time"
)

// peer is a process whose threads, and those of all that it has started, are watched for how long they wait for a
// processor.
type peer struct {
	process func() int            // its id, which may change; 0: this one
	waited  map[int]time.Duration // so far, by thread
}

// sampling is how often the waits of peers are read, beside the times at which a reply is judged.
const sampling = 250 * time.Millisecond

// unseen is by how much more a reply has to be late where nothing is known of the peer's processes.
const unseen = 100 * time.Millisecond

// Follow has the meter count how long a process of the peer waits for a processor, which is lag as well, until stop
// is called. It can be known on Linux only, for processes of this machine. Process 0 is this one, whose timers tell
// as much.
func (m *Meter) Follow(process func() int) (stop func()) {
	p := &peer{process: process}
	m.sampled.Lock()
	defer m.sampled.Unlock()
	m.peers = append(m.peers, p)
	return func() {
		m.sampled.Lock()
		defer m.sampled.Unlock()
		m.peers = slices.DeleteFunc(m.peers, func(o *peer) bool { return o == p })
	}
}

// sample reads how long the peers have waited since the last time, and reports whether something is known of one.
func (m *Meter) sample(now time.Time) (known bool) {
	m.sampled.Lock()
	defer m.sampled.Unlock()
	for _, p := range m.peers {
		id := p.process()
		if id == 0 {
			known = true
			continue
		}
		waited := waits(id)
		known = known || len(waited) > 0
		m.note(now, p.longest(waited), false)
	}
	return known
}

// longest returns how long a thread has waited since the last time at most. A thread that is new has waited since then.
func (p *peer) longest(now map[int]time.Duration) (worst time.Duration) {
	for thread, waited := range now {
		if p.waited != nil {
			worst = max(worst, waited-p.waited[thread])
		}
	}
	p.waited = now
	return worst
}
