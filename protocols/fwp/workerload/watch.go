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
	began  time.Time
	open   bool          // loop
	from   time.Duration // since the first fetch: what is to be measured, until 0 with an open end
	until  time.Duration
	jobs   *plan.Jobs
	queues []string
	server *fakes.Server

	fetched chan struct{} // closed with the first fetch
	done    chan struct{} // closed when all jobs were given and worked
	taken   chan struct{} // a job was

	mu       sync.Mutex
	recorder *measure.Recorder
	window   measure.Window
	firstAt  time.Duration
	progress time.Duration // when a job was fetched or reported last
	allGiven bool
	// withdrawn is set when the jobs that were only to be ready are not given any more.
	withdrawn bool
	account   results.LoadJobs
	known     map[int64]*job
	conns     map[int64]*conn
	workers   map[string]*executors
	fresh     int               // executors that have not fetched yet
	example   map[string]string // of jobs that ended in another way than they should, by the kind of error
	opened    int64
	most      int // connections at a time
	hand      inHand
	own       time.Duration // the server's own part of its replies, and of how many
	owned     int64
	beats     int64
	longest   time.Duration // without a heartbeat
}

// job is one that was given and not reported yet.
type job struct {
	due   time.Duration
	at    time.Duration // its delivery
	fails bool
	held  bool
}

// conn is a connection with the command that is being answered.
type conn struct {
	read  time.Duration
	verb  string
	waits bool // a fetch that finds no job
	jid   string
	why   string // of a fail
}

// executors are those of a worker that have no job, in the order in which they became free, and its last heartbeat.
type executors struct {
	free []free
	beat time.Duration
}

// free is an executor that is free; one that had fetched in vain does not count.
type free struct {
	conn  int64
	since time.Duration
	vain  bool
}

// inHand adds up how many jobs a worker has in hand, over time.
type inHand struct {
	now, most int64
	at        time.Duration
	sum       float64 // times nanoseconds, while measuring
	all       float64 // the same at any time
}

func newWatch(fresh int) *watch {
	w := &watch{
		began: time.Now(), fresh: fresh,
		fetched: make(chan struct{}), done: make(chan struct{}), taken: make(chan struct{}, 1),
		recorder: measure.NewRecorder(measure.Ops()...), known: map[int64]*job{}, conns: map[int64]*conn{},
		workers: map[string]*executors{}, example: map[string]string{}, window: measure.Window{From: never},
	}
	w.recorder.SetWindow(w.window)
	return w
}

// never is a moment that does not come.
const never = time.Duration(1) << 62

func (w *watch) now() time.Duration { return time.Since(w.began) }

// see is the hook of the server.
func (w *watch) see(e *fakes.Event) {
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
		w.opened++
		w.most = max(w.most, w.server.Connections())
	case e.Point == fakes.LineRead:
		*c, e.Err = conn{read: now}, nil // a line without CR, for example, is none of the questions here
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
		if e.Queues, e.Block = w.queues, w.queues; w.withdrawn { // whichever it has asked for
			e.Queues, e.Block = nil, nil
		}
		w.fetches(c, e)
	case fwp.ACK, fwp.FAIL:
		c.jid, c.why = e.Object.Text("jid"), e.Object.Text("message")
	case fwp.BEAT:
		w.beats++
		w.beat(cmp.Or(e.Object.Text("wid"), e.Conn.Worker), c.read)
	}
}

// fetches ends the idle time of an executor: that which has reported on the connection, or else the one that has been
// free for longest. An executor has none before its first fetch, and must not end that of another.
func (w *watch) fetches(c *conn, e *fakes.Event) {
	if !closed(w.fetched) {
		w.begin(c.read)
	}
	c.waits = w.account.Pushed == w.account.Delivered
	x := w.worker(e.Conn.Worker)
	i := slices.IndexFunc(x.free, func(f free) bool { return f.conn == e.Conn.ID })
	switch {
	case i < 0 && w.fresh > 0:
		w.fresh--
		return
	case len(x.free) == 0:
		return // it is ahead of its reports
	}
	i = max(0, i)
	if f := x.free[i]; !f.vain {
		w.recorder.Span(measure.Idle, f.since, c.read)
	}
	x.free = slices.Delete(x.free, i, i+1)
}

// reply takes note of what is about to be written.
func (w *watch) reply(c *conn, e *fakes.Event, now time.Duration) {
	ok := e.Reply.Kind != fwp.ErrorReply
	if ok && !c.waits && (c.jid != "" || c.verb == fwp.FETCH) {
		w.own, w.owned = w.own+now-c.read, w.owned+1
	}
	x := w.worker(e.Conn.Worker)
	switch {
	case c.verb == fwp.HELLO && ok && x.beat == 0:
		x.beat = now
	case c.verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString:
		w.delivered(e.Object.Text("jid"), now)
	case c.verb == fwp.FETCH:
		x.free = append(x.free, free{conn: e.Conn.ID, vain: true})
	case c.jid != "" && ok:
		w.reported(c)
		x.free = append(x.free, free{conn: e.Conn.ID, since: now})
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
		w.longest = max(w.longest, at-x.beat)
	}
	x.beat = at
}

