package monitor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// apply changes the world by an event that the rules have looked at.
func (w *world) apply(l *look) {
	switch l.Kind {
	case Opened:
		w.conns[l.Conn] = &connState{number: l.Conn, process: l.Process, opened: l.At}
	case Line:
		if l.conn != nil {
			w.applyLine(l)
		}
	case Reply:
		if l.conn != nil {
			w.applyReply(l)
		}
	case Broken:
		if l.conn != nil {
			l.conn.unjudged = true
		}
	case Closed:
		if l.conn != nil {
			w.applyClose(l)
		}
	case Started:
		w.processes[l.Process] = &processState{number: l.Process}
	case Signalled:
		if p := l.process; p != nil && p.signalled == nil {
			p.signalled, p.signal = l.moment(), l.Signal
		}
	case Exited:
		if p := l.process; p != nil {
			p.exited = l.moment()
		}
	case Lost:
		w.applyLost(l)
	case worker:
		w.applySecond(l)
	case Lag:
		w.slack = max(w.slack, w.cfg.Slack+l.Late)
	}
}

func (w *world) applyLine(l *look) {
	c := l.conn
	c.lines++
	c.refused = nil
	m := l.moment()
	cmd := &command{verb: l.Command.Verb, shown: *m}
	cmd.jid, _ = l.Object["jid"].(string)
	if len(c.inFlight) < maxInFlight {
		c.inFlight = append(c.inFlight, cmd)
	} else {
		c.unjudged = true
	}
	switch cmd.verb {
	case fwp.HELLO:
		cmd.hello = readHello(l.Object, *m)
		_, cmd.compared = w.workers[cmd.hello.wid]
		if c.hello == nil {
			c.hello = cmd.hello
		}
		return
	case fwp.END:
		if c.end = m; c.worker != nil {
			c.worker.lastEnd = w.lastEndOf(c.worker, *m)
		}
		return
	case fwp.BEAT:
		cmd.state, _ = l.Object["current_state"].(string)
		c.beats++
		if c.worker != nil {
			c.worker.sendsBeat(l.At, m, cmd.state)
		}
	case fwp.FETCH:
		c.fetches++
		if c.worker != nil {
			c.worker.sendsFetch(w, l)
		}
	case fwp.ACK, fwp.FAIL:
		w.sendsReport(c, cmd)
	}
	c.commands++
}

func (k *workerState) sendsBeat(at time.Duration, m *Moment, state string) {
	if k.beats > 0 && state == "" && !k.stateBeat {
		copy(k.gaps[1:], k.gaps[:])
		k.gaps[0] = at - k.lastBeat
	}
	if k.told() == nil && state != k.claimed && (state == "quiet" || state == "terminate") {
		k.claims, k.claimed = m, state
	}
	k.beats++
	k.lastBeat, k.beat, k.lost, k.silent, k.stateBeat = at, m, false, false, state != ""
}

func (k *workerState) sendsFetch(w *world, l *look) {
	k.fetching++
	k.fetches++
	k.lastFetch, k.starved = l.At, false
	if told := k.told(); told != nil && l.At > told.At+w.grace() {
		k.late++
	}
	if k.unknown != nil {
		k.workedOn++
	}
	if len(w.cfg.Queues) == 0 {
		return
	}
	if k.queues == nil {
		k.queues = map[string]bool{}
	}
	for _, queue := range queuesOf(l.Command) {
		if slices.Contains(w.cfg.Queues, queue) {
			k.queues[queue] = true
		}
	}
}

// queuesOf returns the queues that a FETCH names; a FETCH without any is one of the queue default.
func queuesOf(c fwp.Command) []string {
	if len(c.Args) == 0 {
		return []string{"default"}
	}
	return strings.Fields(string(c.Args)) // line-syntax has superfluous spaces
}

func (w *world) sendsReport(c *connState, cmd *command) {
	d := w.deliveryFor(c.worker, cmd.jid)
	if d == nil {
		return
	}
	cmd.report = d
	d.report, d.pending = &cmd.shown, true
	d.reports++
}

