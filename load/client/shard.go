package client

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// replyMemory is how many bytes of unfinished replies are kept beside one job for each worker.
const replyMemory = 32 << 20

// DefaultPatience is how long a reply may take before the connection is given up, unless a Config has another time.
const DefaultPatience = 30 * time.Second

// Config is what a shard is made of. What has no zero value named here is needed.
type Config struct {
	Loop     engine.Loop
	Index    int // this shard's place among the shards of the run, from 0
	Shards   int // how many shards there are; 0 is 1
	Workload *plan.Workload
	// Segment is the part of the load that the run is, and whose connections Workload has; the zero value is all of it.
	Segment  plan.Segment
	Jobs     *plan.Jobs
	Recorder *measure.Recorder // of this loop
	Ledger   *ledger.Ledger    // of the run
	Shared   *SharedState      // of the run; nil is one of the shard's own

	Plan     *plan.Plan // of the run; nil is a closed loop
	Overload Overload

	// Speaker makes the client's side of a fresh connection: of a worker with that id, or of
	// a client that only pushes if it is empty.
	Speaker func(worker string) wire.Speaker
	// Tap, if set, returns what gets the bytes of a fresh connection, or nil if nothing does. Its argument is that of
	// Speaker.
	Tap func(worker string) Tap

	Run         string    // its name; part of the worker ids
	EngineStart time.Time // the wall clock's time at the engine's start, for scheduled jobs

	// ConnectRate is how many connections are opened a second, by this shard; 0 is 1000.
	ConnectRate float64
	// Patience is how long a reply may take before the connection is given up; 0 is
	// DefaultPatience. It must be longer than a fetch may block.
	Patience time.Duration
	// History records every push, fetch, ack and fail with its reply, to be completed by
	// [Shard.Complete]; nil is none. A client of it is a connection of the run, which stays
	// the same when it is opened anew.
	History *history.Recorder
	// MaxCalls is how many calls this shard records, but for those in flight when
	// it is reached; 0 is all. A call takes some 300 bytes.
	MaxCalls int64
	// Disrupted says that the target is disrupted while the load goes on: jobs may come back in the drain, and one whose
	// worker has lost its connection is still that worker's, if the protocol has it so.
	Disrupted bool
	// ChurnInfo has short-lived connections ask for info instead of pushing a job.
	ChurnInfo bool
}

// Tap gets what passes on a connection: what the client sends at a time, and each message of the server that its
// Speaker has understood. The bytes are the caller's.
type Tap interface {
	RecordSent(b []byte, at time.Time)
	RecordReceived(message []byte, at time.Time)
}

// Shard is what the connections of one loop share. Its methods may be called inside its
// loop only: in a function given to Engine.Do.
//
// The methods of a shard lead it through a run, in this order: Connect, Prefill, Start,
// then StopPushing, Drain and Stop, or Abandon instead of waiting longer.
// [Shard.Status] reports the progress.
type Shard struct {
	loop          engine.Loop
	index, shards int
	work          plan.Workload
	segment       plan.Segment
	jobs          *plan.Jobs
	recorder      *measure.Recorder
	ledger        *ledger.Ledger
	callLog       *callLog // nil: there is no history
	shared        *SharedState
	speaker       func(worker string) wire.Speaker
	tap           func(worker string) Tap // nil: none
	verb          func(measure.Op) string
	infoParser    wire.InfoParser // nil: the protocol has none
	times         wire.Times
	run           string
	engineStart   time.Time
	patience      time.Duration
	// unfinishedLimit is how many bytes of unfinished replies all connections may keep together.
	unfinishedLimit int64
	plan            *plan.Plan

	share          share
	dispatcher     dispatcher
	opener         opener // of long-lived connections
	cycler         opener // of short-lived connections
	clock          clock
	sweeper        sweeper
	producers      []*producer
	churners       []*churner
	workers        []*worker
	conns          []*conn // all of them
	buffers        [][]byte
	info, lastInfo []byte     // replies to an info; see TakeInfo
	event          wire.Event // the message that is being handled
	pushJob        plan.Push  // the job that is being pushed
	batch          []plan.Push

	someJobsFail bool // some jobs are to fail
	isDisrupted  bool // the target is disrupted on purpose
	keepsJobs    bool // a job is its worker's even if the connection is gone
	disconnects  bool // some clients end their connections
	queuesDiffer bool // the queues are not alike
	isObserving  bool // observers ask
	isFilled     bool // the prefill is done with
	isFetching   bool // workers may fetch
	fetchStart   time.Duration
	loadStart    time.Duration // the first arrival; times in jobs count from it
	drainStart   time.Duration // an empty fetch counts that was sent since then; 0 is not draining
	isStopping   bool
	isSettled    bool // no job is left that a fetch could bring
	isAway       bool // all connections were lost, and none is open again
	fetchers     int  // workers that may fetch

	status         Status
	firstErrors    map[failure]error // the first of each
	breaches       Breaches
	closings       []closing
	pulse          pulse
	longestService time.Duration // the longest service time of a command other than fetch
}

