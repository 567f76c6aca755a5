package explore

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// generator makes up the next steps from what the law knows.
type generator struct {
	Draw
	p           *playthrough
	alphabet    Generator
	seed        uint64
	limit       int               // connections at a time
	stateCounts map[string]int    // moves by state of the connection
	last        map[string]uint64 // the round in which a move was made last
	moveCounts  map[string]int    // moves
	fatal       map[string]int    // moves after which the server was gone
	latest      string            // the last move
}

// firstFree is the number of the first connection that is not one of the control: a
// producer and a worker that must not notice anything.
const firstFree = 2

// defaultRoom is how many connections there may be beside those of the control, unless an Explorer has another limit.
const defaultRoom = 6

func newGenerator(e *Explorer, p *playthrough) *generator {
	g := &generator{
		p: p, seed: e.Seed, limit: cmp.Or(e.Connections, defaultRoom),
		stateCounts: map[string]int{}, last: map[string]uint64{}, moveCounts: map[string]int{}, fatal: map[string]int{},
	}
	g.Draw = Draw{
		Terms: p.terms, LongestWait: e.LongestWait, dealt: map[string][]int{},
		Free: g.idleConns, room: g.room, Now: func() time.Time { return p.now },
		Fill: func(text string) string { return p.fill(text, noConn) },
	}
	_, g.Signals = e.Target.(play.Signaller)
	if _, ok := e.Target.(play.Restarter); ok {
		g.Restarts = e.Restarts
	}
	if _, ok := e.Target.(Disrupter); ok {
		g.Disruptions = e.Disrupt
	}
	g.alphabet = e.Alphabet.Generate(&g.Draw, p.law)
	return g
}

// campaign is how many rounds leave out the same kinds of moves, fields and values. The first two leave out
// nothing: a short exploration has to try everything.
const campaign = 300

// next gives the next steps, at least one.
func (g *generator) next() []Step {
	g.Round++
	g.Rand = rand.New(rand.NewPCG(g.seed, g.Round))
	if !g.alphabet.IsComplete && g.Round > campaign && g.Round%campaign == 0 {
		g.swarm = uint64(g.IntN(2)) * g.Uint64()
	}
	if steps := g.control(); steps != nil {
		return steps
	}
	conns := g.idleConns()
	room := g.room()
	if len(conns) < min(2, room) || len(conns) < room && g.IntN(12) <= (room-len(conns))/6 {
		return g.openConn()
	}
	if g.LongestWait > 0 && g.IntN(250) == 0 {
		return g.age()
	}
	conn := conns[g.IntN(len(conns))]
	m := g.pick(conn)
	if m.Make == nil {
		return g.openConn()
	}
	return m.Make(conn)
}

// isDone reports whether nothing is left to be done. It goes on to the next alphabet if there is one.
func (g *generator) isDone() bool {
	for g.alphabet.Done != nil && g.alphabet.Done() {
		if g.alphabet.Next == nil {
			return true
		}
		g.alphabet = g.alphabet.Next()
	}
	return false
}

// room returns how many connections there may be at a time beside those of the control. One
// more is for questions.
func (g *generator) room() int {
	if g.p.limit == 0 {
		return g.limit
	}
	return max(1, min(g.limit, g.p.limit-firstFree-1))
}

// pick draws a move, those more likely that were tried least in this state.
func (g *generator) pick(conn int) Move {
	state := " " + g.p.law.State(conn)
	candidates := slices.DeleteFunc(slices.Clone(g.alphabet.Moves),
		func(m Move) bool { return !g.affords(m) || !m.Fits(conn) })
	if moves := slices.DeleteFunc(slices.Clone(candidates), func(m Move) bool { return !g.Uses(m.Name) }); len(moves) > 0 {
		candidates = moves
	}
	var weights []float64
	sum := 0.0
	for _, m := range candidates {
		weight := m.Weight * (1 + 6/float64(1+g.stateCounts[m.Name+state]))
		weights, sum = append(weights, weight), sum+weight
	}
	at := g.Float64() * sum
	for i, m := range candidates {
		if at -= weights[i]; at < 0 || i == len(candidates)-1 {
			g.stateCounts[m.Name+state]++
			g.last[m.Name] = g.Round
			g.latest = m.Name
			g.moveCounts[m.Name]++
			return m
		}
	}
	return Move{}
}

// noteDeath records that the server is gone after the last move.
func (g *generator) noteDeath() { g.fatal[g.latest]++ }

// affords reports whether a move is not too slow now, and leaves a server that was started again alive: one that is
// gone after most moves of a kind would be started all the time, and not be started for the other kinds any more.
func (g *generator) affords(m Move) bool {
	const minDeaths = 3
	n := g.fatal[m.Name]
	if n >= minDeaths && 2*n > g.moveCounts[m.Name] || n >= maxRevivals/4 && len(g.alphabet.Moves) > 1 {
		return false
	}
	return g.LongestWait > 0 || g.last[m.Name] == 0 || g.Round-g.last[m.Name] >= m.Pause
}

