package monitor

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

const (
	// goneFor is how long a worker without a connection is expected back.
	goneFor = 60 * time.Second
	// maxHeld bounds the jobs that are kept of one worker; those after it are not judged.
	maxHeld = 10_000
	// maxJobs bounds those of all workers.
	maxJobs = 100_000
	// maxWorkers bounds the workers; the connections of others are not judged.
	maxWorkers = 10_000
	// maxRecent bounds the ids that are remembered, of jobs that were pushed and of those that were reported.
	maxRecent = 100_000
)

// world is what is known of all clients. Rules read it; apply changes it.
type world struct {
	cfg       Config
	now       time.Duration
	slack     time.Duration // what limits are widened by
	conns     map[int]*connState
	workers   map[string]*workerState
	processes map[int]*processState
	jobs      map[string][]*delivery // those that are held, by jid
	reported  *recent                // jids whose report was accepted
	pushed    *recent                // jids whose PUSH was accepted
	unsure    *recent                // jids whose PUSH lost its connection before the reply
	forgotten *recent                // jids that a worker held when it was forgotten
	joined    int                    // workers so far, for their order
	hash      hashed                 // the latest
}

func newWorld(cfg Config) *world {
	return &world{
		cfg: cfg, slack: cfg.Slack, conns: map[int]*connState{}, workers: map[string]*workerState{},
		processes: map[int]*processState{}, jobs: map[string][]*delivery{},
		reported: newRecent(maxRecent), pushed: newRecent(maxRecent),
		unsure: newRecent(maxRecent), forgotten: newRecent(maxRecent),
	}
}

// grace is how long a client may take to act on what it has read, on a machine that is late.
func (w *world) grace() time.Duration { return w.cfg.Grace + w.slack - w.cfg.Slack }

// connState is what is known of an open connection.
type connState struct {
	number, process int
	opened          time.Duration
	greeting        *Moment // the server's first reply
	hi              *fwp.Hi // nil if it was no HI
	lines           int
	hello           *hello // its first HELLO
	identified      bool
	declined        *Moment // the reply that refused its HELLO
	worker          *workerState
	inFlight        []*command
	end             *Moment // the END that it sent
	commands        int     // beside HELLO and END
	fetches, beats  int
	strangeHi       bool    // HI has fields that the specification does not have
	refused         *Moment // its latest reply, if that is an error and no line followed
	refusedVerb     string
	unjudged        bool // replies and commands cannot be assigned to each other any more
}

// command is a line that waits for its reply.
type command struct {
	verb   string
	shown  Moment
	jid    string
	report *delivery // of ACK and FAIL
	state  string    // current_state of a BEAT
	hello  *hello
	// compared says that the HELLO was held against that of its worker when it was sent.
	compared bool
}

// workerState is what is known of a worker, which has a wid and any number of connections.
type workerState struct {
	number  int
	wid     string
	process int
	hello   *hello
	conns   map[int]*connState
	held    []*delivery

	since     time.Duration // when it got its first connection, or one after it had none
	gone      time.Duration // when it lost its last connection
	lastClose *Moment
	closedBy  Side
	ended     bool // END was sent on the connection that was closed last
	closes    bool // it has closed a connection without END, and for no error reply
	lost      bool // a connection was reset, or closed by the server, since the last BEAT

	beats     int
	lastBeat  time.Duration
	beat      *Moment
	gaps      [3]time.Duration // between its latest BEATs, the latest first; 0 is none
	unknown   *Moment          // the error reply to its latest BEAT
	quiet     *Moment          // the reply that made it quiet
	unquieted *Moment          // the OK to a BEAT after that
	terminate *Moment          // the reply that told it to terminate
	claims    *Moment          // the first BEAT with a current_state, and that, if no reply had told it before
	claimed   string
	late      int  // FETCHes after quiet or terminate and the time to act on it
	stayed    bool // it has been reported that it did not leave

	fetching     int           // FETCHes in flight
	lastFetch    time.Duration // when it was last fetching, or had no room
	fetchRefused bool          // an error was the reply to its latest FETCH
	fetches      int
	queues       map[string]bool // of Config.Queues, those that it named
	starved      bool            // it has been reported that it does not fetch

	stalled   time.Duration // when the server last kept it waiting
	silent    bool          // it has been reported that it does not beat
	stateBeat bool          // its latest BEAT had a current_state
	briefs    int           // connections in a row that carried one command, or one job
	heldThen  int           // jobs that it held when it was told to terminate
	missed    bool          // it has been reported that it has left jobs
	lastEnd   *lastEnd      // its latest END, if that may have been too early
	workedOn  int           // FETCHes since its BEAT was refused as that of an unknown worker
}

// processState is what is known of a client's process.
type processState struct {
	number    int
	signalled *Moment // its first signal
	signal    string
	exited    *Moment
	briefs    int           // connections in a row that carried one command, or one job
	failed    int           // connections in a row that the server closed before they were greeted
	lastFail  time.Duration // when the latest of them was closed
}

// delivery is a job that a worker got and has not reported.
type delivery struct {
	jid, jobtype string
	worker       *workerState // nil if the connection has no worker id
	conn         int
	at           time.Duration
	shown        Moment
	reserved     time.Duration
	outcome      Outcome
	report       *Moment // its latest report
	pending      bool    // that waits for its reply
	refused      bool    // an error was the reply to a report
	again        bool    // another report is no fault: a connection was lost, or the job was delivered twice
	reports      int
}

