package lag

import (
	"sync"
	"time"
)

// Interval is when an event can have happened: not before Earliest and not after Latest.
type Interval struct{ Earliest, Latest time.Time }

// At is the interval of an event whose time is known exactly.
func At(t time.Time) Interval { return Interval{t, t} }

// To returns how long it can have been from the event to a later one.
func (i Interval) To(later Interval) Span {
	return Span{Shortest: later.Earliest.Sub(i.Latest), Longest: later.Latest.Sub(i.Earliest)}
}

// Span is how long something can have taken.
type Span struct{ Shortest, Longest time.Duration }

// Answer is what is known of a claim.
type Answer uint8

// The answers. The zero Answer decides nothing.
const (
	Open   Answer = iota // the span may keep the claim, and may break it
	Kept                 // whenever in their intervals the events happened
	Broken               // the same
)

func (a Answer) String() string { return [...]string{"open", "kept", "broken"}[a] }

// AtLeast claims that the span is not shorter than a limit.
func (s Span) AtLeast(limit time.Duration) Answer {
	return claim(limit-s.Longest, limit-s.Shortest)
}

// AtMost claims that the span is not longer than a limit.
func (s Span) AtMost(limit time.Duration) Answer {
	return claim(s.Shortest-limit, s.Longest-limit)
}

// claim returns the answer where a limit was passed by no less than least, and no more than most.
func claim(least, most time.Duration) Answer {
	switch {
	case least > 0:
		return Broken
	case most <= 0:
		return Kept
	}
	return Open
}

// Room is what a script leaves between the time at which it does something and the limit of the server that it counts
// on: 58 s of a reservation of 60 s, 1 s of a FETCH that waits for 2 s. A line that comes later than planned by no more
// than that meets the same server.
const Room = 500 * time.Millisecond

// RoomIn returns the room where the limit is the end of a wait of the server: a quarter of the wait, but no less than
// what a machine is late by that is hardly busy.
func RoomIn(wait time.Duration) time.Duration {
	const share, least = 4, 100 * time.Millisecond
	return min(max(wait/share, least), Room)
}

// Allowance is by how much more than a text allows a peer may take before a law or a property calls it late: other
// checks, the network, or the lag of this machine may be the reason.
const Allowance = 2 * time.Second

// turns is how many events one after the other are each late by the lag, from our line to the reply that we read: we
// write, the peer reads, its processes answer, we read.
const turns = 4

// Covers reports whether a limit that was widened by an allowance still decides on a machine that was late by so much.
func Covers(allowance, late time.Duration) bool { return turns*late <= allowance }

// Grace returns how much longer than its timeout a peer may take on a machine that is late, so that what is missing
// then is so for certain. A late timer shows that processes wait for their turn, and for a reply several of them have
// to get theirs, several times.
func Grace(late, timeout time.Duration) time.Duration {
	const turns, most = 20, 2 // timeouts
	return late + min(turns*late, most*timeout)
}

// Delay is by how much a conversation of ours is behind its plan, from our stamps alone: a line could be written as
// soon as the reply to the one before was received or a pause was over, and was written later. The zero Delay has
// noted nothing. It is safe for concurrent use.
type Delay struct {
	mu    sync.Mutex
	until time.Time // when the last line was written
	lines []late    // those that were late; several that were hardly late as one
}

// Note adds a line that could be written at one time and was written at another one. Where several wait at a time, that
// time counts once.
func (d *Delay) Note(ready, written time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.until.After(ready) {
		ready = d.until
	}
	by := written.Sub(ready)
	if by <= 0 {
		return
	}
	d.until = written
	if last := len(d.lines) - 1; by < worthNoted && last >= 0 && d.lines[last].by < tick {
		d.lines[last].at, d.lines[last].by = written, d.lines[last].by+by
		return
	}
	d.lines = append(d.lines, late{written, by})
}

// Since returns by how much the lines that were written since a moment came later than they could, all together.
func (d *Delay) Since(moment time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	var sum time.Duration
	for _, l := range d.lines {
		if !l.at.Before(moment) {
			sum += l.by
		}
	}
	return sum
}
