package lag

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Meter measures how late this machine is, by timers, and how long the peer takes for replies that need no waiting. The
// zero Meter has measured nothing: then every event was when its stamp says. It is safe for concurrent use; one Meter
// serves all plays of a run.
type Meter struct {
	mu   sync.Mutex
	due  time.Time // when the timer fires that is running; zero if none is
	late lateness
	own  lateness        // without that of the peer's processes
	trip []time.Duration // round trips, most recent last

	sampled sync.Mutex // held before mu
	peers   []*peer
}

// late is something that happened later than it should have.
type late struct {
	at time.Time // when it happened
	by time.Duration
}

// lateness has the most recent last, each less late than the one before, which is enough for Lag.
type lateness []late

func (l lateness) with(at time.Time, by time.Duration) lateness {
	for len(l) > 0 && l[len(l)-1].by <= by {
		l = l[:len(l)-1]
	}
	l = append(l, late{at, by})
	return slices.Delete(l, 0, max(0, len(l)-keepLate))
}

const (
	tick       = 10 * time.Millisecond
	keepLate   = 256
	keepTrips  = 200
	worthNoted = time.Millisecond
)

// Run measures the lag until ctx is done. It blocks.
func (m *Meter) Run(ctx context.Context) {
	timer := time.NewTimer(tick)
	defer timer.Stop()
	defer m.expect(time.Time{})
	sampled := time.Now()
	for due := sampled.Add(tick); ; due = time.Now().Add(tick) {
		m.expect(due)
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			m.Note(now, max(time.Since(due), now.Sub(due)))
			if now.Sub(sampled) >= sampling {
				m.sample(now)
				sampled = now
			}
			timer.Reset(tick)
		}
	}
}

// expect keeps when the timer fires next.
func (m *Meter) expect(due time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.due = due
}

// Note adds a timer that fired at a moment, late by so much.
func (m *Meter) Note(at time.Time, by time.Duration) { m.note(at, by, true) }

func (m *Meter) note(at time.Time, by time.Duration, own bool) {
	if by < worthNoted {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = m.late.with(at, by)
	if own {
		m.own = m.own.with(at, by)
	}
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
	return m.worst(&m.late, func(l late) bool { return l.at.Add(l.by).After(since) })
}

// Own is Lag without the waits of the peer's processes.
func (m *Meter) Own(since time.Time) time.Duration {
	return m.worst(&m.own, func(l late) bool { return l.at.Add(l.by).After(since) })
}

// around is the largest lateness of a timer that was late at about a moment: no farther from it than it was late.
func (m *Meter) around(moment time.Time) time.Duration {
	return m.worst(&m.late, func(l late) bool {
		return !moment.After(l.at.Add(max(l.by, tick))) && !moment.Before(l.at.Add(-2*max(l.by, tick)))
	})
}

// worst is the largest lateness of those that count.
func (m *Meter) worst(of *lateness, counts func(late) bool) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := *of
	if now := time.Now(); !m.due.IsZero() && now.Sub(m.due) >= worthNoted {
		all = append(slices.Clip(all), late{now, now.Sub(m.due)})
	}
	var worst time.Duration
	for _, l := range all {
		if counts(l) {
			worst = max(worst, l.by)
		}
	}
	return worst
}

// Received is when the peer can have sent what was received at a moment: we may have read it late.
func (m *Meter) Received(at time.Time) Interval { return Interval{at.Add(-m.around(at)), at} }

// RoundTrip is the median of the peer's latest round trips and their spread (from the tenth to the ninetieth
// percentile); both zero if none was measured.
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

// mostSlack is the longest round trip that a limit is longer by. A server whose replies take longer is not judged by
// upper bounds.
const mostSlack = 500 * time.Millisecond

// Slack returns by how much longer a limit is because of the round trip to the peer, which is part of no wait, and
// doubt how much of what was measured since a moment may be ours, the network's, or that of processes which waited
// for their turn.
func (m *Meter) Slack(since time.Time) (slack, doubt time.Duration) {
	known := m.sample(time.Now())
	typical, spread := m.RoundTrip()
	slack = min(typical, mostSlack)
	doubt = m.Lag(since) + 2*spread + typical - slack
	if m.runs() && !known {
		doubt += unseen
	}
	return slack, doubt
}

// runs reports whether the lag is being measured.
func (m *Meter) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.due.IsZero()
}

// Excuse returns slack and doubt together.
func (m *Meter) Excuse(since time.Time) time.Duration {
	slack, doubt := m.Slack(since)
	return slack + doubt
}
