package law

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// World is what clients know of a server from what they have sent it and received
// back. Make one with [NewWorld]. It is not safe for concurrent use.
//
// What cannot be known, such as the effect of a command without a reply or whether a consumer that left was given a
// job, is allowed in every way.
type World struct {
	Protected bool   // the server asks for a password
	Password  string // the right one
	// clients that are not seen use the same jobs and workers, and there are operators
	Shared           bool
	Patience         time.Duration          // for what the specification calls eventual; 150 s if zero
	Slack            time.Duration          // by which a reply may be late for reasons of the network
	Server           *law.History           // what other plays have done; nil: that is not known
	HasExtensionVerb func(verb string) bool // verbs that an extension adds; nil: there are none

	Conns map[int]*Conn
	Jobs  map[string]*Job

	workers          map[string]*worker
	orders           int // of operators, to any worker
	queues           map[string][]*Job
	phrases          []string             // names of queues that have several words
	acceptedQueues   map[string]bool      // names of queues that the server has taken a job for
	workerJobs       map[string][]*Job    // by worker
	fetchTimes       map[string]time.Time // when a FETCH of several under way from a queue was answered last
	hashes           []string
	salts            map[string]bool
	abandonedFetches []abandonedFetch
	failures         []failTexts     // of the last FAILs
	clock            law.Clock       // of the server
	commands         int             // commands
	wakeTime         time.Time       // when a FETCH that had waited was answered last
	maxCommandTime   time.Duration   // that a command took, while no FETCH waited, at the most
	isInfoServed     bool            // an INFO was served, on any connection
	reportedFields   map[string]bool // clauses and places of fields that differ
	hasOtherBytes    bool            // a command was no UTF-8
	hasUnknownJobs   bool            // a command was accepted that had to be refused: the queues may hold more than Jobs
	existingQueues   map[string]bool // queues that have certainly had a job in them since they were removed
	pausedQueues     map[string]int  // queues that may be: since how many commands were sent, or perhaps
	stops            int             // of the server, on purpose
	isJobLost        bool            // a job did not come that no refused command was about
	// the arguments of PUSHes that had to be refused and were accepted, no more than wrongJobLimit
	wrongJobs []string
}

// NewWorld returns a world in which nothing has happened yet.
func NewWorld() *World {
	return &World{
		Patience: model.Patience, Conns: map[int]*Conn{}, Jobs: map[string]*Job{}, workers: map[string]*worker{},
		queues: map[string][]*Job{}, fetchTimes: map[string]time.Time{}, workerJobs: map[string][]*Job{},
		salts:          map[string]bool{},
		acceptedQueues: map[string]bool{}, reportedFields: map[string]bool{}, existingQueues: map[string]bool{},
		pausedQueues: map[string]int{},
	}
}

// Open begins a connection.
func (w *World) Open(conn int) { w.Conns[conn] = &Conn{} }

// anyConn reports whether there is a connection of which something is true.
func (w *World) anyConn(matches func(c *Conn) bool) bool {
	for _, c := range w.Conns {
		if matches(c) {
			return true
		}
	}
	return false
}

// Greet judges the first reply of a connection. (Not Identified State)
func (w *World) Greet(conn int, r fwp.Reply) *law.Violation {
	c := w.Conns[conn]
	c.IsGreeted = true
	text, isHi := strings.CutPrefix(string(r.Text), "HI ")
	f := number.Object([]byte(text))
	salt, hasSalt := f["s"].(string)
	rounds, hasRounds := integer(f["i"])
	c.Hi = fwp.Hi{Salt: salt, Iterations: int(rounds), Protected: hasSalt && hasRounds}
	v := &law.Violation{Rule: "greeting", Expected: `+HI {"v":2}`, Got: string(r.Kind) + string(r.Text)}
	switch {
	case r.Kind == fwp.ErrorReply: // a limit of connections
		return nil
	case r.Kind != fwp.SimpleString, !isHi, f == nil, text[0] != '{', text[len(text)-1] != '}':
		v.Clause = "FWP-HI-02"
	case f["v"] != json.Number("2"):
		v.Clause = "FWP-HI-03"
	default:
		return w.judgeChallenge(c, f, v)
	}
	return v
}

