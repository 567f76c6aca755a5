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
	Protected bool                   // the server asks for a password
	Password  string                 // the right one
	Shared    bool                   // clients that are not seen use the same jobs and workers, and there are operators
	Patience  time.Duration          // for what the specification calls eventual; 150 s if zero
	Slack     time.Duration          // by which a reply may be late for reasons of the network
	Server    *law.Server            // what other plays have done; nil: that is not known
	Adds      func(verb string) bool // verbs that a profile adds; nil: there are none

	Conns map[int]*Conn
	Jobs  map[string]*Job

	workers     map[string]*worker
	orders      int // of operators, to any worker
	queues      map[string][]*Job
	phrases     []string             // names of queues that have several words
	taken       map[string]bool      // names of queues that the server has taken a job for
	working     map[string][]*Job    // by worker
	fetched     map[string]time.Time // when a FETCH of several under way from a queue was answered last
	hashes      []string
	salts       map[string]bool
	abandoned   []abandonedFetch
	failures    []words         // of the last FAILs
	clock       law.Clock       // of the server
	sent        int             // commands
	woken       time.Time       // when a FETCH that had waited was answered last
	pace        time.Duration   // that a command took, while no FETCH waited, at the most
	informed    bool            // an INFO was served, on any connection
	told        map[string]bool // clauses and places of fields that differ
	otherBytes  bool            // a command was no UTF-8
	unknownJobs bool            // a command was accepted that had to be refused: the queues may hold more than Jobs
	existing    map[string]bool // queues that have certainly had a job in them since they were removed
	paused      map[string]int  // queues that may be: since how many commands were sent, or perhaps
	stops       int             // of the server, on purpose
	vanished    bool            // a job did not come that no refused command was about
	wrongJobs   []string        // the arguments of PUSHes that had to be refused and were accepted, no more than mostWrong
}

// NewWorld returns a world in which nothing has happened yet.
func NewWorld() *World {
	return &World{
		Patience: model.Patience, Conns: map[int]*Conn{}, Jobs: map[string]*Job{}, workers: map[string]*worker{},
		queues: map[string][]*Job{}, fetched: map[string]time.Time{}, working: map[string][]*Job{}, salts: map[string]bool{},
		taken: map[string]bool{}, told: map[string]bool{}, existing: map[string]bool{}, paused: map[string]int{},
	}
}

// Open begins a connection.
func (w *World) Open(conn int) { w.Conns[conn] = &Conn{} }

// some reports whether there is a connection of which something is true.
func (w *World) some(is func(c *Conn) bool) bool {
	for _, c := range w.Conns {
		if is(c) {
			return true
		}
	}
	return false
}

// Greet judges the first reply of a connection. (Not Identified State)
func (w *World) Greet(conn int, r fwp.Reply) *law.Violation {
	c := w.Conns[conn]
	c.Greeted = true
	text, named := strings.CutPrefix(string(r.Text), "HI ")
	f := number.Object([]byte(text))
	salt, salted := f["s"].(string)
	rounds, counted := integer(f["i"])
	c.Hi = fwp.Hi{Salt: salt, Iterations: int(rounds), Protected: salted && counted}
	v := &law.Violation{Rule: "greeting", Expected: `+HI {"v":2}`, Got: string(r.Kind) + string(r.Text)}
	switch {
	case r.Kind == fwp.ErrorReply: // a limit of connections
		return nil
	case r.Kind != fwp.SimpleString, !named, f == nil, text[0] != '{', text[len(text)-1] != '}':
		v.Clause = "FWP-HI-02"
	case f["v"] != json.Number("2"):
		v.Clause = "FWP-HI-03"
	default:
		return w.challenge(c, f, v)
	}
	return v
}