func (w *world) applyReply(l *look) {
	c := l.conn
	if l.Greet {
		c.greeting = l.moment()
		if hi, err := fwp.ParseHi(l.Reply); err == nil {
			c.hi, c.strangeHi = &hi, hasStrangeField(l.Reply.Text)
		}
		return
	}
	if len(c.inFlight) == 0 {
		c.unjudged = true
		return
	}
	cmd := c.inFlight[0]
	c.inFlight = slices.Delete(c.inFlight, 0, 1)
	if c.unjudged {
		return
	}
	c.refused, c.refusedVerb = nil, ""
	if l.Reply.Kind == fwp.ErrorReply {
		c.refused, c.refusedVerb = l.moment(), cmd.verb
	}
	switch cmd.verb {
	case fwp.HELLO:
		w.greeted(l, cmd)
	case fwp.FETCH:
		w.fetched(l)
	case fwp.ACK, fwp.FAIL:
		w.reportAnswered(l, cmd)
	case fwp.BEAT:
		if c.worker != nil {
			c.worker.beatAnswered(l)
		}
	case fwp.PUSH:
		if isOK(l.Reply) && cmd.jid != "" {
			w.pushed.add(cmd.jid)
			w.unsure.drop(cmd.jid)
		}
	}
}

// hasStrangeField reports whether the text of a HI has a field beside v, i and s.
func hasStrangeField(hi []byte) bool {
	for name := range object(bytes.TrimPrefix(hi, []byte("HI "))) {
		if name != "v" && name != "i" && name != "s" {
			return true
		}
	}
	return false
}

func isOK(r fwp.Reply) bool { return r.Kind == fwp.SimpleString && string(r.Text) == "OK" }

func (w *world) greeted(l *look, cmd *command) {
	c := l.conn
	if !isOK(l.Reply) {
		if l.Reply.Kind == fwp.ErrorReply && !c.identified {
			c.declined = l.moment()
		}
		return
	}
	c.identified, c.declined = true, nil
	if l.process != nil {
		l.process.failed = 0
	}
	if cmd.hello.wid == "" || c.worker != nil {
		return
	}
	k := w.workers[cmd.hello.wid]
	if k == nil && len(w.workers) >= maxWorkers {
		delete(w.conns, c.number)
		return
	}
	if k == nil {
		w.joined++
		k = &workerState{
			number: w.joined, wid: cmd.hello.wid, process: c.process, hello: cmd.hello, conns: map[int]*connState{},
		}
		w.workers[k.wid] = k
	}
	if len(k.conns) == 0 {
		k.since, k.lastFetch, k.silent = l.At, l.At, false
	}
	k.conns[c.number] = c
	c.worker = k
	k.unknown, k.workedOn, k.lastEnd = nil, 0, nil
}

func (k *workerState) beatAnswered(l *look) {
	switch fwp.Identified.Next(fwp.BEAT, l.Reply) {
	case fwp.Quiet:
		if k.quiet == nil {
			k.quiet = l.moment()
		}
	case fwp.Terminating:
		if k.terminate == nil {
			k.terminate, k.heldThen = l.moment(), k.running()
		}
	default:
		if k.told() != nil && isOK(l.Reply) && k.unquieted == nil {
			k.unquieted = l.moment()
		}
	}
	if l.Reply.Kind != fwp.ErrorReply {
		k.unknown = nil
		return
	}
	k.lost = true
	if strings.Contains(strings.ToLower(string(l.Reply.Text)), "unknown") {
		k.unknown, k.workedOn = l.moment(), 0
	}
}

// unit is what the rules need of a work unit.
type unit struct {
	JID        string `json:"jid"`
	Type       string `json:"jobtype"`
	ReserveFor *int64 `json:"reserve_for"`
	Args       []any  `json:"args"`
}

const defaultReservation = 1800 * time.Second