// judgeChallenge judges the fields of a HI that are for passwords; v is filled in. (Required
// Fields for Protected Server)
func (w *World) judgeChallenge(c *Conn, f map[string]any, v *law.Violation) *law.Violation {
	_, hasRounds := f["i"]
	_, hasSalt := f["s"].(string)
	const saltedHi = `+HI {"v":2,"i":int(1..),"s":string}`
	switch {
	case isMalformed(f):
		v.Clause, v.Expected = "FWP-HI-05", saltedHi
	case w.Shared && !hasSalt: // whether there is a password is not known
		return nil
	case w.Protected && !c.Hi.Protected:
		v.Clause, v.Expected = "FWP-HI-04", saltedHi
	case !w.Protected && !w.Shared && (hasRounds || f["s"] != nil):
		v.Clause, v.Expected = "FWP-HI-04", `+HI {"v":2,"i":absent,"s":absent}`
	case c.Hi.Protected && (w.salts[c.Hi.Salt] || len(c.Hi.Salt) >= longSalt && w.Server.Repeats(c.Hi.Salt, "")):
		v.Clause, v.Rule, v.Detail = "FWP-AUTH-05", "salt", "the salt of an earlier connection came again"
	default:
		w.keepSalt(c.Hi.Salt)
		return nil
	}
	return v
}

// longSalt is the length of a salt that does not come twice by chance among the connections of a run.
const longSalt = 12

// isMalformed reports whether the fields of a HI that are for passwords have other values than such fields can have.
func isMalformed(f map[string]any) bool {
	_, hasRounds := f["i"]
	_, hasSalt := f["s"].(string)
	rounds, isCount := integer(f["i"])
	return hasRounds && (!isCount || rounds < 1) || f["s"] != nil && !hasSalt
}

// keepSalt remembers a salt, which must not come again.
func (w *World) keepSalt(salt string) {
	if w.Shared && len(w.salts) > storeLimit {
		clear(w.salts)
		w.hashes = nil
	}
	w.salts[salt] = true
}

// FollowCommand records a command, its line given without CRLF, and returns the clause about it
// that holds whatever came before.
func (w *World) FollowCommand(conn int, line []byte, now time.Time) (clause string) {
	c := w.Conns[conn]
	c.Commands++
	w.commands++
	w.hasOtherBytes = w.hasOtherBytes || !utf8.Valid(line)
	c.call = w.newCall(c, ReadLine(line), now)
	w.overlap(c)
	w.shareJob(c.call)
	return c.call.ownClause
}

// Expects returns the set of answers that the awaited reply may be.
func (w *World) Expects(conn int) model.Answer {
	if k := w.Conns[conn].call; k != nil {
		return k.answers
	}
	return 0
}

// Situation names what the command whose reply is awaited meets, "" for none and for a verb that
// the specification does not have. (package model)
func (w *World) Situation(conn int) string {
	c := w.Conns[conn]
	if c.call == nil {
		return ""
	}
	if _, ok := model.LookupCommand(c.call.Verb); !ok {
		return ""
	}
	return model.Situation(c.State != fwp.NotIdentified, c.call.Verb, c.call.kind)
}

// FollowReply judges the reply to the command that was sent last, and follows it.
func (w *World) FollowReply(conn int, r fwp.Reply, now time.Time) (model.Answer, *law.Violation) {
	c := w.Conns[conn]
	k := c.call
	c.call = nil
	a := k.answer(r)
	w.allowExpired(c, k, now)
	c.Decided, c.Job = w.decide(c, k, a, r), k.deliveredJID()
	v, answered := cmp.Or(w.judgeText(k, a, r), w.judgeReply(c, k, a, r, now)), a
	if IsAssumed(a, k.answers) {
		a = model.Okay
	}
	if a&k.answers == 0 {
		w.unjudgeEffects(c, k, a, now)
	}
	w.followReplyState(c, k, a, r, now)
	w.followFetch(k, now)
	switch {
	case k.Verb == fwp.FLUSH:
		w.followFlush(c, k, a)
	case k.added != nil:
		if addedViolation := w.followAdded(c, k, a, r.Text, now); v == nil {
			v = addedViolation
		}
	case !k.isFollowed(c):
		if a != model.Refused {
			w.RecordUnfollowed(append(append(k.bytes(), '\n'), r.Text...), Disallowed, now)
		}
	case k.Verb == fwp.PUSH && k.Fields != nil:
		w.followPush(c, k, a, now)
	case k.Verb == fwp.ACK, k.Verb == fwp.FAIL:
		w.followReport(c, k, a, now)
	}
	return answered, v
}

// IsAssumed reports whether a reply that is none of the command's is taken for the one that it must have, an OK: it is
// told, and what follows is judged.
func IsAssumed(a, allowed model.Answer) bool { return a == model.Foreign && allowed == model.Okay }

