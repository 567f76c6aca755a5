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
	joined    int                    // workers so far, for their order
}

func newWorld(cfg Config) *world {
	return &world{
		cfg: cfg, slack: cfg.Slack, conns: map[int]*connState{}, workers: map[string]*workerState{},
		processes: map[int]*processState{}, jobs: map[string][]*delivery{},
		reported: newRecent(maxRecent), pushed: newRecent(maxRecent),
	}
}

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
	refused         *Moment // its latest reply, if that is an error
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
	lost      bool // a connection was reset, or closed by the server, since the last BEAT

	beats     int
	lastBeat  time.Duration
	beat      *Moment
	gaps      [3]time.Duration // between its latest BEATs, the latest first; 0 is none
	unknown   *Moment          // the error reply to its latest BEAT
	quiet     *Moment          // the reply that made it quiet
	unquieted *Moment          // the OK to a BEAT after that
	terminate *Moment          // the reply that told it to terminate
	late      int              // FETCHes after quiet or terminate and the time to act on it
	stayed    bool             // it has been reported that it did not leave

	fetching  int           // FETCHes in flight
	lastFetch time.Duration // when it was last fetching, or had no room
	starved   bool          // it has been reported that it does not fetch
	silent    bool          // it has been reported that it does not beat
}

// processState is what is known of a client's process.
type processState struct {
	number    int
	signalled *Moment // its first signal
	signal    string
	exited    *Moment
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
	again        bool    // a connection was lost while a report waited for its reply
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

// deliveryFor returns the delivery that a report of the worker is about: one of its own, or else one of another worker
// or connection, since nothing forbids to report on a connection without a worker id. Nil if there is none.
func (w *world) deliveryFor(k *workerState, jid string) *delivery {
	all := w.jobs[jid]
	if i := slices.IndexFunc(all, func(d *delivery) bool { return d.worker == k }); i >= 0 {
		return all[i]
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

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

// at returns the moment, or the zero Moment for nil.
func at(m *Moment) Moment {
	if m == nil {
		return Moment{}
	}
	return *m
}

func (l *look) moment() *Moment {
	m := l.Moment()
	return &m
}
