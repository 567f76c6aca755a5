package play

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Meter measures what excuses an upper bound that was overrun: how late the suite's own
// timers fire, and how long the target takes for replies that need no waiting. The zero
// Meter has measured nothing and excuses nothing. It is safe for concurrent use; one
// Meter serves all plays of a run.
type Meter struct {
	mu   sync.Mutex
	late []late          // most recent last, each less late than the one before, which is enough for Lag
	trip []time.Duration // round trips, most recent last
}

type late struct {
	at time.Time
	by time.Duration
}

const (
	meterTick  = 10 * time.Millisecond
	keepLate   = 256
	keepTrips  = 200
	worthNoted = time.Millisecond
)

// Run measures the suite's lag until ctx is done. It blocks.
func (m *Meter) Run(ctx context.Context) {
	timer := time.NewTimer(meterTick)
	defer timer.Stop()
	for due := time.Now().Add(meterTick); ; due = time.Now().Add(meterTick) {
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			m.noteLate(now, max(time.Since(due), now.Sub(due)))
			timer.Reset(meterTick)
		}
	}
}

func (m *Meter) noteLate(at time.Time, by time.Duration) {
	if by < worthNoted {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.late) > 0 && m.late[len(m.late)-1].by <= by {
		m.late = m.late[:len(m.late)-1]
	}
	m.late = append(m.late, late{at, by})
	if len(m.late) > keepLate {
		m.late = slices.Delete(m.late, 0, len(m.late)-keepLate)
	}
}

// noteTrip adds one measured round trip.
func (m *Meter) noteTrip(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trip = append(m.trip, d)
	if len(m.trip) > keepTrips {
		m.trip = slices.Delete(m.trip, 0, len(m.trip)-keepTrips)
	}
}

// Lag is the largest lateness of the suite's timers since the given moment.
func (m *Meter) Lag(since time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var worst time.Duration
	for _, l := range m.late {
		if l.at.Add(l.by).After(since) {
			worst = max(worst, l.by)
		}
	}
	return worst
}

// RoundTrip is the median of the target's latest round trips and their spread
// (from the tenth to the ninetieth percentile); both zero if none was measured.
func (m *Meter) RoundTrip() (typical, spread time.Duration) {
	m.mu.Lock()
	sorted := slices.Clone(m.trip)
	m.mu.Unlock()
	if len(sorted) == 0 {
		return 0, 0
	}
	slices.Sort(sorted)
	at := func(percent int) time.Duration { return sorted[(len(sorted)-1)*percent/100] }
	return at(50), at(90) - at(10)
}

// mostSlack is the longest round trip that a window is longer by. A server whose replies take longer is not
// judged by upper bounds.
const mostSlack = 500 * time.Millisecond

// slack returns by how much an upper bound may be overrun since the given moment because of the round trip to the
// target, and doubt by how much more without a certain fault of the target.
func (m *Meter) slack(since time.Time) (slack, doubt time.Duration) {
	typical, spread := m.RoundTrip()
	slack = min(typical, mostSlack)
	return slack, m.Lag(since) + 2*spread + typical - slack
}

// excuse returns slack and doubt together.
func (m *Meter) excuse(since time.Time) time.Duration {
	slack, doubt := m.slack(since)
	return slack + doubt
}
