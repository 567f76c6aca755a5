package clientrules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

const (
	// absenceLimit is how long a worker without a connection is expected back.
	absenceLimit = 60 * time.Second
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
	cfg              Config
	now              time.Duration
	slack            time.Duration // what limits are widened by
	conns            map[int]*connState
	workers          map[string]*workerState
	processes        map[int]*processState
	jobs             map[string][]*delivery // those that are held, by jid
	reportedJIDs     *recentSet             // jids whose report was accepted
	pushedJIDs       *recentSet             // jids whose PUSH was accepted
	unansweredPushes *recentSet             // jids whose PUSH lost its connection before the reply
	forgottenJIDs    *recentSet             // jids that a worker held when it was forgotten
	lostWIDs         *recentSet             // wids of workers that are not judged any more
	workerCount      int                    // workers so far, for their order
	hasFailedPush    bool                   // a PUSH was refused, or lost its connection before the reply
	hash             passwordHash           // the latest
}

func newWorld(cfg Config) *world {
	return &world{
		cfg: cfg, slack: cfg.Slack, conns: map[int]*connState{}, workers: map[string]*workerState{},
		processes: map[int]*processState{}, jobs: map[string][]*delivery{},
		reportedJIDs: newRecentSet(maxRecent), pushedJIDs: newRecentSet(maxRecent),
		unansweredPushes: newRecentSet(maxRecent), forgottenJIDs: newRecentSet(maxRecent), lostWIDs: newRecentSet(maxRecent),
	}
}

// lag is by how much the machine was late.
func (w *world) lag() time.Duration { return w.slack - w.cfg.Slack }

// grace is how long a client may take to act on what it has read, on a machine that is late.
func (w *world) grace() time.Duration { return w.cfg.Grace + w.lag() }

// connState is what is known of an open connection.
type connState struct {
	number, process   int
	openTime          time.Duration
	greeting          *Moment // the server's first reply
	hi                *fwp.Hi // nil if it was no HI
	hasUnknownHiField bool    // HI has fields that the specification does not have
	lines             int
	hello             *hello // its first HELLO
	isIdentified      bool
	declineReply      *Moment // the reply that refused its HELLO
	worker            *workerState
	inFlight          []*command
	lastCommand       *command      // the latest that got a reply, if no line followed
	replyTime         time.Duration // when it did
	end               *Moment       // the END that it sent
	commands          int           // beside HELLO and END
	fetches, beats    int
	pushes            int
	reports           int     // ACKs and FAILs
	beat              *Moment // its latest BEAT
	hasOrder          bool    // the reply to one of its BEATs had an order
	lastError         *Moment // its latest reply, if that is an error and no line followed
	errorVerb         string  // of the command whose reply was the latest, if that was an error
	hasLateReply      bool    // its latest reply came so late that the client may have given up, and no line followed
}

// hello is what a HELLO says.
type hello struct {
	moment   Moment
	wid      string // "" if it has none, or not as a string
	identity string // hostname, pid and labels, in a form that is equal exactly if they are
}

func readHello(fields map[string]any, moment Moment) *hello {
	h := &hello{moment: moment}
	h.wid, _ = fields["wid"].(string)
	labels, err := json.Marshal(fields["labels"])
	if err != nil || string(labels) == "null" {
		labels = []byte("[]")
	}
	h.identity = fmt.Sprintf("hostname %s, pid %s, labels %s",
		quoteAny(fields["hostname"]), quoteAny(fields["pid"]), labels)
	return h
}

// command is a line that waits for its reply.
type command struct {
	verb        string
	moment      Moment
	jid         string
	hasJID      bool      // it may be empty
	hasMistakes bool      // its syntax is
	errorBefore *Moment   // the error reply to the command before it, if that was the latest reply
	report      *delivery // of ACK and FAIL
	// delivery is the delivery that the reply to a FETCH was.
	delivery *delivery
	hello    *hello
	// isCompared says that the HELLO was held against that of its worker when it was sent.
	isCompared bool
}

