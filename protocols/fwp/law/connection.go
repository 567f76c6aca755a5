package law

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Conn is a connection as its client knows it. (Client Lifecycle)
type Conn struct {
	State       fwp.State
	WID         string // of its accepted HELLO, "" for a client that is no worker
	Hi          fwp.Hi
	OpenedAt    time.Time     // zero if that is not known
	ArrivalTime time.Duration // from the first byte of the last reply to its last
	IsGreeted   bool          // HI was received
	Unjudged    Reason        // why what it answers is not judged
	Commands    int
	Decided     law.Decided // by the last reply
	Job         string      // that the last reply brought, "" for none
	LastBeat    time.Time   // when the last BEAT or HELLO was sent that was accepted

	call           *call
	refusedQueues  []string  // queues of the last FETCH that was refused
	refusalOrder   int       // among all commands
	refusalTime    time.Time // when that was
	earlierClause  string    // the clause by which a command is served in spite of earlier commands
	isHalfClosed   bool      // half-closed by the client
	mayEnd         bool      // the server may close it at any time: behind a refusal before HELLO, or a FLUSH (AMB-11)
	isInfoServed   bool      // an INFO was served
	hasSecondHello bool      // a second HELLO was accepted: which worker it is now is not known (AMB-09)
}

// call is a command whose reply is awaited.
type call struct {
	Line
	at              time.Time
	answers         model.Answer
	ownClause       string   // the clause about the command by itself
	isEarlierClause bool     // clause is about an earlier command
	clause          string   // the one that a wrong answer breaks, which may be about an earlier command
	queues          []string // that it may take jobs from, "default" by itself; nil for what is no FETCH
	certainJobs     []*Job   // that were enqueued, and could go to no other client, when a FETCH was sent
	isAlone         bool     // no other client was fetching from its queues when it was sent
	order           int      // among all commands
	kind            model.Case
	hasOtherFetch   bool // a FETCH of another client was under way when it was sent
	// another command that is about the same was under way: either may have been carried out first
	hasOverlap  bool
	mayBePaused bool           // a queue that it names may have been paused meanwhile
	added       *pendingVerb   // nil for a command of the specification
	wasHalted   bool           // nothing has passed for some time while it was under way
	object      map[string]any // of the JSON object that the reply brought; nil for none
}

// newCall returns a command with the answers that it may get on a connection.
func (w *World) newCall(c *Conn, l Line, now time.Time) *call {
	k := &call{Line: l, at: now, order: w.commands, hasOtherFetch: w.hasOtherFetch(c), answers: l.Form,
		ownClause: l.Clause, clause: l.Clause}
	_, isKnown := model.LookupCommand(l.Verb)
	isEarly := c.State == fwp.NotIdentified
	if k.queues = l.fetchQueues(); k.queues != nil { // a server may take any form of it for a FETCH
		k.isAlone = !w.hasRivals(c, k.queues, true)
	}
	switch {
	case w.isExtensionVerb(&l):
		w.allowAdded(c, k, now)
	case c.Unjudged != Judged, !isKnown && w.Shared: // an extension
		k.answers = model.AnyAnswer
	case !isKnown, isEarly && l.Clause == "FWP-FRAME-09": // as the grammar says
	case isEarly && l.Verb != fwp.HELLO:
		if k.allowEarly(w.Protected); l.Form == model.Refused {
			k.kind = model.Malformed
		}
	case l.Form == model.Refused:
		if k.kind = model.Malformed; l.Verb == fwp.HELLO && !isEarly { // what a second one means is open (AMB-09)
			k.answers = model.OkayOrRefused
		}
	case isEarly:
		w.allowHello(c, k)
	default:
		w.allowIdentified(c, k, now)
	}
	return k
}

// allowEarly sets what may be answered to a command before HELLO.
func (k *call) allowEarly(protected bool) {
	kind := model.Usual
	if protected {
		kind = model.Protected
	}
	r := model.FindRule(fwp.NotIdentified, k.Verb, kind)
	k.answers, k.ownClause, k.clause, k.IsRecommendation = r.Answers, r.Clause, r.Clause, false
}

// applyRule sets what may be answered by a rule of the model, and by what the grammar leaves open.
func (k *call) applyRule(c *Conn, r model.Rule) {
	refusal := k.Form & model.Refused
	k.kind, k.answers = r.Case, r.Answers|refusal
	if refusal == 0 || r.Case != model.Usual {
		k.ownClause, k.clause = r.Clause, r.Clause
	}
	const served = model.Okay | model.Data | model.Delivered
	if k.answers&model.Refused == 0 && r.Answers&served != 0 {
		k.clause, k.isEarlierClause = cmp.Or(c.earlierClause, k.clause), c.earlierClause != ""
	}
}

// allowIdentified sets what may be answered to a command that is not malformed, of a client that has greeted.
func (w *World) allowIdentified(c *Conn, k *call, now time.Time) {
	kind, jid := model.Usual, k.text("jid")
	switch k.Verb {
	case fwp.PUSH:
		if w.usedJob(jid) != nil {
			kind = model.UsedJID
		}
	case fwp.FETCH:
		w.allowFetch(c, k, now)
		return
	case fwp.ACK, fwp.FAIL:
		w.allowReport(c, k, w.Jobs[jid], now)
		return
	case fwp.BEAT:
		kind = w.beatCase(c, k)
	}
	k.applyRule(c, model.FindRule(c.State, k.Verb, kind))
	switch {
	case k.Verb != fwp.INFO:
	case !w.isInfoServed: // its documented replies have an error: a server need not serve it at all
		k.clause, k.isEarlierClause, k.answers = k.ownClause, false, k.answers|model.Refused
	case c.Commands > 100 && c.isInfoServed:
		k.clause, k.isEarlierClause = "FWP-LINK-03", true
	}
}