// challenge judges the fields of a HI that are for passwords; v is filled in. (Required
// Fields for Protected Server)
func (w *World) challenge(c *Conn, f map[string]any, v *law.Violation) *law.Violation {
	_, some := f["i"]
	_, salted := f["s"].(string)
	const both = `+HI {"v":2,"i":int(1..),"s":string}`
	switch {
	case malformed(f):
		v.Clause, v.Expected = "FWP-HI-05", both
	case w.Shared && !salted: // whether there is a password is not known
		return nil
	case w.Protected && !c.Hi.Protected:
		v.Clause, v.Expected = "FWP-HI-04", both
	case !w.Protected && !w.Shared && (some || f["s"] != nil):
		v.Clause, v.Expected = "FWP-HI-04", `+HI {"v":2,"i":absent,"s":absent}`
	case c.Hi.Protected && (w.salts[c.Hi.Salt] || len(c.Hi.Salt) >= longSalt && w.Server.Repeats(c.Hi.Salt, "")):
		v.Clause, v.Rule, v.What = "FWP-AUTH-05", "salt", "the salt of an earlier connection came again"
	default:
		w.keepSalt(c.Hi.Salt)
		return nil
	}
	return v
}

// longSalt is the length of a salt that does not come twice by chance among the connections of a run.
const longSalt = 12

// malformed reports whether the fields of a HI that are for passwords have other values than such fields can have.
func malformed(f map[string]any) bool {
	_, some := f["i"]
	_, salted := f["s"].(string)
	rounds, counted := integer(f["i"])
	return some && (!counted || rounds < 1) || f["s"] != nil && !salted
}

// keepSalt remembers a salt, which must not come again.
func (w *World) keepSalt(salt string) {
	if w.Shared && len(w.salts) > mostKept {
		clear(w.salts)
		w.hashes = nil
	}
	w.salts[salt] = true
}

// Sent records a command, its line given without CRLF, and returns the clause about it
// that holds whatever came before.
func (w *World) Sent(conn int, line []byte, now time.Time) (clause string) {
	c := w.Conns[conn]
	c.Commands++
	w.sent++
	w.otherBytes = w.otherBytes || !utf8.Valid(line)
	c.call = w.allow(c, ReadLine(line), now)
	w.overlap(c)
	w.shares(c.call)
	return c.call.own
}

// Expects returns the set of answers that the awaited reply may be.
func (w *World) Expects(conn int) model.Answer {
	if k := w.Conns[conn].call; k != nil {
		return k.allowed
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
	if _, known := model.About(c.call.Verb); !known {
		return ""
	}
	return model.Situation(c.State != fwp.NotIdentified, c.call.Verb, c.call.kind)
}

// Replied judges the reply to the command that was sent last, and follows it.
func (w *World) Replied(conn int, r fwp.Reply, now time.Time) (model.Answer, *law.Violation) {
	c := w.Conns[conn]
	k := c.call
	c.call = nil
	a := k.answer(r)
	w.expired(c, k, now)
	c.Decided, c.Job = w.decided(c, k, a, r), k.brought()
	v, answered := cmp.Or(w.garbled(k, a, r), w.judged(c, k, a, r, now)), a
	if Assumed(a, k.allowed) {
		a = model.Okay
	}
	if a&k.allowed == 0 {
		w.disallowed(c, k, a, now)
	}
	w.moved(c, k, a, r, now)
	w.overtook(k, now)
	switch {
	case k.Verb == fwp.FLUSH:
		w.flushed(c, k, a)
	case k.added != nil:
		if more := w.applied(c, k, a, r.Text, now); v == nil {
			v = more
		}
	case !k.follows(c):
		if a != model.Refused {
			w.Unfollowed(append(append(k.bytes(), '\n'), r.Text...), Disallowed, now)
		}
	case k.Verb == fwp.PUSH && k.Fields != nil:
		w.pushed(c, k, a, now)
	case k.Verb == fwp.ACK, k.Verb == fwp.FAIL:
		w.reported(c, k, a, now)
	}
	return answered, v
}

// Assumed reports whether a reply that is none of the command's is taken for the one that it must have, an OK: it is
// told, and what follows is judged.
func Assumed(a, allowed model.Answer) bool { return a == model.Foreign && allowed == model.Okay }

// flushed follows the answer to a FLUSH.
func (w *World) flushed(c *Conn, k *call, a model.Answer) {
	clause := "FWP-FLUSH-01"
	if k.Form == model.Refused {
		clause = "FWP-FLUSH-03"
	}
	w.beside(c, fwp.PUSH)
	if a == model.Okay {
		w.Server.EndsAll("FWP-FLUSH-02")
	}
	if a != model.Refused {
		w.unsure()
	}
	for _, j := range w.Jobs {
		switch a {
		case model.Okay:
			j.was(model.Enqueued, model.Flush)
			j.due, j.flushed = time.Time{}, w.sent
			if j.entered >= k.order { // it may have come behind the FLUSH
				j.Unjudged = PerhapsGone
			}
		case model.Refused:
			if j.ackClause = clause; j.Where == model.Enqueued {
				j.suspect = cmp.Or(j.suspect, clause) // a FETCH takes one, a FLUSH all: that shows
			}
		}
	}
}

// disallowed stops judging what a command may have changed whose answer is not allowed:
// one bug is one finding.
func (w *World) disallowed(c *Conn, k *call, a model.Answer, now time.Time) {
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
		c.Unjudged, w.unknownJobs = Disallowed, true
	case fwp.PUSH:
		w.unknownJobs = true
		if len(w.wrongJobs) < mostWrong {
			w.wrongJobs = append(w.wrongJobs, string(k.Args))
		}
	case fwp.FLUSH:
		unjudge(maps.Values(w.Jobs), Disallowed)
	case fwp.FETCH: // it may have taken any job, and a job that came is held now
		for _, q := range append(Words(string(k.Args)), "default") {
			unjudge(slices.Values(w.queues[q]), Disallowed)
		}
		if j := w.Jobs[k.brought()]; j != nil && a == model.Delivered {
			j.taken(c, k, now)
		}
	}
}