// idleConns lists the connections that owe no answer, but for those of the control.
func (g *generator) idleConns() []int {
	var all []int
	for _, n := range slices.Sorted(maps.Keys(g.p.conns)) {
		if n >= firstFree && g.p.conns[n].dueReplies == 0 {
			all = append(all, n)
		}
	}
	return all
}

// control gives the steps with which its connections show that they are well, every now
// and then, and sooner where one has ended, because moves need them. A server that ends them must not keep us from all
// else.
func (g *generator) control() []Step {
	const interval, retryInterval = 60, 6
	ended := g.p.conns[0] == nil || g.p.conns[1] == nil
	if g.alphabet.Control == nil || g.Round%interval != 1 && (!ended || g.Round%retryInterval != 1) {
		return nil
	}
	return slices.DeleteFunc(g.alphabet.Control(), func(s Step) bool { return s.opens() && g.p.conns[s.Conn()] != nil })
}

// openConn opens a connection.
func (g *generator) openConn() []Step {
	n := firstFree
	for g.p.conns[n] != nil {
		n++
	}
	return []Step{g.alphabet.Open(n)}
}

// age lets time pass, and looks what has come back.
func (g *generator) age() []Step {
	spans := []time.Duration{
		400 * time.Millisecond, 1200 * time.Millisecond, 4 * time.Second, 20 * time.Second,
		70 * time.Second, 170 * time.Second, 260 * time.Second,
	}
	n := len(spans)
	for n > 1 && spans[n-1] > g.LongestWait {
		n--
	}
	steps := []Step{Wait(spans[g.IntN(n)])}
	for _, conn := range g.idleConns() {
		if g.alphabet.Look == nil {
			break
		}
		if look := g.alphabet.Look(conn); look != nil {
			return append(steps, look...)
		}
	}
	return steps
}

// Draw is what an alphabet makes its choices from. They follow from the seed and the
// round, and from what has come back.
type Draw struct {
	*rand.Rand
	Round       uint64
	Terms       law.Terms
	LongestWait time.Duration   // that the clients all wait at a time; zero: time is real, and waiting costs it
	Signals     bool            // an operator can quiet and terminate workers
	Restarts    bool            // an operator can restart the server
	Disruptions []target.Action // what is done to the server, at any moment
	Compared    bool            // two servers are sent the same: what chance or time decides would differ

	Fill func(text string) string // writes a text with its names filled in
	Free func() []int             // lists the connections that owe no answer, but for those of the control
	Now  func() time.Time         // when the last step was played

	swarm uint64 // of the campaign: what is left out follows from it; zero: nothing
	room  func() int
	dealt map[string][]int // how often each of a list was drawn
}

// NewDraw returns a Draw without connections, for a round of an alphabet by itself.
func NewDraw(d scenarios.Dialect, seed, round uint64, terms law.Terms, value func(conn int, name string) string) *Draw {
	n := &names{dialect: d, prefix: terms.NamePrefix, times: map[string]string{}, value: value, now: time.Now()}
	return &Draw{
		Rand: rand.New(rand.NewPCG(seed, round)), Round: round, Terms: terms, dealt: map[string][]int{}, Now: time.Now,
		Fill: func(text string) string { return n.fill(text, noConn) }, Free: func() []int { return nil },
		room: func() int { return defaultRoom },
	}
}

// Numbers are those of all connections that there may be at a time, open or not, but for those of the control.
func (d *Draw) Numbers() []int {
	all := make([]int, d.room())
	for i := range all {
		all[i] = firstFree + i
	}
	return all
}

// Uses reports whether a campaign uses a kind of move, field or value. Half of the campaigns
// leave out a random half of all kinds each, so that what others hide shows (swarm testing).
func (d *Draw) Uses(kind string) bool {
	if d.swarm == 0 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // it never fails
	return rand.New(rand.NewPCG(d.swarm, h.Sum64())).IntN(2) == 0
}

// Deal draws a number below n from those that were drawn least until now under that
// name, so that all of them come soon.
func (d *Draw) Deal(name string, n int) int {
	counts := d.dealt[name]
	if counts == nil {
		counts = make([]int, n)
		d.dealt[name] = counts
	}
	minimum := slices.Min(counts)
	at := d.IntN(n)
	for counts[at] != minimum {
		at = (at + 1) % n
	}
	counts[at]++
	return at
}

// HasDealt reports whether all of the lists with these names were drawn from, and nothing of them is left that was not
// drawn.
func (d *Draw) HasDealt(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return len(d.dealt[name]) == 0 || slices.Min(d.dealt[name]) == 0
	})
}
