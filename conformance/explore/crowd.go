package explore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
)

// Crowd plays producers and workers side by side and judges the whole history. Target
// must be set; the zero value of everything else works. A Crowd is used once.
//
// Its clients go away now and then, without reading an answer or with jobs in hand, and
// come back. Which of them does what, and when it goes away, follows from the seed. Some
// jobs have a queue of their own, that the server has never heard of, and one more client
// asks all the time how the server is: what it counts changes under its hands.
type Crowd struct {
	// Explorer says where and for how long. Steps counts commands, 3,000 if it and Time
	// are zero; Connections are the workers, 8 if zero.
	Explorer
	Producers int // as many as there are workers if zero
	Queues    int // 4 if zero; a worker has one of them for its own, and mostly asks that
	FailOne   int // of how many jobs one fails; none if zero, because it takes its time to come back

	// Reckless has workers also go away where nobody knows whether they hold a job: with a
	// FETCH under way, or a FAIL. Such a job comes back when its reservation ends, a minute
	// later or more, for which the crowd does not wait: it is left, and undecided. They do
	// that in one more queue, of a few jobs, so that all others are decided.
	Reckless bool

	Known []string // clauses of which nothing more needs to be told

	// Recorded is told of a history that shows something wrong before that is made
	// small, so that it can be saved at once; may be nil.
	Recorded func(*history.History, []history.Finding)
}

// History is what a crowd has brought.
type History struct {
	*history.History
	Report   history.Report
	Findings []Finding
	Commands int
	Took     time.Duration
	Left     []string // jobs that were accepted, and of which nobody knows what became of them
	Dead     bool     // the server serves no more
}

// Run plays, drains, judges and makes small what it found. It blocks until then, or
// until ctx is done: then what has been recorded is judged, and nothing made small.
func (c *Crowd) Run(ctx context.Context) *History {
	m := newCrowd(c)
	m.play(ctx)
	h := m.judged(ctx)
	if m.dead && m.Fresh == nil && m.awaken(ctx) {
		m.dead = false
		m.sweep(ctx, h)
	}
	m.tell(ctx, h)
	h.Took = time.Since(m.begun)
	return h
}

// crowd is one run of a Crowd.
type crowd struct {
	*Crowd
	config *config
	rec    *history.Recorder
	prefix string
	begun  time.Time
	tally  tally
	asked  atomic.Int64 // commands
	opened atomic.Int64 // connections, which are numbered
	news   atomic.Int64 // queues of one job each

	mu      sync.Mutex // guards what follows
	others  map[string]found
	last    []lastWords // what the clients that saw the server die had sent last
	drained bool
	dead    bool
}

// mostCommands is how many commands a crowd sends at all, since all that it did is kept.
const mostCommands = 1_000_000

func newCrowd(c *Crowd) *crowd {
	if c.Steps == 0 && c.Time > 0 {
		c.Steps = mostCommands
	}
	orInt(&c.Steps, 3000)
	orInt(&c.Connections, 8)
	orInt(&c.Producers, c.Connections)
	orInt(&c.Queues, 4)
	m := &crowd{Crowd: c, config: c.config(), rec: history.NewRecorder(), prefix: freshPrefix(), begun: time.Now(), others: map[string]found{}}
	m.tally.waiting, m.tally.rare = make([]int, c.Queues+b2i(c.Reckless)), map[string]int{}
	return m
}

func orInt(n *int, other int) {
	if *n == 0 {
		*n = other
	}
}

// play has all clients do their work. The workers go on until the producers are done
// and nothing is left.
func (m *crowd) play(ctx context.Context) {
	var pushing, working sync.WaitGroup
	done := make(chan struct{})
	for i := range m.Connections {
		working.Go(func() { m.work(ctx, i+1, done) })
	}
	if m.Reckless { // there are servers that die of it, and a short check has others beside it
		working.Go(func() { m.onlook(ctx, m.Connections+m.Producers+1, done) })
	}
	for i := range m.Producers {
		pushing.Go(func() { m.produce(ctx, m.Connections+i+1) })
	}
	pushing.Wait()
	close(done)
	working.Wait()
}

// affords says whether one more job can be pushed, brought and reported.
func (m *crowd) affords() bool {
	if m.Time > 0 && time.Since(m.begun) > m.Time {
		return false
	}
	const each = 3                           // PUSH, FETCH and ACK
	last := m.Connections + each*m.Producers // FETCHes that find nothing, and what other producers begin meanwhile
	due := m.tally.held()                    // jobs that are still to be brought or reported
	return int(m.asked.Load())+(each-1)*due+each+last <= m.Steps
}

// judged is the history, and what it says.
func (m *crowd) judged(ctx context.Context) *History {
	h := &History{History: m.rec.History(), Dead: m.dead}
	h.Drained = m.drained && ctx.Err() == nil
	h.Report = history.Examine(h.History)
	for _, u := range h.Report.Undecided {
		if !u.Unsent {
			h.Left = append(h.Left, u.JID)
		}
	}
	h.Commands = len(h.Events)
	return h
}
