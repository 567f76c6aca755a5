package workerload

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// watch takes the times of what a worker does, at the server: from before a reply is written until after a command was
// read. What the network and the waking of a goroutine take is among the worker's times. Its methods may be called by
// many goroutines at once.
type watch struct {
	startTime time.Time
	isOpen    bool          // loop
	from      time.Duration // since the first fetch: what is to be measured, until 0 with an open end
	until     time.Duration
	jobs      *plan.Jobs
	queues    []string
	server    *fakes.Server

	firstFetch chan struct{} // closed with the first fetch
	done       chan struct{} // closed when all jobs were given and worked
	deliveries chan struct{} // a job was

	mu             sync.Mutex
	recorder       *measure.Recorder
	window         measure.Window
	firstFetchTime time.Duration
	progressTime   time.Duration // when a job was fetched or reported last
	isSourceDone   bool
	// isWithdrawn is set when the jobs that were only to be ready are not given any more.
	isWithdrawn    bool
	account        results.LoadJobs
	jobByNumber    map[int64]*job
	conns          map[int64]*conn
	workers        map[string]*executors
	freshExecutors int               // executors that have not fetched yet
	examples       map[string]string // of jobs that ended in another way than they should, by the kind of error
	connCount      int64
	maxConns       int // connections at a time
	hand           inHand
	ownTime        time.Duration // the server's own part of its replies, and of how many
	ownCount       int64
	beats          int64
	maxBeatGap     time.Duration // without a heartbeat
}

// job is one that was given and not reported yet.
type job struct {
	dueTime      time.Duration
	deliveryTime time.Duration // its delivery
	fails        bool
	isHeld       bool
}

// conn is a connection with the command that is being answered.
type conn struct {
	readTime  time.Duration
	verb      string
	isWaiting bool // a fetch that finds no job
	jid       string
	message   string // of a fail
}

// executors are those of a worker that have no job, in the order in which they became free, and its last heartbeat.
type executors struct {
	idle []freeExecutor
	beat time.Duration
}

// freeExecutor is an executor that is free; one that had fetched in vain does not count.
type freeExecutor struct {
	conn          int64
	since         time.Duration
	hasEmptyFetch bool
}

// inHand adds up how many jobs a worker has in hand, over time.
type inHand struct {
	jobs, peak  int64
	changeTime  time.Duration
	measuredSum float64 // times nanoseconds, while measuring
	totalSum    float64 // the same at any time
}

func newWatch(fresh int) *watch {
	w := &watch{
		startTime: time.Now(), freshExecutors: fresh,
		firstFetch: make(chan struct{}), done: make(chan struct{}), deliveries: make(chan struct{}, 1),
		recorder: measure.NewRecorder(measure.Ops()...), jobByNumber: map[int64]*job{}, conns: map[int64]*conn{},
		workers: map[string]*executors{}, examples: map[string]string{}, window: measure.Window{From: noTime},
	}
	w.recorder.SetWindow(w.window)
	return w
}

// noTime is a moment that does not come.
const noTime = time.Duration(1) << 62

func (w *watch) now() time.Duration { return time.Since(w.startTime) }

// hook is the hook of the server.
func (w *watch) hook(e *fakes.Event) {
	switch e.Point {
	case fakes.Accepted, fakes.LineRead, fakes.Checked, fakes.Writing:
	default:
		return // also where the store is locked
	}
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.conns[e.Conn.ID]
	switch {
	case e.Point == fakes.Accepted:
		w.conns[e.Conn.ID] = new(conn)
		w.connCount++
		w.maxConns = max(w.maxConns, w.server.Connections())
	case e.Point == fakes.LineRead:
		*c, e.Err = conn{readTime: now}, nil // a line without CR, for example, is none of the questions here
	case e.Point == fakes.Checked:
		if e.Object != nil {
			e.Accept() // its fields are none either: fwpcheck worker has them
		}
		if !e.Skip {
			w.command(c, e)
		}
	case e.Point == fakes.Writing && c.verb != "":
		w.reply(c, e, now)
	}
}