// followFlush follows the answer to a FLUSH.
func (w *World) followFlush(c *Conn, k *call, a model.Answer) {
	clause := "FWP-FLUSH-01"
	if k.Form == model.Refused {
		clause = "FWP-FLUSH-03"
	}
	w.overlapAll(c, fwp.PUSH)
	if a == model.Okay {
		w.Server.EndAllJobs("FWP-FLUSH-02")
	}
	if a != model.Refused {
		w.forgetQueues()
	}
	for _, j := range w.Jobs {
		switch a {
		case model.Okay:
			j.applyEvent(model.Enqueued, model.Flush)
			j.dueTime, j.flushOrder = time.Time{}, w.commands
			if j.pushOrder >= k.order { // it may have come behind the FLUSH
				j.Unjudged = PerhapsFlushed
			}
		case model.Refused:
			if j.ackClause = clause; j.States == model.Enqueued {
				j.suspectClause = cmp.Or(j.suspectClause, clause) // a FETCH takes one, a FLUSH all: that shows
			}
		}
	}
}

// unjudgeEffects stops judging what a command may have changed whose answer is not allowed:
// one bug is one finding.
func (w *World) unjudgeEffects(c *Conn, k *call, a model.Answer, now time.Time) {
	verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(string(k.bytes()))), " ") // whatever blanks are before it
	verb = strings.TrimSpace(verb)
	if verb == fwp.ACK || verb == fwp.FAIL {
		if j := w.Jobs[fwp.JIDOf(k.Args)]; j != nil && (a == model.Refused || verb != k.Verb) {
			j.Unjudged = Disallowed
		}
	}
	if a == model.Refused {
		return
	}
	switch verb {
	case fwp.HELLO:
		c.Unjudged, w.hasUnknownJobs = Disallowed, true
	case fwp.PUSH:
		w.hasUnknownJobs = true
		if len(w.wrongJobs) < wrongJobLimit {
			w.wrongJobs = append(w.wrongJobs, string(k.Args))
		}
	case fwp.FLUSH:
		unjudge(maps.Values(w.Jobs), Disallowed)
	case fwp.FETCH: // it may have taken any job, and a job that came is held now
		for _, q := range append(Words(string(k.Args)), "default") {
			unjudge(slices.Values(w.queues[q]), Disallowed)
		}
		if j := w.Jobs[k.deliveredJID()]; j != nil && a == model.Delivered {
			j.deliver(c, k, now)
		}
	}
}

// wrongJobLimit is how many PUSHes are remembered that had to be refused.
const wrongJobLimit = 1000

// judgeReply compares a reply with what is allowed.
func (w *World) judgeReply(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) *law.Violation {
	switch {
	case a&k.answers == 0 && !c.isHalfClosed && (a != model.Refused || !k.IsRefusable() && !k.IsLong() &&
		!w.mayLackRoom(k)):
		return w.replyViolation(c, k, a, r, now)
	case c.Unjudged != Judged, c.isHalfClosed && a != model.Delivered:
		return nil
	case a == model.Delivered:
		return w.judgeDelivery(c, k, now)
	case a == model.NullReply:
		return w.judgeEmpty(k, now)
	case a == model.Notified:
		return w.judgeState(k, r)
	case w.isStalled(c, k, a, now):
		return &law.Violation{
			Clause: "FWP-FETCH-06", Rule: "stalled", Doubtful: true, Window: [2]time.Duration{0, time.Second},
			Expected: k.answers.String(), Got: "a reply after " + now.Sub(k.at).String(),
			Detail: "while a FETCH of another connection waited, this one was not served",
		}
	}
	return nil
}

// Close records the end of a connection, and judges it if the server was the one that
// ended it.
func (w *World) Close(conn int, byServer bool, now time.Time) *law.Violation {
	c := w.Conns[conn]
	delete(w.Conns, conn)
	w.followDisconnect(c.WID)
	if c.call != nil {
		w.followLoss(c, c.call, now)
	}
	if !byServer || c.Unjudged != Judged || c.isHalfClosed || c.State == fwp.Ended {
		return nil
	}
	if c.call != nil && c.call.at.After(now) { // it was sent on a connection that had ended
		return w.judgeClose(c, nil, now)
	}
	return w.judgeClose(c, c.call, now)
}

// Unjudge ends the judging of a job, or of all jobs if jid is empty.
func (w *World) Unjudge(jid string, reason Reason) {
	for _, j := range w.Jobs {
		if jid == "" || j.JID == jid {
			j.Unjudged = reason
		}
	}
}

// Shut records that the client has closed its half of a connection: the server may
// answer or not.
func (w *World) Shut(conn int) { w.Conns[conn].isHalfClosed = true }

// HeldJobs returns the jobs that a worker holds for certain, in the order of their delivery.
func (w *World) HeldJobs(wid string) []*Job {
	jobs := w.workerJobs[wid][:0]
	for _, j := range w.workerJobs[wid] {
		if j.States == model.Working && j.Holder == wid && j.Unjudged == Judged {
			jobs = append(jobs, j)
		}
	}
	if w.workerJobs[wid] = jobs; len(jobs) == 0 {
		delete(w.workerJobs, wid)
	}
	return jobs
}
