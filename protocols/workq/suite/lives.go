package suite

import (
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// Lives returns Workq as [Alphabet] does, with jobs whose times to run and to live end, and that are due, while the
// clients watch. Jobs are added first, all of them wait together, and at the end each is looked at.
func Lives() *explore.Alphabet { return lives(1, livesEnd) }

// LongLives returns the same with times of which a half or the double differs by more than a server may be late.
func LongLives() *explore.Alphabet { return lives(longPace, longLivesEnd) }

func lives(pace int, last time.Duration) *explore.Alphabet {
	s := Alphabet()
	s.Generate = func(d *explore.Draw, l explore.Law) explore.Generator { return newMaker(d, l).lives(pace, last) }
	return s
}

// lives returns the alphabet of [Lives] with times at a pace, at whose end each job is looked at after a time.
func (m *maker) lives(pace int, last time.Duration) explore.Generator {
	m.hasShortTimes, m.waitLimit, m.pace, m.errands = true, 10, pace, nil
	start, ways, otherCount, lookCount := time.Now(), m.wayCount, len(m.jobs)-m.wayJobs, len(m.jobs)
	inTime := func(limit time.Duration) bool { return time.Since(start) < limit }
	mayBegin := func() bool { return inTime(waysEnd) && m.wayCount-ways < maxWays }
	m.mayAdd = func() bool { return inTime(addsEnd) && (mayBegin() || len(m.jobs)-m.wayJobs-otherCount < maxOtherJobs) }
	a := m.alphabet(moves)
	for i, move := range a.Moves {
		a.Moves[i].Fits = func(conn int) bool { return !mayBegin() && inTime(movesEnd) && move.Fits(conn) }
	}
	a.Moves = append(a.Moves, m.wayMoves(mayBegin)...)
	rest := func(int) []explore.Step { return []explore.Step{explore.Wait(20 * time.Millisecond)} }
	isCounted := false
	a.Moves = append(a.Moves,
		explore.Move{
			Name: "count", Weight: 1000, Fits: func(int) bool { return !isCounted },
			Make: func(conn int) []explore.Step { // what is counted at the end is so from here on
				isCounted = true
				return []explore.Step{m.step(conn, "inspect server")}
			},
		},
		explore.Move{
			Name: "rest", Weight: 12, Fits: func(int) bool { return !m.mayAdd() && inTime(last) }, Make: rest,
		},
		explore.Move{
			Name: "look", Weight: 1, Fits: func(int) bool { return !inTime(last) && lookCount <= len(m.jobs) },
			Make: func(conn int) []explore.Step {
				lookCount++
				if lookCount > len(m.jobs) { // every job whose time to live was over is counted by now
					return append(m.awaitReplies(), m.step(conn, "inspect server"))
				}
				b := m.jobs[lookCount-1]
				steps := []explore.Step{m.step(conn, "inspect job "+b.id), m.step(conn, "result "+b.id+" 0")}
				if j := m.law.jobs[m.Fill(b.id)]; j != nil && j.mayBe(ready) {
					steps = append(steps, m.step(conn, "lease "+b.name+" 20"))
				}
				return steps
			},
		})
	a.IsComplete = true
	a.Done = func() bool { return !inTime(last) && lookCount > len(m.jobs) }
	return a
}

// awaitReplies awaits the replies that should have come long ago.
func (m *maker) awaitReplies() (steps []explore.Step) {
	for _, conn := range slices.Sorted(maps.Keys(m.law.conns)) {
		if m.law.OverdueClause(conn) != "" {
			steps = append(steps, m.build.Await(conn))
		}
	}
	return steps
}

// How many ways are begun, how many other jobs are added behind them, until when that is, until when something is done
// with those, and when all that is due has happened even on a server that is late.
const (
	maxWays      = 60
	waysEnd      = 650 * time.Millisecond
	maxOtherJobs = 100
	addsEnd      = 1000 * time.Millisecond
	movesEnd     = 1700 * time.Millisecond
	livesEnd     = 4950 * time.Millisecond

	longPace     = 6
	longLivesEnd = 11 * time.Second
)