// A server may have no room for a further queue that holds jobs, or for a further job in a queue, if there are as many.
// (AMB-14)
const (
	roomQueues = 16
	roomJobs   = 1000
)

// mayLackRoom reports whether a command is a PUSH of one job, or for one queue, more than a server may have room for.
func (w *World) mayLackRoom(k *call) bool {
	if k.Verb != fwp.PUSH {
		return false
	}
	isLive := func(j *Job) bool { return j.States&^(model.Absent|model.Dead) != 0 }
	jobCount := 0
	for _, j := range w.queues[newJob(k.Fields).Queue] {
		if isLive(j) {
			jobCount++
		}
	}
	if jobCount > 0 {
		return jobCount >= roomJobs
	}
	queueCount := 0
	for _, jobs := range w.queues {
		if slices.ContainsFunc(jobs, isLive) {
			queueCount++
		}
	}
	return queueCount >= roomQueues
}

// followReplyState follows what a reply means for the connection.
func (w *World) followReplyState(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) {
	before := c.State
	if a != model.Refused {
		w.followService(c, k.Verb)
	}
	switch {
	case a == model.Refused: // FWP-STATE-12
	case k.Verb == fwp.END && k.Form == model.Refused: // it may have been carried out
		c.Unjudged = Disallowed
	default:
		c.State = c.State.Next(k.Verb, r)
	}
	if k.Form == model.Okay && a&k.answers&^model.Refused != 0 { // earlier commands have done no harm
		c.earlierClause = ""
	}
	switch {
	case a != model.Refused:
		w.followAcceptance(c, k, a, before)
	case k.answers&model.Refused != 0:
		c.earlierClause, c.mayEnd = "FWP-STATE-12", c.mayEnd || before == fwp.NotIdentified
		if queues := k.fetchQueues(); queues != nil {
			c.refusedQueues, c.refusalOrder, c.refusalTime = queues, k.order, now
		}
		for _, q := range k.fetchQueues() { // if a job does not come, it was taken
			for _, j := range w.queues[q] {
				if j.States == model.Enqueued {
					j.suspectClause = "FWP-STATE-12"
				}
			}
		}
	}
}

// followAcceptance follows what a command means for the connection that was not refused.
func (w *World) followAcceptance(c *Conn, k *call, a model.Answer, before fwp.State) {
	switch {
	case k.Verb == fwp.BEAT:
		c.LastBeat = k.at
		w.followNotice(k, a)
	case k.Verb == fwp.INFO:
		c.isInfoServed = a == model.Data
		w.isInfoServed = w.isInfoServed || c.isInfoServed
	case k.Verb == fwp.HELLO && before != fwp.NotIdentified:
		c.earlierClause = "FWP-HELLO-08"
		if a == model.Okay {
			c.hasSecondHello = true
			w.recordWorker(k)
		}
	case a != model.Okay:
	case k.Verb == fwp.HELLO:
		w.followHello(c, k)
	case k.Verb == fwp.FLUSH:
		c.earlierClause = "FWP-FLUSH-04"
		for _, worker := range w.workers {
			worker.mayBeUnknown = true
		}
		for _, other := range w.Conns {
			other.mayEnd = true
		}
	case k.Verb == fwp.FAIL, k.Verb == fwp.ACK:
		c.earlierClause = "FWP-STATE-10"
	}
}

// judgeClose judges that the server ended a connection; k is the command that it has not
// answered, nil for none.
func (w *World) judgeClose(c *Conn, k *call, now time.Time) *law.Violation {
	v := &law.Violation{Rule: "closed", Expected: "an open connection", Got: "<close>", IsIdleEnd: k == nil}
	switch {
	case w.mayClose(c, k):
		return nil
	case k != nil && k.Verb == fwp.END && k.answers == model.Refused: // it was carried out
		v.Clause, v.Rule, v.Expected = k.clause, "reply", model.Refused.String()
	case k != nil && k.needsError(c): // AMB-11
		v.Clause, v.Rule, v.Expected = k.clause, "no-error", model.Refused.String()
		v.Detail = "a command that must be refused was not answered before the end of the connection"
		switch {
		case v.Clause == "FWP-AUTH-06": // that is about what takes effect
			v.Clause = "FWP-STATE-01"
		case strings.HasPrefix(v.Clause, "FWP-AUTH-"): // the HELLO was declined, only not with an error
			v.Clause = "FWP-HELLO-04"
		}
	case c.State == fwp.Identified && c.WID != "" && now.Sub(c.LastBeat) < model.BeatInterval && !w.IsQuiet(c): // AMB-23
		v.Clause = "FWP-STATE-13"
	default: // AMB-11, AMB-34, AMB-37
		return nil
	}
	if k != nil {
		v.Place = place(k, v.Got)
	}
	return v
}

// mayClose reports whether the server may end a connection, whatever it was sent: it may have been stopped.
func (w *World) mayClose(c *Conn, k *call) bool {
	return w.Shared || c.mayEnd && c.WID == "" || k != nil && k.answers&model.Ended != 0
}

// needsError reports whether the server must send an error before it ends the connection.
// It may do so behind an earlier error, however late, and to a client that is slow to send
// HELLO. (AMB-11, AMB-34)
func (k *call) needsError(c *Conn) bool {
	_, isKnown := model.LookupCommand(k.Verb)
	isSlow := !c.OpenedAt.IsZero() && k.at.Sub(c.OpenedAt) > time.Second
	isEarly := isKnown && c.State == fwp.NotIdentified && c.IsGreeted
	return isEarly && k.answers == model.Refused && !isSlow
}