// NewShard makes the connections of a shard; none is opened before Connect. It may be
// called outside of the loop.
func NewShard(config Config) *Shard {
	c := &Shard{
		loop: config.Loop, index: config.Index, shards: max(config.Shards, 1),
		work: config.Workload.WithDefaults(), segment: config.Segment, jobs: config.Jobs,
		recorder: config.Recorder, ledger: config.Ledger, callLog: newRecord(&config), shared: config.Shared,
		run: config.Run, engineStart: config.EngineStart, speaker: config.Speaker, tap: config.Tap,
		patience: config.Patience, plan: config.Plan, firstErrors: make(map[failure]error),
	}
	sample := c.speaker("") // of any connection
	c.verb, c.times = sample.Verb, sample.Times()
	c.infoParser, _ = sample.(wire.InfoParser)
	c.keepsJobs = config.Disrupted && c.times.KeepsJobs
	if c.shared == nil {
		c.shared = new(SharedState)
	}
	if c.patience == 0 {
		c.patience = DefaultPatience
	}
	rate := config.ConnectRate
	if rate <= 0 {
		rate = 1000
	}
	c.opener = opener{shard: c, gap: time.Duration(float64(time.Second) / rate)}
	c.cycler = opener{shard: c}
	c.clock.shard, c.sweeper.shard = c, c
	c.dispatcher.shard, c.dispatcher.overload = c, config.Overload
	c.someJobsFail, c.isDisrupted = c.work.FailShare > 0, config.Disrupted
	c.disconnects = c.jobs.Disconnects()
	shares, _ := c.work.QueueShares()
	c.queuesDiffer = len(shares) > 0
	c.share = shareOf(&c.work, config.ChurnInfo)
	c.unfinishedLimit = replyMemory + int64(c.share.workers)*int64(c.jobs.LargestPayload())
	c.build()
	c.status.OpenConns = len(c.conns)
	return c
}

// share is how many connections of each kind a run has, and when. Shard i of n has those
// with a number k where k%n == i.
type share struct {
	producers            int
	workers              int  // those that fetch
	beaters              int  // workers that only beat
	observers            int  // workers that only ask and beat
	producersOnlyPrefill bool // the producers end when the prefill is done
	workersOnlyDrain     bool // the workers connect when the run drains
	churnInfo            bool
}

// helpersPerKind is how many producers or workers a run adds if its workload has none of them and needs some.
const helpersPerKind = 50

// Helpers returns how many connections a run has beyond those that its workload names:
// to prefill the queues, and to leave them empty.
func Helpers(w *plan.Workload) int {
	s := shareOf(w, false)
	n := 0
	if s.producersOnlyPrefill {
		n += helpersPerKind
	}
	if s.workersOnlyDrain {
		n += helpersPerKind
	}
	return n
}

func shareOf(w *plan.Workload, churnInfo bool) share {
	s := share{churnInfo: churnInfo, producers: w.Producers, workers: w.Consumers}
	if s.producers == 0 && w.Prefill > 0 {
		s.producers, s.producersOnlyPrefill = helpersPerKind, true
	}
	pushes := s.producers > 0 || w.Churn && !churnInfo
	if s.workers == 0 && pushes {
		s.workers, s.workersOnlyDrain = helpersPerKind, true
	}
	if w.BeatOnly {
		s.beaters = w.Connections
	}
	s.observers = w.Observers
	return s
}

// eachIndex goes through the numbers below n that are this shard's.
func (c *Shard) eachIndex(n int, build func(i int)) {
	for i := c.index; i < n; i += c.shards {
		build(i)
	}
}

