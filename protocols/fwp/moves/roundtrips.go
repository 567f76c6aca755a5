package moves

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/target"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// Commands returns FWP as [New] does, without what takes its time: so a short exploration sends thousands of commands.
func Commands() *explore.Alphabet {
	return newSubject(func(g *maker) explore.Generator {
		var selection []move
		for _, m := range moves {
			if !m.takesTime() {
				selection = append(selection, m.untilDealt(populations[m.name]))
			}
		}
		return g.alphabet(selection)
	})
}

// populations are the lists of moves that do the same with a number of things, each of which is tried once.
var populations = map[string]string{"burst": "burst", "fetch-many": "queues", "push-line": "length of a line",
	"introduce": "labels", "third": "third"}

// untilDealt returns a move that is made until its list is used up; "": it has none.
func (m move) untilDealt(list string) move {
	fits := m.fits
	m.fits = func(g *maker, c int, w *fwplaw.Conn) bool {
		return (list == "" || !g.HasDealt(list)) && fits(g, c, w)
	}
	return m
}

// Waits returns FWP as [New] does, with what [Commands] leaves out.
func Waits() *explore.Alphabet {
	return newSubject(func(g *maker) explore.Generator {
		return removePauses(g.alphabet(slices.DeleteFunc(slices.Clone(moves), func(m move) bool {
			return !m.takesTime() && !slices.Contains(sharedMoves, m.name)
		})))
	})
}

// leaveMove ends connections of producers where there are no workers.
var leaveMove = []move{{"leave", 1, func(g *maker, c int, w *fwplaw.Conn) bool {
	return isIdentified(g, c, w) && !slices.ContainsFunc(g.Free(), func(other int) bool {
		return mayFetch(g, other, g.law.world.Conns[other])
	})
}, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step { return []explore.Step{g.ending(c)} }}}

// removePauses returns an alphabet whose slow moves are made at any time.
func removePauses(a explore.Generator) explore.Generator {
	for i := range a.Moves {
		a.Moves[i].Pause = 0
	}
	return a
}

// takesTime reports whether a move waits: always, or with some of its variants.
func (m move) takesTime() bool {
	return pauseRounds[m.name] > 0 || m.name == "fetch-empty" || m.name == "form"
}

// sharedMoves are the moves of [Commands] that [Waits] has, too.
var sharedMoves = []string{"push", "fetch", "ack", "fail", "hello", "beat", "info"}

// Values returns FWP as [New] does, with nothing but jobs that are pushed, fetched and reported, until each bucket of
// values was sent, and what was scheduled has come. A server that takes longer for that is not waited for.
func Values() *explore.Alphabet { return newSubject((*maker).values) }

// values returns the steps of [Values], in queues that stay the same.
func (g *maker) values() explore.Generator {
	const schedulesLast, valuesLast = 4500 * time.Millisecond, 15 * time.Second
	start := time.Now()
	g.isSteady, g.runTime = true, func() time.Duration { return time.Since(start) }
	g.ways, g.plans, g.isExpected = []string{"", wayAt}, map[string]plan{}, isDue
	g.isPushing = func() bool { return !g.HasDealt(listsOfValues()...) && g.runTime() < valuesLast }
	selection := slices.Concat(waitMoves, leaveMove)
	for _, m := range moves {
		if entry, ok := valueMoves[m.name]; ok {
			m.weight = entry.weight
			selection = append(selection, m.untilDealt(entry.list).whilePushing())
		}
	}
	a := removePauses(g.alphabet(selection))
	a.IsComplete = true
	a.Open = func(conn int) explore.Step {
		if g.isPushing() {
			return g.openConn(conn)
		}
		g.workers++
		return consumer(conn, g.workers)
	}
	a.Done = func() bool {
		return !g.isPushing() && (g.runTime() > schedulesLast || !anyJob(g.activeJobs(), isScheduled))
	}
	return a
}

// Restarts returns FWP as [Values] does, with a server that is restarted when each bucket was sent: most jobs come
// behind that. What was pushed before a FLUSH, or acknowledged, does not come again.
func Restarts() *explore.Alphabet {
	return steadySubject(func(g *maker) explore.Generator {
		const bornFor, limit = 4 * time.Second, 6 * time.Second
		start := time.Now()
		g.runTime = func() time.Duration { return time.Since(start) }
		g.ways, g.plans, g.isExpected = []string{"", "", wayAt}, map[string]plan{}, isDue
		g.isPushing = func() bool { return !g.HasDealt(listsOfJobs()...) && g.runTime() < bornFor }
		selection := slices.Concat(waitMoves, restartMoves, []move{{"fetch", 3, hasReadyJobs, (*maker).fetch}})
		for _, m := range moves {
			if slices.Contains([]string{"ack", "fail", "hello"}, m.name) {
				selection = append(selection, m)
			}
		}
		a := g.alphabet(selection)
		a.Done = func() bool {
			return g.restarts > 0 && (g.runTime() > limit || !anyJob(g.activeJobs(), isScheduled))
		}
		return a
	})
}