// look is an event together with what was known before it.
type look struct {
	*Event
	world   *world
	conn    *connState
	worker  *workerState
	process *processState
	asked   *command // of a Reply: the command that it answers; nil if that is not known
}

// verb returns the verb of a line, or of the line that a reply answers.
func (l *look) verb() string {
	switch {
	case l.Kind == Line:
		return l.Command.Verb
	case l.asked != nil:
		return l.asked.verb
	}
	return ""
}

func (w *world) look(e *Event) *look {
	l := &look{Event: e, world: w, conn: w.conns[e.Conn], worker: e.look}
	process := e.Process
	if l.conn != nil {
		process = cmp.Or(process, l.conn.process)
		l.worker = l.conn.worker
		if e.Kind == Reply && !e.Greet && len(l.conn.inFlight) > 0 && !l.conn.unjudged {
			l.asked = l.conn.inFlight[0]
		}
	}
	l.process = w.processes[process]
	if l.conn == nil && l.worker == nil && l.process != nil {
		l.worker = w.workerOf(process)
	}
	return l
}

func (w *world) workerOf(process int) *workerState {
	for _, k := range w.inOrder() {
		if k.process == process {
			return k
		}
	}
	return nil
}

// inOrder returns the workers in the order in which they came.
func (w *world) inOrder() []*workerState {
	if len(w.workers) == 0 {
		return nil
	}
	all := make([]*workerState, 0, len(w.workers))
	for _, k := range w.workers {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *workerState) int { return cmp.Compare(a.number, b.number) })
	return all
}

// hasLeft reports whether a worker is not expected back.
func (w *world) hasLeft(k *workerState) bool {
	if len(k.conns) > 0 {
		return false
	}
	p := w.processes[k.process]
	return p != nil && p.exited != nil || w.now-k.gone >= goneFor
}

func (w *world) forget(k *workerState) {
	for _, d := range k.held {
		w.dropJob(d)
		w.forgotten.add(d.jid)
	}
	delete(w.workers, k.wid)
}

func (w *world) dropJob(d *delivery) {
	left := slices.DeleteFunc(w.jobs[d.jid], func(o *delivery) bool { return o == d })
	if len(left) == 0 {
		delete(w.jobs, d.jid)
		return
	}
	w.jobs[d.jid] = left
}

// deliveryFor returns the delivery that a report of the worker is about: one of its own, without a report if there is
// one, or else one of another worker or connection, since nothing forbids to report on a connection without a worker
// id. Nil if there is none.
func (w *world) deliveryFor(k *workerState, jid string) *delivery {
	all := w.jobs[jid]
	for _, that := range []func(*delivery) bool{
		func(d *delivery) bool { return d.worker == k && d.report == nil },
		func(d *delivery) bool { return d.worker == k },
	} {
		if i := slices.IndexFunc(all, that); i >= 0 {
			return all[i]
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

// told returns the reply that told the worker to fetch no more; nil if there was none.
func (k *workerState) told() *Moment {
	if k.quiet != nil {
		return k.quiet
	}
	return k.terminate
}

// inUse returns how many connections the worker has on which it has not sent END.
func (k *workerState) inUse() int {
	n := 0
	for _, c := range k.conns {
		if c.end == nil {
			n++
		}
	}
	return n
}

// running returns how many of the jobs that the worker holds have no report.
func (k *workerState) running() int {
	n := 0
	for _, d := range k.held {
		if d.report == nil {
			n++
		}
	}
	return n
}

// waitsForServer reports whether a command of the worker has waited for its reply for longer than a FETCH may block.
func (k *workerState) waitsForServer(now time.Duration) bool {
	for _, c := range k.conns {
		if len(c.inFlight) > 0 && now-c.inFlight[0].shown.At > 3*time.Second {
			return true
		}
	}
	return false
}

// isSignalled reports whether the worker's process was sent a signal.
func (l *look) isSignalled() bool { return l.process != nil && l.process.signalled != nil }

// breach makes a breach of the look and of what a rule says about it.
func (l *look) breach(name string, j judgement) Breach {
	b := Breach{Name: name, At: l.At, Conn: l.Conn, Process: l.Process, Text: j.wrong}
	if l.worker != nil {
		b.Worker = l.worker.wid
		b.Process = cmp.Or(b.Process, l.worker.process)
	}
	for _, m := range j.shown {
		if m != (Moment{}) {
			b.Shown = append(b.Shown, m)
		}
	}
	if l.Kind != worker && l.Kind != left && l.Kind != Passed {
		b.Shown = append(b.Shown, l.Moment())
	}
	slices.SortStableFunc(b.Shown, func(a, c Moment) int { return cmp.Compare(a.At, c.At) })
	return b
}

func (l *look) moment() *Moment {
	m := l.Moment()
	return &m
}

// passwordHash is fwp.PasswordHash with the Config's password. The latest result is kept, since clients of a server
// with one salt ask for the same again.
func (w *world) passwordHash(salt string, iterations int) (string, error) {
	if w.hash.text != "" && w.hash.salt == salt && w.hash.iterations == iterations {
		return w.hash.text, nil
	}
	text, err := fwp.PasswordHash(w.cfg.Password, salt, iterations)
	if err == nil {
		w.hash = hashed{salt, iterations, text}
	}
	return text, err
}

type hashed struct {
	salt       string
	iterations int
	text       string
}