// command takes note of a command that is about to be carried out.
func (w *watch) command(c *conn, e *fakes.Event) {
	c.verb = e.Command.Verb
	switch c.verb {
	case fwp.FETCH:
		if e.Queues, e.WaitQueues = w.queues, w.queues; w.isWithdrawn { // whichever it has asked for
			e.Queues, e.WaitQueues = nil, nil
		}
		w.takeFetch(c, e)
	case fwp.ACK, fwp.FAIL:
		c.jid, c.message = e.Object.Text("jid"), e.Object.Text("message")
	case fwp.BEAT:
		w.beats++
		w.beat(cmp.Or(e.Object.Text("wid"), e.Conn.Worker), c.readTime)
	}
}

// takeFetch ends the idle time of an executor: that which has reported on the connection, or else the one that has been
// free for longest. An executor has none before its first fetch, and must not end that of another.
func (w *watch) takeFetch(c *conn, e *fakes.Event) {
	if !isClosed(w.firstFetch) {
		w.begin(c.readTime)
	}
	c.isWaiting = w.account.Pushed == w.account.Delivered
	x := w.worker(e.Conn.Worker)
	i := slices.IndexFunc(x.idle, func(f freeExecutor) bool { return f.conn == e.Conn.ID })
	switch {
	case i < 0 && w.freshExecutors > 0:
		w.freshExecutors--
		return
	case len(x.idle) == 0:
		return // it is ahead of its reports
	}
	i = max(0, i)
	if f := x.idle[i]; !f.hasEmptyFetch {
		w.recorder.Span(measure.Idle, f.since, c.readTime)
	}
	x.idle = slices.Delete(x.idle, i, i+1)
}

// reply takes note of what is about to be written.
func (w *watch) reply(c *conn, e *fakes.Event, now time.Duration) {
	ok := e.Reply.Kind != fwp.ErrorReply
	if ok && !c.isWaiting && (c.jid != "" || c.verb == fwp.FETCH) {
		w.ownTime, w.ownCount = w.ownTime+now-c.readTime, w.ownCount+1
	}
	x := w.worker(e.Conn.Worker)
	switch {
	case c.verb == fwp.HELLO && ok && x.beat == 0:
		x.beat = now
	case c.verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString:
		w.takeDelivery(e.Object.Text("jid"), now)
	case c.verb == fwp.FETCH:
		x.idle = append(x.idle, freeExecutor{conn: e.Conn.ID, hasEmptyFetch: true})
	case c.jid != "" && ok:
		w.takeReport(c)
		x.idle = append(x.idle, freeExecutor{conn: e.Conn.ID, since: now})
	}
	c.verb = ""
}

func (w *watch) worker(wid string) *executors {
	x := w.workers[wid]
	if x == nil {
		x = new(executors)
		w.workers[wid] = x
	}
	return x
}

// beat takes note of a heartbeat.
func (w *watch) beat(wid string, at time.Duration) {
	x := w.worker(wid)
	if x.beat > 0 {
		w.recorder.Span(measure.Beat, x.beat, at)
		w.maxBeatGap = max(w.maxBeatGap, at-x.beat)
	}
	x.beat = at
}

func (w *watch) takeDelivery(jid string, now time.Duration) {
	k, _ := w.jobs.Number(jid)
	j := w.jobByNumber[k]
	if j == nil {
		return
	}
	w.progressTime = now
	if j.deliveryTime > 0 {
		w.account.Redelivered++
	} else {
		w.account.Delivered++
		select {
		case w.deliveries <- struct{}{}:
		default:
		}
		if w.isOpen {
			w.recorder.Job(measure.ToFetched, j.dueTime, now)
		}
	}
	if j.deliveryTime = now; !j.isHeld {
		j.isHeld = true
		w.addInHand(1, now)
	}
}