func (w *world) fetched(l *look) {
	c := l.conn
	if c.worker != nil {
		c.worker.fetching = max(0, c.worker.fetching-1)
		c.worker.lastFetch, c.worker.fetchRefused = l.At, l.Reply.Kind == fwp.ErrorReply
	}
	if l.Reply.Kind != fwp.BulkString {
		return
	}
	var u unit
	if json.Unmarshal(l.Reply.Text, &u) != nil || u.JID == "" {
		return
	}
	u.JID = brief(u.JID)
	if c.worker != nil && (len(c.worker.held) >= maxHeld || len(w.jobs) >= maxJobs) {
		w.forgotten.add(u.JID)
		return
	}
	d := &delivery{
		jid: u.JID, jobtype: brief(u.Type), worker: c.worker, conn: c.number, at: l.At, shown: l.Moment(),
		reserved: defaultReservation,
	}
	if u.ReserveFor != nil && *u.ReserveFor >= 60 && *u.ReserveFor < 1<<31 {
		d.reserved = time.Duration(*u.ReserveFor) * time.Second
	}
	if w.cfg.Outcome != nil {
		d.outcome = w.cfg.Outcome(u.Type, u.Args)
	}
	w.reported.drop(d.jid)
	if c.worker == nil {
		return // a client without a worker id: no worker holds the job
	}
	c.worker.held = append(c.worker.held, d)
	w.jobs[d.jid] = append(w.jobs[d.jid], d)
}

func (w *world) reportAnswered(l *look, cmd *command) {
	d := cmd.report
	if d == nil {
		return
	}
	d.pending = false
	if l.Reply.Kind == fwp.ErrorReply {
		d.refused = true
		return
	}
	w.reported.add(d.jid)
	w.dropJob(d)
	for _, o := range w.jobs[d.jid] { // its reservation was over, and it was delivered again: one report may be for both
		if o.worker == d.worker && o.report == nil {
			o.report, o.again = &cmd.shown, true
		}
	}
	d.worker.held = slices.DeleteFunc(d.worker.held, func(o *delivery) bool { return o == d })
	if d.worker.fetching == 0 {
		d.worker.lastFetch = l.At
	}
}

func (w *world) applyClose(l *look) {
	c := l.conn
	delete(w.conns, c.number)
	for _, cmd := range c.inFlight {
		if cmd.report != nil {
			cmd.report.pending, cmd.report.again = false, true
		}
		if cmd.verb == fwp.FETCH && c.worker != nil {
			c.worker.fetching = max(0, c.worker.fetching-1)
		}
		if cmd.verb == fwp.PUSH && cmd.jid != "" {
			w.unsure.add(cmd.jid)
		}
	}
	if p := l.process; p != nil {
		p.briefs = briefs(p.briefs, c, l.By)
		if !c.identified && l.By != Client {
			p.failed, p.lastFail = p.failed+1, l.At
		}
	}
	k := c.worker
	if k == nil {
		return
	}
	delete(k.conns, c.number)
	k.briefs = briefs(k.briefs, c, l.By)
	byItself := l.By == Client && !l.Reset
	k.lost = k.lost || !byItself
	k.closes = k.closes || byItself && c.end == nil && c.refused == nil
	if len(k.conns) == 0 {
		k.gone, k.lastClose, k.closedBy, k.ended = l.At, l.moment(), l.By, c.end != nil
	}
}

// briefs counts connections in a row that their client closed after one command, or after one job.
func briefs(n int, c *connState, by Side) int {
	switch {
	case !c.identified || by != Client:
		return n
	case c.commands <= 1, c.commands == 2 && c.fetches == 1: // a FETCH and the report of its job
		return n + 1
	}
	return 0
}

// applySecond keeps what the rules have reported, and whether the server kept a worker waiting.
func (w *world) applySecond(l *look) {
	k := l.worker
	if k.waitsForServer(l.At) {
		k.stalled = l.At
	}
	k.silent = k.silent || k.silentFor(l.At, w.slack)
	k.starved = k.starved || starves(l)
	k.stayed = k.stayed || overstays(l)
	if e := k.lastEnd; e != nil && (k.inUse() > 0 || w.greets(k.process) || l.At-e.at > replaceFor+w.slack) {
		k.lastEnd = nil // it has another connection, or was judged
	}
	k.missed = k.missed || overstays(l) || k.terminate != nil && l.At > k.terminate.At+terminateLimit+w.slack
}

func (w *world) applyLost(l *look) {
	delete(w.conns, l.Conn)
	if l.worker == nil {
		return
	}
	for number := range l.worker.conns {
		delete(w.conns, number)
	}
	w.forget(l.worker)
}
