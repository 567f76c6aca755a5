package fwpsubject

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// Commands returns FWP as [New] does, without what takes its time: so a short exploration sends thousands of commands.
func Commands() *explore.Subject {
	return part(func(g *maker) explore.Alphabet {
		var quick []move
		for _, m := range moves {
			if !m.takesTime() {
				quick = append(quick, m.until(populations[m.name]))
			}
		}
		return g.alphabet(quick)
	})
}

// populations are the lists of moves that do the same with a number of things, each of which is tried once.
var populations = map[string]string{"burst": "burst", "fetch-many": "queues", "push-line": "length of a line",
	"introduce": "labels"}

// until returns a move that is made until its list is used up; "": it has none.
func (m move) until(list string) move {
	fits := m.fits
	m.fits = func(g *maker, c int, w *oracle.Conn) bool {
		return (list == "" || !g.Dealt(list)) && fits(g, c, w)
	}
	return m
}

// Waits returns FWP as [New] does, with what [Commands] leaves out.
func Waits() *explore.Subject {
	return part(func(g *maker) explore.Alphabet {
		a := g.alphabet(slices.DeleteFunc(slices.Clone(moves), func(m move) bool {
			return !m.takesTime() && !slices.Contains(besideWaits, m.name)
		}))
		for i := range a.Moves {
			a.Moves[i].Pause = 0
		}
		return a
	})
}

// takesTime reports whether a move waits: always, or with some of its variants.
func (m move) takesTime() bool {
	return slow[m.name] > 0 || m.name == "fetch-empty" || m.name == "form"
}

// besideWaits are the moves of [Commands] that [Waits] has, too.
var besideWaits = []string{"push", "fetch", "ack", "fail", "hello", "beat", "info"}

// Values returns FWP as [New] does, with nothing but jobs that are pushed, fetched and acknowledged, until each bucket
// of values was sent.
func Values() *explore.Subject {
	return steady(func(g *maker) explore.Alphabet {
		var some []move
		for _, m := range moves {
			if of, is := ofValues[m.name]; is {
				m.weight = of.weight
				some = append(some, m.until(of.list))
			}
		}
		a := g.alphabet(some)
		a.Done = func() bool { return g.Dealt(listsOfValues()...) }
		return a
	})
}

// listsOfValues are the names of the lists of values that [Values] sends.
var listsOfValues = sync.OnceValue(func() []string {
	all := []string{"risky", "at", "burst", "queues", "length of a line", "rss_kb"}
	for _, f := range jobFields() {
		if len(f.must) > 0 {
			all = append(all, f.name)
		}
	}
	return all
})

// ofValues are the moves of [Values], how often they are made, and the list with which each of them ends.
var ofValues = map[string]struct {
	weight float64
	list   string
}{
	"push": {14, ""}, "fetch": {14, ""}, "fetch-two": {4, ""}, "ack": {12, ""}, "hello": {2, ""}, "info": {0.2, ""},
	"fetch-and-wake": {0.3, ""}, "beat": {3, "rss_kb"}, "fetch-many": {1, "queues"}, "burst": {1, "burst"},
	"push-line": {3, "length of a line"},
}

// Lives returns FWP as [New] does, with jobs that are scheduled, that fail, and that are kept until their reservation
// ends: all of them are pushed first, wait together, and come back with their values.
func Lives() *explore.Subject {
	return steady(func(g *maker) explore.Alphabet {
		begun := time.Now()
		g.births = func() bool { return g.jobs < mostLives && time.Since(begun) < birthsLast }
		a := g.alphabet(ofLives)
		a.Open = func(conn int) explore.Step { return consumer(conn, conn) }
		a.Done = func() bool { return !g.births() && len(g.underWay()) == 0 }
		return a
	})
}

// How many jobs are pushed whose lives are followed, and for how long.
const (
	mostLives  = 600
	birthsLast = 2 * time.Second
)

// ofLives are the moves of [Lives].
var ofLives = []move{
	{"push", 14, func(g *maker, c int, w *oracle.Conn) bool { return g.births() && identified(g, c, w) },
		writes(func(g *maker, _ *oracle.Conn) string { return "PUSH " + g.job() })},
	{"fetch", 20, func(g *maker, c int, w *oracle.Conn) bool { return (g.births() || !keeps(c)) && waiting(g, c, w) },
		(*maker).fetch},
	{"report", 40, func(g *maker, c int, w *oracle.Conn) bool { return len(g.toReport(c, w)) > 0 },
		func(g *maker, c int, w *oracle.Conn) []explore.Step {
			return []explore.Step{line(c, "%s", g.report(choose(g, g.toReport(c, w))))}
		}},
	{"look", 1, func(g *maker, c int, w *oracle.Conn) bool { return !g.births() && !keeps(c) && active(g, c, w) },
		writes((*maker).fetchSome)},
	{"beat", 1, func(g *maker, c int, w *oracle.Conn) bool { return !g.births() && worker(g, c, w) },
		writes(func(g *maker, w *oracle.Conn) string { return `BEAT {"wid":"` + g.law.symbol(w.WID) + `"}` })},
}

// steady returns FWP with other moves, in queues that stay the same.
func steady(alphabet func(g *maker) explore.Alphabet) *explore.Subject {
	return part(func(g *maker) explore.Alphabet {
		g.steady = true
		return alphabet(g)
	})
}

// part returns FWP with other moves.
func part(alphabet func(g *maker) explore.Alphabet) *explore.Subject {
	s := New()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet {
		return alphabet(&maker{Draw: d, law: l.(*fwpLaw)}) //nolint:forcetypeassert // the subject's own
	}
	return s
}

// keeps reports whether the worker of a connection keeps the jobs whose reservations end soon.
func keeps(conn int) bool { return conn%2 == 0 }

// toReport are the jobs that the worker of a connection is to report.
func (g *maker) toReport(conn int, w *oracle.Conn) []*oracle.Job {
	return slices.DeleteFunc(slices.Clone(g.held(w.WID)), func(j *oracle.Job) bool {
		return keeps(conn) && j.Reservation() <= shortest
	})
}

// shortest is the reservation whose end is waited for.
const shortest = 60 * time.Second

// report fails about each other job while others are pushed, and acknowledges the rest: what fails again waits longer.
func (g *maker) report(j *oracle.Job) string {
	jid := g.law.symbol(j.JID)
	if last := jid[len(jid)-1]; g.births() && last%2 == 0 {
		return "FAIL " + g.failure(jid)
	}
	return `ACK {"jid":"` + jid + `"}`
}

// fetchSome fetches from some of the queues in which jobs may be.
func (g *maker) fetchSome(*oracle.Conn) string {
	const most = 8 // that every server takes
	var queues []string
	for _, j := range g.underWay() {
		queues = append(queues, g.law.symbol(j.Queue))
	}
	slices.Sort(queues)
	queues = slices.Compact(queues)
	g.Shuffle(len(queues), func(i, k int) { queues[i], queues[k] = queues[k], queues[i] })
	return "FETCH " + strings.Join(queues[:min(most, len(queues))], " ")
}

// underWay are the jobs that have still to come, or to be reported.
func (g *maker) underWay() (all []*oracle.Job) {
	for _, j := range g.law.world.Jobs {
		if j.Unjudged == oracle.Judged && j.Where&(model.Gone|model.Dead|model.Unborn) == 0 {
			all = append(all, j)
		}
	}
	return all
}
