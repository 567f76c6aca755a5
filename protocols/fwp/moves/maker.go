package moves

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	"github.com/fwpsuite/fwp/scenarios"
)

// maker makes up steps from the state of the law.
type maker struct {
	*explore.Draw
	law *fwpLaw

	jobs, workers, failures int
	queues                  []string // that are in use
	lastQueue               int
	twin                    string // the jid of the next job, if it is to be like that of the last one

	isSteady bool // queues stay the same, and no move waits for long: see [Values] and [Lives]

	// Where lives of jobs are followed; else nil.
	isPushing    func() bool          // jobs are still pushed
	runTime      func() time.Duration // since the first
	pushTime     time.Duration        // in which all were pushed, or as many as the time was for; 0 until then
	ways         []string
	isExpected   func(*fwplaw.Job) bool // a FETCH waits for such a job
	plans        map[string]plan        // by jid
	times        spans
	replacements map[int]int // how often the worker of two connections was replaced
	// schedules counts the jobs that are to be enqueued soon.
	schedules int
	isSwept   bool // the queues of what has ended were looked into once more

	isFlushed bool   // see [Restarts]
	restarts  int    // so far
	farQueue  string // the queue of jobs that do not come
}

// The connections of the control: a producer and a worker that must not notice anything.
const (
	controlProducer = 0
	controlWorker   = 1
)

// alphabet returns the steps that FWP offers: all of them for some rounds, then jobs with values from each bucket, and
// then all of them again.
func alphabet(d *explore.Draw, l explore.Law) explore.Generator {
	const first = 1000                     // rounds
	g := &maker{Draw: d, law: l.(*fwpLaw)} //nolint:forcetypeassert // the subject's own
	all := g.alphabet(slices.Concat(moves, g.availableMoves()))
	begin := all
	begin.Done = func() bool { return g.Round > first && !g.Compared }
	begin.Next = func() explore.Generator {
		values := g.values()
		values.Next = func() explore.Generator {
			g.isSteady, g.isPushing, g.runTime, g.ways, g.isExpected, g.plans = false, nil, nil, nil, nil, nil
			return all
		}
		return values
	}
	return begin
}

// alphabet returns steps of some moves.
func (g *maker) alphabet(moves []move) explore.Generator {
	var all []explore.Move
	for _, m := range moves {
		all = append(all, explore.Move{
			Name: m.name, Weight: m.weight, Pause: pauseRounds[m.name],
			Fits: func(conn int) bool { return m.fits(g, conn, g.law.world.Conns[conn]) },
			Make: func(conn int) []explore.Step {
				return g.atMoment(m.name, conn, m.make(g, conn, g.law.world.Conns[conn]))
			},
		})
	}
	return explore.Generator{Moves: all, Open: g.openConn, Control: g.control, Look: g.fetchAll}
}

// move is one kind of thing to do on a connection.
type move struct {
	name   string
	weight float64
	fits   condition
	make   func(g *maker, conn int, w *fwplaw.Conn) []explore.Step
}

// condition reports whether a move may be made on a connection.
type condition func(g *maker, conn int, w *fwplaw.Conn) bool

// pauseRounds are moves that take their time, with the rounds that must lie between two of
// one kind when time is real: some block for two seconds, some write byte by byte.
var pauseRounds = map[string]uint64{
	"fetch-as-anybody": 4000, "fetch-and-wake": 1500, "fetch-and-go": 1500, "two-words": 1500, "default": 1500,
	"queue-pause": 200, "pushb-many": 2500, "alike-queues": 1500, "same-worker": 300, "flush-and-wake": 2500,
	"flush": 2500, "bytes": 150, "cut": 300, "wire": 40,
}

// control has the producer push a job that the worker fetches and acknowledges.
func (g *maker) control() []explore.Step {
	return append([]explore.Step{
		producer(controlProducer),
		consumer(controlWorker, 0),
	}, g.controlJob()...)
}

func (g *maker) controlJob() []explore.Step {
	jid := g.jid()
	return []explore.Step{
		line(controlProducer, `PUSH {"jid":"%s","jobtype":"neighbour","args":[],"queue":"$queue0"}`, jid),
		line(controlWorker, `FETCH $queue0`),
		line(controlWorker, `ACK {"jid":"%s"}`, jid),
	}
}

// openConn opens a connection that has not greeted, of a producer or of a worker.
func (g *maker) openConn(conn int) explore.Step {
	switch g.IntN(8) {
	case 0, 1, 2:
		return build().Open(conn, scenarios.Raw, "")
	case 3:
		return producer(conn)
	}
	if g.workers == 0 || g.IntN(3) > 0 {
		g.workers++
		return consumer(conn, g.workers)
	}
	return consumer(conn, 1+g.IntN(g.workers))
}

// fetchAll has a worker fetch from all queues.
func (g *maker) fetchAll(conn int) []explore.Step {
	if g.law.world.Conns[conn].WID == "" {
		return nil
	}
	var steps []explore.Step
	for range 3 {
		steps = append(steps, line(conn, "FETCH %s", g.allQueues()))
	}
	return steps
}

// allQueues returns the queues in use.
func (g *maker) allQueues() string {
	g.queue()
	return strings.Join(g.queues, " ")
}

func (g *maker) jid() string {
	g.jobs++
	return fmt.Sprintf("$jid%d", g.jobs)
}

// queue names one of a few queues, which are replaced from time to time, or have names that are alike.
func (g *maker) queue() string {
	switch {
	case g.isSteady && len(g.queues) == 0:
		g.lastQueue++
		for _, end := range alikeQueues {
			g.queues = append(g.queues, fmt.Sprintf("$queue%d%s", g.lastQueue, end))
		}
	case !g.isSteady && len(g.queues) < 6:
		g.queues = append(g.queues, g.freshQueue())
	case !g.isSteady && g.IntN(200) == 0:
		g.queues[g.IntN(len(g.queues))] = g.freshQueue()
	}
	return choose(g, g.queues)
}

// readyJobs returns the jobs of [maker.fetchableJobs], sorted.
func (g *maker) readyJobs() []*fwplaw.Job { return slices.SortedFunc(g.fetchableJobs(), byJID) }

// fetchableJobs iterates over the jobs that are certainly enqueued, and for which no FETCH waits.
func (g *maker) fetchableJobs() iter.Seq[*fwplaw.Job] {
	return func(yield func(*fwplaw.Job) bool) {
		for _, q := range g.queues {
			name := g.law.realName(q)
			if g.law.world.HasFetch(name) || g.law.world.MayBePaused(name) {
				continue
			}
			for _, j := range g.law.world.JobsIn(name, g.Now()) {
				if j.States == model.Enqueued && j.Unjudged == fwplaw.Judged && !yield(j) {
					return
				}
			}
		}
	}
}

func byJID(a, b *fwplaw.Job) int {
	if len(a.JID) != len(b.JID) {
		return len(a.JID) - len(b.JID)
	}
	return strings.Compare(a.JID, b.JID)
}

// heldJobs returns the jobs that a worker holds.
func (g *maker) heldJobs(wid string) []*fwplaw.Job {
	if wid == "" {
		return nil
	}
	return g.law.world.HeldJobs(wid)
}

// choose draws from a list.
func choose[T any](g *maker, list []T) T { return list[g.IntN(len(list))] }

// deal draws from those of a list that were drawn least until now under that name.
func deal[T any](g *maker, name string, list []T) T { return list[g.Deal(name, len(list))] }