// mostWrong is how many PUSHes are remembered that had to be refused.
const mostWrong = 1000

// judged compares a reply with what is allowed.
func (w *World) judged(c *Conn, k *call, a model.Answer, r fwp.Reply, now time.Time) *law.Violation {
	switch {
	case a&k.allowed == 0 && !c.shut && (a != model.Refused || !k.Refusable() && !k.Long() && !w.crowded(k)):
		return w.notAllowed(c, k, a, r, now)
	case c.Unjudged != Judged, c.shut && a != model.Delivered:
		return nil
	case a == model.Delivered:
		return w.delivered(c, k, now)
	case a == model.Nothing:
		return w.empty(k, now)
	case a == model.Notified:
		return w.stated(k, r)
	case w.stalled(c, k, a, now):
		return &law.Violation{
			Clause: "FWP-FETCH-06", Rule: "stalled", Doubtful: true, Window: [2]time.Duration{0, time.Second},
			Expected: k.allowed.String(), Got: "a reply after " + now.Sub(k.at).String(),
			What: "while a FETCH of another connection waited, this one was not served",
		}
	}
	return nil
}

// Close records the end of a connection, and judges it if the server was the one that
// ended it. now counts.
func (w *World) Close(conn int, byServer bool, now time.Time) *law.Violation {
	c := w.Conns[conn]
	delete(w.Conns, conn)
	w.left(c.WID)
	if c.call != nil {
		w.lost(c, c.call, now)
	}
	if !byServer || c.Unjudged != Judged || c.shut || c.State == fwp.Ended {
		return nil
	}
	if c.call != nil && c.call.at.After(now) { // it was sent on a connection that had ended
		return w.closed(c, nil, now)
	}
	return w.closed(c, c.call, now)
}

// Unjudge ends the judging of a job, or of all jobs if jid is empty.
func (w *World) Unjudge(jid string, why Reason) {
	for _, j := range w.Jobs {
		if jid == "" || j.JID == jid {
			j.Unjudged = why
		}
	}
}

// Shut records that the client has closed its half of a connection: the server may
// answer or not.
func (w *World) Shut(conn int) { w.Conns[conn].shut = true }

// Held returns the jobs that a worker holds for certain, in the order of their delivery.
func (w *World) Held(wid string) []*Job {
	kept := w.working[wid][:0]
	for _, j := range w.working[wid] {
		if j.Where == model.Working && j.Holder == wid && j.Unjudged == Judged {
			kept = append(kept, j)
		}
	}
	if w.working[wid] = kept; len(kept) == 0 {
		delete(w.working, wid)
	}
	return kept
}