func (c *Shard) build() {
	c.eachIndex(c.share.producers, func(i int) {
		p := &producer{index: i}
		c.addConn(&p.conn, p, "")
		p.joinHistory()
		c.producers = append(c.producers, p)
	})
	if c.work.Churn {
		c.eachIndex(c.work.Connections, func(i int) {
			s := &churner{index: i}
			c.addConn(&s.conn, s, "")
			s.joinHistory()
			c.churners = append(c.churners, s)
		})
	}
	sets := make(map[string]*queueSet)
	c.eachIndex(c.share.workers+c.share.beaters+c.share.observers, func(i int) { c.addWorker(i, sets) })
}

func (c *Shard) addConn(conn *conn, r role, workerID string) {
	conn.shard, conn.role, conn.workerID, conn.number = c, r, workerID, int32(len(c.conns)*c.shards+c.index)
	conn.UsesBackend = workerID != ""
	c.conns = append(c.conns, conn)
}

// addWorker makes a worker with its places and connections.
func (c *Shard) addWorker(i int, sets map[string]*queueSet) {
	w := &worker{
		shard: c, id: fmt.Sprintf("fwpbench-%s-w%d", c.run, i), isPassive: i >= c.share.workers, latestEmpty: -1,
	}
	c.workers = append(c.workers, w)
	places, pool := 1, c.work.Topology
	switch {
	case i >= c.share.workers+c.share.beaters:
		c.connect(w, dutyObserve|dutyBeat)
		return
	case w.isPassive:
		c.connect(w, dutyBeat)
		return
	case pool.Kind == plan.Pool && !c.share.workersOnlyDrain:
		places = pool.Concurrency
		for range pool.Fetchers {
			c.connect(w, dutyFetch)
		}
		for range pool.Reporters {
			c.connect(w, dutyReport)
		}
		c.connect(w, dutyBeat)
	default:
		c.connect(w, dutyFetch|dutyReport|dutyBeat)
	}
	c.fetchers++
	w.places = make([]place, places)
	w.freePlaces = make([]int32, places)
	for k := range w.freePlaces {
		w.freePlaces[k] = int32(places - 1 - k)
	}
	w.queueSet = c.queueSetOf(i, sets)
}

// queueSetOf returns the queues that a worker asks for. Workers with the same queues share them.
func (c *Shard) queueSetOf(i int, sets map[string]*queueSet) *queueSet {
	names := c.jobs.WorkerQueues(i)
	line := strings.Join(names, " ")
	if a := sets[line]; a != nil {
		return a
	}
	a := &queueSet{queues: wire.Queues{Names: names}}
	for _, queue := range c.jobs.Queues() {
		a.names = append(a.names, slices.Contains(names, queue))
	}
	sets[line] = a
	return a
}

func (c *Shard) connect(w *worker, kinds duties) {
	d := &workerConn{worker: w, duties: kinds}
	c.addConn(&d.conn, d, w.id)
	if kinds&(dutyFetch|dutyReport) != 0 {
		d.joinHistory()
	}
	w.conns = append(w.conns, d)
}

// SharedState is what the shards of a run know together, since a job may reach another shard
// than the one that pushed it, and the memory for replies is that of one process. It takes
// memory only for jobs that failed and were not acknowledged since, and for queues of a
// single job that still have to be asked. The zero value is empty. It is safe for
// concurrent use.
type SharedState struct {
	unfinishedBytes atomic.Int64 // bytes of replies whose rest has not come, of all connections
	queuedJobs      atomic.Int64 // jobs that a closed loop with a backlog has pushed and that were not fetched
	fetchedAt       atomic.Int64 // when the last of them was fetched, or given up, in time of the engine
	disruptedUntil  atomic.Int64 // until when the target is disrupted on purpose, in time of the engine
	openCount       atomic.Int64 // how many jobs were ever in open

	mu       sync.Mutex
	failures map[int64]int // how often job k has failed
	openJobs map[int64]openJob
}

// Disrupt says that the target is disrupted on purpose until a time of the engine: nothing that it does to a connection
// until then, and no reply to a command that was sent until then, is late, missing or without a cause.
func (s *SharedState) Disrupt(until time.Duration) { s.disruptedUntil.Store(int64(until)) }

// isCalm reports whether the target was not disrupted at that time or later.
func (s *SharedState) isCalm(at time.Duration) bool { return int64(at) > s.disruptedUntil.Load() }

// attempts is how often job k has failed so far.
func (s *SharedState) attempts(k int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures[k]
}

// fail notes one more failure of job k.
func (s *SharedState) fail(k int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == nil {
		s.failures = make(map[int64]int)
	}
	s.failures[k]++
}

// forget forgets the failures of job k.
func (s *SharedState) forget(k int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failures, k)
}