// restartMoves are the moves of an operator: a FLUSH while the first jobs are pushed, which removes those that are
// scheduled for another century, too, and a restart behind the last.
var restartMoves = []move{
	{"push-far", 10, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.Terms.Flush && g.isPushing() && g.farQueue == "" && isIdentified(g, c, w)
	}, (*maker).pushFuture},
	{"flush", 1, func(g *maker, c int, w *fwplaw.Conn) bool {
		return g.Terms.Flush && !g.isFlushed && g.farQueue != "" && g.jobs > 60 && g.isPushing() && mayFetch(g, c, w)
	}, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		g.isFlushed = true
		doneJID, heldJID, queue := g.jid(), g.jid(), g.freshQueue()
		fetch := line(c, "FETCH default %s %s", g.farQueue, queue)
		return []explore.Step{
			push(c, doneJID, queue, ""), fetch, push(c, heldJID, queue, ""), fetch, ack(c, doneJID),
			push(c, g.jid(), "default", ""), line(c, "FLUSH"), line(c, "FAIL %s", g.failure(heldJID)),
			push(c, g.jid(), queue, ""), fetch, push(c, doneJID, queue, ""), fetch, // nothing is known of it any more
		}
	}},
	{"restart", 1000, func(g *maker, _ int, _ *fwplaw.Conn) bool {
		return g.Restarts && !g.isPushing() &&
			g.isRestartDue()
	},
		(*maker).restart},
}

// isRestartDue reports whether the server is to be restarted: behind the last PUSH, and where lives are followed once
// more shortly before the sweep, which shows then whether what has ended is back.
func (g *maker) isRestartDue() bool {
	isSecond := g.times.sweep > 0 && !g.isSwept && g.runTime() >= g.times.sweep*19/20
	return g.restarts == 0 || g.restarts == 1 && isSecond
}

// restart restarts the server while jobs are scheduled. One is due some seconds later, and must not come before its
// time; the others become due one after the other while the server is away.
func (g *maker) restart(c int, _ *fwplaw.Conn) []explore.Step {
	const moments, gap = 24, 20 // milliseconds
	g.restarts++
	g.workers++
	laterQueue, nextQueue, awayQueue := g.freshQueue(), g.freshQueue(), g.freshQueue()
	steps := []explore.Step{
		explore.End(c, scenarios.Closed), consumer(c, g.workers),
		push(c, g.jid(), laterQueue, fmt.Sprintf(`,"at":"$now+%dms"`, 2000+g.jobs%1000)),
	}
	for i := range moments {
		steps = append(steps, push(c, g.jid(), awayQueue, fmt.Sprintf(`,"at":"$now+%dms"`, gap*(i+1)+g.restarts)))
	}
	return append(steps, explore.Disrupt(target.Restart),
		consumer(c, g.workers), push(c, g.jid(), nextQueue, ""), line(c, "FETCH %s %s", laterQueue, nextQueue))
}

// pushFuture schedules a job for each of the instants that are to come. Nothing but a FLUSH removes them.
func (g *maker) pushFuture(c int, _ *fwplaw.Conn) (steps []explore.Step) {
	g.farQueue = g.freshQueue()
	for _, at := range futureInstants() {
		steps = append(steps, push(c, g.jid(), g.farQueue, `,"at":`+at.Make(g.Rand)))
	}
	return steps
}

// whilePushing returns a move that is not made when no more jobs are pushed, unless it is about those that were.
func (m move) whilePushing() move {
	fits := m.fits
	m.fits = func(g *maker, c int, w *fwplaw.Conn) bool {
		return (g.isPushing() || m.name == "fetch" || m.name == "ack") && fits(g, c, w)
	}
	return m
}

// listsOfValues are the names of the lists of values that [Values] sends.
var listsOfValues = sync.OnceValue(func() []string {
	all := append([]string{"burst", "queues", "length of a line", "rss_kb", "alike queues"}, listsOfJobs()...)
	for _, f := range jobFields() {
		if len(f.safeValues) > 0 {
			all = append(all, f.name+wayAwaited)
		}
	}
	return all
})

// listsOfJobs are the names of the lists from which jobs have their values.
var listsOfJobs = sync.OnceValue(func() []string {
	all := []string{"risky", "past", "jid", "queue name"}
	for _, f := range jobFields() {
		if len(f.safeValues) > 0 {
			all = append(all, f.name)
		}
	}
	return all
})

// valueMoves are the moves of [Values], how often they are made, and the list with which each of them ends.
var valueMoves = map[string]struct {
	weight float64
	list   string
}{
	"fetch": {14, ""}, "fetch-two": {4, ""}, "ack": {12, ""}, "fail": {1, ""}, "hello": {2, ""}, "info": {0.2, ""},
	"fetch-and-wake": {4, ""}, "beat": {9, "rss_kb"}, "fetch-many": {4, "queues"}, "burst": {4, "burst"},
	"push-line": {3, "length of a line"}, "alike-queues": {4, "alike queues"},
}

// steadySubject returns FWP with other moves, in queues that stay the same.
func steadySubject(alphabet func(g *maker) explore.Generator) *explore.Alphabet {
	return newSubject(func(g *maker) explore.Generator {
		g.isSteady = true
		a := alphabet(g)
		a.IsComplete = true
		return a
	})
}

// newSubject returns FWP with other moves.
func newSubject(alphabet func(g *maker) explore.Generator) *explore.Alphabet {
	s := New()
	s.Generate = func(d *explore.Draw, l explore.Law) explore.Generator {
		return alphabet(&maker{Draw: d, law: l.(*fwpLaw)}) //nolint:forcetypeassert // the subject's own
	}
	return s
}
