package explore

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// generator makes up the next steps from what the world knows.
type generator struct {
	*rand.Rand
	p       *play
	seed    uint64
	round   uint64
	limit   int           // connections at a time
	longest time.Duration // that a Wait takes
	flush   bool
	alone   bool

	signals, restarts bool              // an operator can be asked for it
	tried             map[string]int    // moves by state of the connection
	last              map[string]uint64 // the round in which a move was made last
	dealt             map[string][]int  // how often each of a list was drawn

	jobs, workers, opened int
	queues                []int // that are in use
	lastQueue             int
}

// The neighbour: a producer and a worker that must never notice anything.
const (
	neighbourProducer = 0
	neighbourWorker   = 1
	strangers         = 2 // the number of the first other connection
)

// move is one kind of thing to do on a connection.
type move struct {
	name   string
	weight float64
	fits   func(g *generator, c *conn, w *oracle.Conn) bool
	make   func(g *generator, c *conn, w *oracle.Conn) []Step
}

// next gives the next steps, at least one.
func (g *generator) next() []Step {
	g.round++
	g.Rand = rand.New(rand.NewPCG(g.seed, g.round))
	if steps := g.neighbour(); steps != nil {
		return steps
	}
	conns := g.strangers()
	if len(conns) < 2 || len(conns) < g.limit && g.IntN(12) == 0 {
		return g.openOne()
	}
	if g.longest > 0 && g.IntN(250) == 0 {
		return g.age()
	}
	c := conns[g.IntN(len(conns))]
	w := g.p.world.Conns[c.number]
	m := g.pick(c, w)
	if m.make == nil {
		return g.openOne()
	}
	steps := m.make(g, c, w)
	for i := range steps {
		steps[i].Move = m.name
	}
	return steps
}

// pick draws a move, those more likely that were tried least in this state.
func (g *generator) pick(c *conn, w *oracle.Conn) move {
	state := fmt.Sprintf(" %s %t", w.State, w.WID != "")
	var fit []move
	var weights []float64
	sum := 0.0
	for _, m := range moves {
		if m.fits(g, c, w) && g.affords(m.name) {
			weight := m.weight * (1 + 6/float64(1+g.tried[m.name+state]))
			fit, weights, sum = append(fit, m), append(weights, weight), sum+weight
		}
	}
	at := g.Float64() * sum
	for i, m := range fit {
		if at -= weights[i]; at < 0 || i == len(fit)-1 {
			g.tried[m.name+state]++
			g.last[m.name] = g.round
			return m
		}
	}
	return move{}
}

// slow are moves that take their time, with the rounds that must lie between two of
// one kind when time is real: some block for two seconds, some write byte by byte.
var slow = map[string]uint64{
	"fetch-as-anybody": 4000, "fetch-and-wake": 1500, "fetch-and-go": 1500, "two-words": 1500, "default": 1500, "flush": 2500, "bytes": 150, "cut": 300, "wire": 40,
}

// affords tells whether a move is not too slow now.
func (g *generator) affords(name string) bool {
	return g.longest > 0 || g.last[name] == 0 || g.round-g.last[name] >= slow[name]
}

func (g *generator) strangers() []*conn {
	var all []*conn
	for _, n := range slices.Sorted(maps.Keys(g.p.conns)) {
		if c := g.p.conns[n]; n >= strangers && c.owed == 0 {
			all = append(all, c)
		}
	}
	return all
}

// neighbour gives the steps with which the neighbour shows that it is well, every now
// and then: a server that ends its connections must not keep us from all else.
func (g *generator) neighbour() []Step {
	const often = 60
	if g.round%often != 1 {
		return nil
	}
	var steps []Step
	if g.p.conns[neighbourProducer] == nil {
		steps = append(steps, Step{Kind: Open, Conn: neighbourProducer, Role: scenarios.Producer})
	}
	if g.p.conns[neighbourWorker] == nil {
		steps = append(steps, Step{Kind: Open, Conn: neighbourWorker, Role: scenarios.Consumer})
	}
	jid := g.jid()
	return append(steps,
		line(neighbourProducer, `PUSH {"jid":"%s","jobtype":"neighbour","args":[],"queue":"$queue0"}`, jid),
		line(neighbourWorker, `FETCH $queue0`),
		line(neighbourWorker, `ACK {"jid":"%s"}`, jid))
}