// workerState is what is known of a worker, which has a wid and any number of connections.
type workerState struct {
	number  int
	wid     string
	process int
	hello   *hello
	conns   map[int]*connState
	jobs    []*delivery

	connectTime         time.Duration // when it got its first connection, or one after it had none
	disconnectTime      time.Duration // when it lost its last connection
	lastClose           *Moment
	closer              Side
	hasEndedLast        bool          // END was sent on the connection that was closed last
	hasClosedWithoutEnd bool          // it has closed a connection without END, and for no error reply
	hasLostConn         bool          // a connection was reset, or closed by the server, since the last BEAT
	stallTime           time.Duration // when the server last kept it waiting
	briefs              briefs
	lastEnd             *lastEnd // its latest END, if that may have been too early

	beats            int
	beat             *Moment          // the latest
	isBeatConnClosed bool             // the client has closed the connection of the latest
	hasBeatState     bool             // the latest had a current_state
	gaps             [3]time.Duration // between its latest BEATs, the latest first; 0 is none
	beatReplyTime    time.Duration    // when a BEAT last got its reply
	beatPause        time.Duration    // from the reply to the BEAT before the latest to that
	unknownReply     *Moment          // the error reply to its latest BEAT
	refusals         int              // error replies in a row to its latest BEATs, two at most; 0 after a lost connection
	quietReply       *Moment          // the reply that made it quiet
	okAfterQuiet     *Moment          // the OK to a BEAT after that
	terminateReply   *Moment          // the reply that told it to terminate
	claim            *Moment          // the first BEAT with a current_state, if no reply had ordered one before
	claimedState     string

	fetches           int
	fetchesInFlight   int
	fetchesAfterOrder int             // after quiet or terminate and the time to act on it
	waitingFetches    int             // since the order, on the only connection, for which they may have waited before it
	unknownFetches    int             // since its BEAT was refused as that of an unknown worker
	lastFetch         time.Duration   // when it was last fetching, or had no room
	isFetchRefused    bool            // an error was the reply to its latest FETCH
	queues            map[string]bool // of Config.Queues, those that it named
	jobsAtTerminate   int             // jobs that it held when it was told to terminate

	isSilenceReported   bool // that it does not beat
	isIdleReported      bool // that it does not fetch
	isStayReported      bool // that it did not leave
	areJobsLeftReported bool // that it has left jobs
}

// processState is what is known of a client's process.
type processState struct {
	number   int
	queues   []string // in its environment; empty where Config.Queues has them
	signal   *Moment  // its first signal
	isKilled bool     // it was sent KILL, which ends it at once
	exit     *Moment
	briefs   briefs
}

// delivery is a job that a worker got and has not reported.
type delivery struct {
	jid, jobtype  string
	worker        *workerState
	at            time.Duration
	moment        Moment
	reservation   time.Duration
	outcome       Outcome
	report        *Moment // its latest report
	isUnread      bool    // its connection was lost so soon that the worker may not have it
	mayHaveReport bool    // its report may have been sent on a lost connection; see Event.IsUnseenLoss
	isRefused     bool    // an error was the reply to a report
	mayRepeat     bool    // another report is right: a connection was lost, or the job was delivered twice
	reports       int
}

// sortedWorkers returns the workers in the order in which they came.
func (w *world) sortedWorkers() []*workerState {
	byNumber := func(a, b *workerState) int { return cmp.Compare(a.number, b.number) }
	return slices.SortedFunc(maps.Values(w.workers), byNumber)
}

// hasLeft reports whether a worker is not expected back: its process has ended. Where no process is known, the worker
// has sent END behind an order to terminate, or has had no connection for the time absenceLimit.
func (w *world) hasLeft(k *workerState) bool {
	if len(k.conns) > 0 {
		return false
	}
	if p := w.processes[k.process]; p != nil {
		return p.exit != nil
	}
	// the next one of its wid was started anew
	hasEnded := k.terminateReply != nil && k.hasEndedLast && k.countRunning() == 0
	return hasEnded || w.now-k.disconnectTime >= absenceLimit
}

// isReplacedBy reports whether the process of a worker has ended, and another one begins, although the end of a
// connection has not been seen yet.
func (w *world) isReplacedBy(k *workerState, process *processState) bool {
	if k == nil || process == nil || process.number == k.process {
		return false
	}
	p := w.processes[k.process]
	return p != nil && p.exit != nil
}

// isWorkingOffline reports whether a worker has a job and has closed its last connection, while its process runs on: it
// is expected back with a report.
func (w *world) isWorkingOffline(k *workerState) bool {
	p := w.processes[k.process]
	isClosed := len(k.conns) == 0 && k.closer == Client && !k.hasLostConn
	return isClosed && k.countRunning() > 0 && p != nil && p.exit == nil
}

func (w *world) forget(k *workerState) {
	for _, d := range k.jobs {
		w.dropJob(d)
		w.forgottenJIDs.add(d.jid)
	}
	if w.workers[k.wid] == k {
		delete(w.workers, k.wid)
	}
}