func (w *watch) delivered(jid string, now time.Duration) {
	k, _ := w.jobs.Number(jid)
	j := w.known[k]
	if j == nil {
		return
	}
	w.progress = now
	if j.at > 0 {
		w.account.Redelivered++
	} else {
		w.account.Delivered++
		select {
		case w.taken <- struct{}{}:
		default:
		}
		if w.open {
			w.recorder.Job(measure.ToFetched, j.due, now)
		}
	}
	if j.at = now; !j.held {
		j.held = true
		w.hold(1, now)
	}
}

// reported takes note of the end of a job. One that ended in another way than it should is an error.
func (w *watch) reported(c *conn) {
	k, own := w.jobs.Number(c.jid)
	j := w.known[k]
	if !own || j == nil {
		return
	}
	delete(w.known, k)
	w.progress = c.read
	w.hold(-1, c.read)
	failed := c.verb == fwp.FAIL
	if failed {
		w.account.Failed++
	} else {
		w.account.Acked++
	}
	switch {
	case failed && !j.fails:
		w.wrong(measure.Rejected, c.why)
	case j.fails && !failed:
		w.wrong(measure.Other, "a job of the type fwp.fail was acknowledged")
	default:
		w.recorder.Span(measure.Job, j.at, c.read)
		if !w.open {
			w.recorder.Carried(j.at)
		} else {
			if w.window.Holds(j.at) { // the drain is no achievement, nor is what was due before the window
				w.recorder.Carried(j.due)
			}
			w.recorder.Job(measure.ToAcked, j.due, c.read)
		}
	}
	w.mayEnd()
}

func (w *watch) wrong(kind measure.ErrorKind, why string) {
	w.recorder.Error(measure.Job, kind)
	w.example[kind.String()] = cmp.Or(w.example[kind.String()], why)
}

// hold adds to the jobs in hand.
func (w *watch) hold(more int64, now time.Duration) {
	h := &w.hand
	h.all += float64(h.now) * float64(now-h.at)
	until := now
	if w.window.Until > 0 {
		until = min(until, w.window.Until)
	}
	if over := until - max(h.at, w.window.From); over > 0 {
		h.sum += float64(h.now) * float64(over)
		h.most = max(h.most, h.now)
	}
	h.now, h.at = h.now+more, now
}

// mayEnd closes done if all jobs were given and worked.
func (w *watch) mayEnd() {
	if w.allGiven && len(w.known) == 0 && !closed(w.done) {
		close(w.done)
	}
}

// given says that there are no more jobs.
func (w *watch) given() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allGiven = true
	w.mayEnd()
}

// pushed takes note of a job that is about to be given.
func (w *watch) pushed(k int64, due time.Duration, fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[k] = &job{due: due, fails: fails}
	w.account.Pushed++
}

// waiting returns how many jobs wait for the worker.
func (w *watch) waiting() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.account.Pushed - w.account.Delivered
}

// counts returns how many jobs were given, and reported.
func (w *watch) counts() (given, finished int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.account.Pushed, w.account.Pushed - int64(len(w.known))
}

// silentFor returns for how long jobs were there and none was fetched or reported.
func (w *watch) silentFor() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) == 0 {
		w.progress = w.now()
	}
	return w.now() - w.progress
}

// start returns when the first fetch came.
func (w *watch) start() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.firstAt
}

// begin takes note of the first fetch, from which the window counts.
func (w *watch) begin(now time.Duration) {
	w.firstAt, w.progress = now, now
	w.window = measure.Window{From: now + w.from}
	if w.until > 0 {
		w.window.Until = now + w.until
	}
	w.recorder.SetWindow(w.window)
	close(w.fetched)
}

// closeWindow ends what is measured: now, if that is not to be when it was planned.
func (w *watch) closeWindow(now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now {
		w.window.Until = max(w.window.From, w.progress)
		w.recorder.SetWindow(w.window)
	}
	w.hold(0, w.now())
}

// withdraw takes back the jobs that wait: they were there so that the worker never finds none.
func (w *watch) withdraw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.withdrawn = true
	for k, j := range w.known {
		if j.at == 0 {
			delete(w.known, k)
			w.account.Pushed--
		}
	}
	w.mayEnd()
}

// record has something recorded.
func (w *watch) record(what func(*measure.Recorder)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what(w.recorder)
}
