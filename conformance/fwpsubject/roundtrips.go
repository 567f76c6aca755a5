package fwpsubject

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// Values returns FWP as [New] does, with nothing but jobs that are pushed, fetched and acknowledged: so each bucket of
// values soon comes back once.
func Values() *explore.Subject {
	return steady(func(g *maker) explore.Alphabet {
		return g.alphabet(slices.DeleteFunc(slices.Clone(moves), func(m move) bool {
			return !slices.Contains(ofValues, m.name)
		}))
	})
}

// ofValues are the moves of [Values].
var ofValues = []string{
	"push", "fetch", "fetch-two", "ack", "beat", "hello", "info", "fetch-and-wake", "fetch-many", "burst", "push-line",
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
	s := New()
	s.Alphabet = func(d *explore.Draw, l explore.Law) explore.Alphabet {
		return alphabet(&maker{Draw: d, law: l.(*fwpLaw), steady: true}) //nolint:forcetypeassert // the subject's own
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