func (w *world) dropJob(d *delivery) {
	others := slices.DeleteFunc(w.jobs[d.jid], func(o *delivery) bool { return o == d })
	if len(others) == 0 {
		delete(w.jobs, d.jid)
		return
	}
	w.jobs[d.jid] = others
}

// deliveryFor returns the delivery that a report of the worker is about: one of its own, without a report if there is
// one, or else one of another worker or connection, since nothing forbids to report on a connection without a worker
// id. Nil if there is none.
func (w *world) deliveryFor(k *workerState, jid string) *delivery {
	var best *delivery
	for _, d := range w.jobs[jid] {
		switch {
		case d.worker == k && d.report == nil:
			return d
		case best == nil || d.worker == k && best.worker != k:
			best = d
		}
	}
	return best
}

// order returns the reply that ordered the worker to fetch no more; nil if there was none.
func (k *workerState) order() *Moment { return cmp.Or(k.quietReply, k.terminateReply) }

// isBound reports whether an order to its worker binds the connection: one that sends BEATs of its own gets it there.
func (c *connState) isBound() bool { return c == nil || c.beats == 0 || c.hasOrder }

// maxWaiting is how many executors that share the only connection of a worker may wait for it at an order.
const maxWaiting = 4

// hasWaited reports whether a FETCH may have waited for the only connection of its worker since before an order, behind
// others that did: the connection was never free since then. One that replaces it may be sent the FETCH again that was
// lost with it.
func (w *world) hasWaited(k *workerState, c *connState, order *Moment, at time.Duration) bool {
	const maxGap = 100 * time.Millisecond
	return c != nil && (c.hasOrder || k.waitingFetches > 0) && len(k.conns) == 1 && k.waitingFetches < maxWaiting &&
		at-c.replyTime <= maxGap+w.lag() && at-max(order.At, k.lastFetch) <= longWait+w.lag()
}

// mayCross reports whether a FETCH may have been meant before an order: it comes within the time to act on it, the
// order was not for its connection, or it waited for that.
func (w *world) mayCross(k *workerState, c *connState, order *Moment, at time.Duration) bool {
	return at <= order.At+w.grace() || !c.isBound() || w.hasWaited(k, c, order, at)
}

// countConns returns how many connections the worker has on which it has not sent END.
func (k *workerState) countConns() int {
	n := 0
	for _, c := range k.conns {
		if c.end == nil {
			n++
		}
	}
	return n
}

// isRefused reports whether the latest reply on one of its connections is an error: that may be why it closes another.
func (k *workerState) isRefused() bool {
	return anyValue(k.conns, func(c *connState) bool { return c.lastError != nil })
}

// isRunning reports whether the worker has the job, and has not reported it.
func (d *delivery) isRunning() bool { return d.report == nil && !d.isUnread }

// countRunning returns how many of the jobs that the worker holds have no report.
func (k *workerState) countRunning() int {
	n := 0
	for _, d := range k.jobs {
		if d.isRunning() {
			n++
		}
	}
	return n
}

// unreportedJobs returns the jobs that the worker holds and has not reported, and whose report cannot have been lost.
func (k *workerState) unreportedJobs() (jobs []*delivery) {
	for _, d := range k.jobs {
		if d.isRunning() && !d.mayHaveReport {
			jobs = append(jobs, d)
		}
	}
	return jobs
}

// longWait is how long a client may wait for a reply without a fault of the server: a FETCH blocks for 2 s.
const longWait = 3 * time.Second

// waitsForServer reports whether a command of the worker has waited for its reply for longer than a FETCH may block.
func (k *workerState) waitsForServer(now time.Duration) bool {
	return anyValue(k.conns, func(c *connState) bool {
		return len(c.inFlight) > 0 && now-c.inFlight[0].moment.At > longWait
	})
}

// anyValue reports whether something is true of one of a map's values.
func anyValue[K comparable, V any](all map[K]V, matches func(V) bool) bool {
	for _, value := range all {
		if matches(value) {
			return true
		}
	}
	return false
}

// passwordHash is the hash of a password for a salt and a number of iterations.
type passwordHash struct {
	password, salt string
	iterations     int
	text           string
}

// hashPassword is fwp.PasswordHash. The latest result is kept, since clients of a server with one salt ask for the same
// again.
func (w *world) hashPassword(password, salt string, iterations int) (string, error) {
	key := passwordHash{password, salt, iterations, w.hash.text}
	if w.hash.text != "" && w.hash == key {
		return w.hash.text, nil
	}
	text, err := fwp.PasswordHash(password, salt, iterations)
	if err == nil {
		w.hash = passwordHash{password, salt, iterations, text}
	}
	return text, err
}