// takeReport takes note of the end of a job. One that ended in another way than it should is an error.
func (w *watch) takeReport(c *conn) {
	k, ok := w.jobs.Number(c.jid)
	j := w.jobByNumber[k]
	if !ok || j == nil {
		return
	}
	delete(w.jobByNumber, k)
	w.progressTime = c.readTime
	w.addInHand(-1, c.readTime)
	hasFailed := c.verb == fwp.FAIL
	if hasFailed {
		w.account.Failed++
	} else {
		w.account.Acked++
	}
	switch {
	case hasFailed && !j.fails:
		w.recordError(measure.Rejected, c.message)
	case j.fails && !hasFailed:
		w.recordError(measure.Other, "a job of the type fwp.fail was acknowledged")
	default:
		w.recorder.Span(measure.Job, j.deliveryTime, c.readTime)
		if !w.isOpen {
			w.recorder.CountCarried(j.deliveryTime)
		} else {
			if w.window.Holds(j.deliveryTime) { // the drain is no achievement, nor is what was due before the window
				w.recorder.CountCarried(j.dueTime)
			}
			w.recorder.Job(measure.ToAcked, j.dueTime, c.readTime)
		}
	}
	w.closeIfDone()
}

func (w *watch) recordError(kind measure.ErrorKind, message string) {
	w.recorder.CountError(measure.Job, kind)
	w.examples[kind.String()] = cmp.Or(w.examples[kind.String()], message)
}

// addInHand adds to the jobs in hand.
func (w *watch) addInHand(delta int64, now time.Duration) {
	h := &w.hand
	h.totalSum += float64(h.jobs) * float64(now-h.changeTime)
	until := now
	if w.window.Until > 0 {
		until = min(until, w.window.Until)
	}
	if span := until - max(h.changeTime, w.window.From); span > 0 {
		h.measuredSum += float64(h.jobs) * float64(span)
		h.peak = max(h.peak, h.jobs)
	}
	h.jobs, h.changeTime = h.jobs+delta, now
}

// closeIfDone closes done if all jobs were given and worked.
func (w *watch) closeIfDone() {
	if w.isSourceDone && len(w.jobByNumber) == 0 && !isClosed(w.done) {
		close(w.done)
	}
}

// endSource says that there are no more jobs.
func (w *watch) endSource() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isSourceDone = true
	w.closeIfDone()
}

// notePush takes note of a job that is about to be given.
func (w *watch) notePush(k int64, dueTime time.Duration, fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobByNumber[k] = &job{dueTime: dueTime, fails: fails}
	w.account.Pushed++
}

// countWaiting returns how many jobs wait for the worker.
func (w *watch) countWaiting() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.account.Pushed - w.account.Delivered
}

// jobCounts returns how many jobs were given, and reported.
func (w *watch) jobCounts() (pushed, finished int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.account.Pushed, w.account.Pushed - int64(len(w.jobByNumber))
}

// silence returns for how long jobs were there and none was fetched or reported.
func (w *watch) silence() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.jobByNumber) == 0 {
		w.progressTime = w.now()
	}
	return w.now() - w.progressTime
}

// start returns when the first fetch came.
func (w *watch) start() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.firstFetchTime
}

// begin takes note of the first fetch, from which the window counts.
func (w *watch) begin(now time.Duration) {
	w.firstFetchTime, w.progressTime = now, now
	w.window = measure.Window{From: now + w.from}
	if w.until > 0 {
		w.window.Until = now + w.until
	}
	w.recorder.SetWindow(w.window)
	close(w.firstFetch)
}

// closeWindow ends what is measured: now, if that is not to be when it was planned.
func (w *watch) closeWindow(isEarly bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if isEarly {
		w.window.Until = max(w.window.From, w.progressTime)
		w.recorder.SetWindow(w.window)
	}
	w.addInHand(0, w.now())
}

// withdraw takes back the jobs that wait: they were there so that the worker never finds none.
func (w *watch) withdraw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isWithdrawn = true
	for k, j := range w.jobByNumber {
		if j.deliveryTime == 0 {
			delete(w.jobByNumber, k)
			w.account.Pushed--
		}
	}
	w.closeIfDone()
}

// record has something recorded.
func (w *watch) record(f func(*measure.Recorder)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.recorder)
}
