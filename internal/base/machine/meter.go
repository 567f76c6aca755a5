package machine

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Meter measures how late this machine is, by timers, and how long the peer takes for replies that need no waiting. The
// zero Meter has measured nothing: then nothing was late. It is safe for concurrent use; one Meter serves all plays of
// a run.
type Meter struct {
	mu         sync.Mutex
	nextTimer  time.Time       // when the timer fires that is running; zero if none is
	lateTimers []lateTimer     // most recent last, each less late than the one before, which is enough for Lag
	trip       []time.Duration // round trips, most recent last

	slept func() time.Duration // nil: Asleep
}

// lateTimer is a timer that fired later than it should have.
type lateTimer struct {
	at time.Time // when it did
	by time.Duration
}

const (
	tick      = 10 * time.Millisecond
	keepLate  = 256
	keepTrips = 200
	minNoted  = time.Millisecond
)

// Run measures the lag until ctx is done. It blocks. That the machine slept is lag, too: its timers did, and peers
// elsewhere did not.
func (m *Meter) Run(ctx context.Context) {
	slept := m.slept
	if slept == nil {
		slept = Asleep
	}
	asleep := slept()
	timer := time.NewTimer(tick)
	defer timer.Stop()
	defer m.expect(time.Time{})
	for next := time.Now().Add(tick); ; next = time.Now().Add(tick) {
		m.expect(next)
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			sleep := max(0, slept()-asleep)
			asleep += sleep
			m.Note(now, max(time.Since(next), now.Sub(next))+sleep)
			timer.Reset(tick)
		}
	}
}

// expect keeps when the timer fires next.
func (m *Meter) expect(next time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nextTimer = next
}

// Note adds a timer that fired at a moment, late by so much.
func (m *Meter) Note(at time.Time, by time.Duration) {
	if by < minNoted {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.lateTimers) > 0 && m.lateTimers[len(m.lateTimers)-1].by <= by {
		m.lateTimers = m.lateTimers[:len(m.lateTimers)-1]
	}
	m.lateTimers = append(m.lateTimers, lateTimer{at, by})
	m.lateTimers = slices.Delete(m.lateTimers, 0, max(0, len(m.lateTimers)-keepLate))
}

// NoteTrip adds one measured round trip.
func (m *Meter) NoteTrip(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trip = append(m.trip, d)
	m.trip = slices.Delete(m.trip, 0, max(0, len(m.trip)-keepTrips))
}

// Lag is the largest lateness of a timer since a moment, that of a timer included which has not fired yet.
func (m *Meter) Lag(since time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var worst time.Duration
	if now := time.Now(); !m.nextTimer.IsZero() && now.Sub(m.nextTimer) >= minNoted {
		worst = now.Sub(m.nextTimer)
	}
	for _, l := range m.lateTimers {
		if l.at.Add(l.by).After(since) {
			worst = max(worst, l.by)
		}
	}
	return worst
}

// RoundTrip is the median of the peer's latest round trips, zero if none was measured.
func (m *Meter) RoundTrip() time.Duration {
	m.mu.Lock()
	sorted := slices.Clone(m.trip)
	m.mu.Unlock()
	if len(sorted) == 0 {
		return 0
	}
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// Excuse is by how much longer than a limit a peer may take: the round trip is part of no wait, and something of ours
// may have been late since a moment.
func (m *Meter) Excuse(since time.Time) time.Duration { return m.RoundTrip() + m.Lag(since) }
