package suite

import (
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// Lives returns Workq as [New] does, with jobs whose times to run and to live end, and that are due, while the clients
// watch. Jobs are added first, all of them wait together, and at the end each is looked at.
func Lives() *explore.Subject { return lives(1, livesLast) }

// LongLives returns the same with times of which a half or the double differs by more than a server may be late.
func LongLives() *explore.Subject { return lives(longPace, longLivesLast) }

func lives(pace int, last time.Duration) *explore.Subject {
	s := Subject()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet { return newMaker(d, l).lives(pace, last) }
	return s
}

// lives returns the alphabet of [Lives] with times at a pace, at whose end each job is looked at after a time.
func (m *maker) lives(pace int, last time.Duration) explore.Alphabet {
	m.short, m.waiting, m.pace, m.errands = true, 10, pace, nil
	begun, ways, others, looked := time.Now(), m.ways, len(m.born)-m.ofWays, len(m.born)
	within := func(limit time.Duration) bool { return time.Since(begun) < limit }
	begins := func() bool { return within(waysLast) && m.ways-ways < mostWays }
	m.births = func() bool { return within(birthsLast) && (begins() || len(m.born)-m.ofWays-others < mostBorn) }
	a := m.alphabet(moves)
	for i, move := range a.Moves {
		a.Moves[i].Fits = func(conn int) bool { return !begins() && within(livesBusy) && move.Fits(conn) }
	}
	a.Moves = append(a.Moves, m.waysMoves(begins)...)
	rest := func(int) []explore.Step { return []explore.Step{explore.Wait(20 * time.Millisecond)} }
	counted := false
	a.Moves = append(a.Moves,
		explore.Move{
			Name: "count", Weight: 1000, Fits: func(int) bool { return !counted },
			Make: func(conn int) []explore.Step { // what is counted at the end is so from here on
				counted = true
				return []explore.Step{m.step(conn, "inspect server")}
			},
		},
		explore.Move{
			Name: "rest", Weight: 12, Fits: func(int) bool { return !m.births() && within(last) }, Make: rest,
		},
		explore.Move{
			Name: "look", Weight: 1, Fits: func(int) bool { return !within(last) && looked <= len(m.born) },
			Make: func(conn int) []explore.Step {
				looked++
				if looked > len(m.born) { // every job whose time to live was over is counted by now
					return append(m.unanswered(), m.step(conn, "inspect server"))
				}
				b := m.born[looked-1]
				steps := []explore.Step{m.step(conn, "inspect job "+b.id), m.step(conn, "result "+b.id+" 0")}
				if j := m.law.jobs[m.Fill(b.id)]; j != nil && j.may(ready) {
					steps = append(steps, m.step(conn, "lease "+b.name+" 20"))
				}
				return steps
			},
		})
	a.Whole = true
	a.Done = func() bool { return !within(last) && looked > len(m.born) }
	return a
}

// unanswered awaits the replies that should have come long ago.
func (m *maker) unanswered() (steps []explore.Step) {
	for _, conn := range slices.Sorted(maps.Keys(m.law.conns)) {
		if m.law.Awaited(conn) != "" {
			steps = append(steps, m.build.Await(conn))
		}
	}
	return steps
}

// How many ways are begun, how many other jobs are added behind them, until when that is, until when something is done
// with those, and when all that is due has happened even on a server that is late.
const (
	mostWays   = 60
	waysLast   = 650 * time.Millisecond
	mostBorn   = 100
	birthsLast = 1000 * time.Millisecond
	livesBusy  = 1700 * time.Millisecond
	livesLast  = 4950 * time.Millisecond

	longPace      = 6
	longLivesLast = 11 * time.Second
)