// openOne opens a connection.
func (g *generator) openOne() []Step {
	g.opened++
	n := strangers
	for g.p.conns[n] != nil {
		n++
	}
	s := Step{Kind: Open, Conn: n, Move: "open"}
	switch g.IntN(8) {
	case 0, 1:
		s.Role = scenarios.Raw
	case 2, 3:
		s.Role = scenarios.Producer
	default:
		s.Role = scenarios.Consumer
		if g.workers == 0 || g.IntN(3) > 0 {
			g.workers++
			s.Worker = g.workers
		} else {
			s.Worker = 1 + g.IntN(g.workers)
		}
	}
	return []Step{s}
}

// age lets time pass, and looks who has come back.
func (g *generator) age() []Step {
	spans := []time.Duration{
		400 * time.Millisecond, 1200 * time.Millisecond, 4 * time.Second, 20 * time.Second, 70 * time.Second, 170 * time.Second, 260 * time.Second,
	}
	n := len(spans)
	for n > 1 && spans[n-1] > g.longest {
		n--
	}
	steps := []Step{{Kind: Wait, For: spans[g.IntN(n)], Move: "wait"}}
	for _, c := range g.strangers() {
		if g.p.world.Conns[c.number].WID != "" {
			for range 3 {
				look := line(c.number, "FETCH %s", g.all())
				look.Move = "look"
				steps = append(steps, look)
			}
			break
		}
	}
	return steps
}

// all lists the queues in use.
func (g *generator) all() string {
	g.queue()
	names := make([]string, len(g.queues))
	for i, q := range g.queues {
		names[i] = fmt.Sprintf("$queue%d", q)
	}
	return strings.Join(names, " ")
}

func (g *generator) jid() string {
	g.jobs++
	return fmt.Sprintf("$jid%d", g.jobs)
}

// queue names one of a few queues, which are replaced from time to time.
func (g *generator) queue() string {
	if len(g.queues) < 6 {
		g.lastQueue++
		g.queues = append(g.queues, g.lastQueue)
	} else if g.IntN(200) == 0 {
		g.lastQueue++
		g.queues[g.IntN(len(g.queues))] = g.lastQueue
	}
	return fmt.Sprintf("$queue%d", g.queues[g.IntN(len(g.queues))])
}

// ready lists jobs that are certainly enqueued, and for which nobody waits, sorted.
func (g *generator) ready() []*oracle.Job {
	var all []*oracle.Job
	for _, q := range g.queues {
		name := g.p.fill(fmt.Sprintf("$queue%d", q), fwp.Hi{})
		if g.p.world.Wanted(name) {
			continue
		}
		for _, j := range g.p.world.In(name, g.p.now) {
			if j.Where == model.Enqueued && !j.Loose {
				all = append(all, j)
			}
		}
	}
	slices.SortFunc(all, byJID)
	return all
}

func byJID(a, b *oracle.Job) int {
	if len(a.JID) != len(b.JID) {
		return len(a.JID) - len(b.JID)
	}
	return strings.Compare(a.JID, b.JID)
}

// held lists the jobs that a worker holds.
func (g *generator) held(wid string) []*oracle.Job {
	if wid == "" {
		return nil
	}
	return g.p.world.Held(wid)
}

// choose draws from a list.
func choose[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// deal draws from those of a list that were drawn least until now, so that all of them
// come soon. The list is told from others by its name.
func deal[T any](g *generator, name string, list []T) T {
	counts := g.dealt[name]
	if counts == nil {
		counts = make([]int, len(list))
		g.dealt[name] = counts
	}
	least := slices.Min(counts)
	at := g.IntN(len(list))
	for counts[at] != least {
		at = (at + 1) % len(list)
	}
	counts[at]++
	return list[at]
}
