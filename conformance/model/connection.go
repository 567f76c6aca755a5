package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// Conn is a connection as its client knows it. (Client Lifecycle)
type Conn struct {
	State    fwp.State
	WID      string // of its accepted HELLO, "" for a client that is no consumer
	Hi       fwp.Hi
	Opened   time.Time // when it began, zero if nobody has said so
	Greeted  bool      // HI came
	Loose    bool      // what it answers is not judged any more (AMB-06)
	Commands int
	Beat     time.Time // of the last BEAT or HELLO that was accepted

	call  *call
	blame string // the clause that tells why a legal command should still be served
	shut  bool   // half-closed by the client
	again bool   // a second HELLO was accepted: who knows which worker it is now (AMB-09)
}

// call is a command whose reply is awaited.
type call struct {
	Verdict
	at      time.Time
	allowed Answer
	clause  string
	queues  []string
	certain []*Job // that were there, and nobody else may have, when a FETCH was sent
	alone   bool   // nobody else was fetching when it was sent
	order   int    // among all commands
	company bool   // a FETCH of somebody else was under way when it was sent
}

// worker is what was said of a worker id.
type worker struct {
	said    string // hostname, pid and labels
	quiet   bool   // it may know that it should not fetch (AMB-32)
	flushed bool   // the server may have forgotten it
	mixed   bool   // it was taken with something else said of it (AMB-10)
	signal  string // what an operator wants of it
	knows   bool   // it has said that it knows
}

// allow says how a command may be answered on a connection.
func (w *World) allow(c *Conn, v Verdict, now time.Time) *call {
	k := &call{Verdict: v, at: now, order: w.sent, company: w.waits(c), allowed: v.Allowed, clause: v.Clause}
	verb := v.Command.Verb
	switch {
	case c.Loose:
		k.allowed = anything | Foreign
	case c.State == fwp.NotIdentified && verb != fwp.HELLO && own[verb][0] != "" && v.Clause != "FWP-FRAME-09":
		k.refuse("FWP-STATE-01", "FWP-AUTH-06", w.Protected)
		if verb == fwp.END { // AMB-12
			k.allowed |= Okay | Ended
		}
	case v.Allowed&Okay == 0: // malformed
	case c.State == fwp.NotIdentified && verb == fwp.HELLO:
		w.hello(c, k)
	case c.State == fwp.NotIdentified: // no verb of the protocol, or no UTF-8
	default:
		w.serve(c, k, now)
	}
	return k
}

func (k *call) refuse(clause, protected string, is bool) {
	k.allowed, k.clause = Refused, clause
	if is {
		k.clause = protected
	}
}

// hello judges a HELLO that is well formed. (HELLO Command)
func (w *World) hello(c *Conn, k *call) {
	f := k.Fields
	if wid, is := f["wid"].(string); is {
		known := w.workers[wid]
		switch {
		case known == nil:
		case known.mixed || known.said != said(f): // AMB-10
			k.allowed, k.clause = either, "FWP-HELLO-13"
		case k.allowed == Okay:
			k.clause = "FWP-HELLO-11"
		}
	} else if k.allowed == Okay {
		k.clause = "FWP-HELLO-15"
	}
	if k.allowed == Okay && c.blame != "" {
		k.clause = c.blame
	}
	if w.Protected && c.Hi.Protected {
		w.password(c, k)
	}
}

// password judges the pwdhash. (Required Fields for Protected Server)
func (w *World) password(c *Conn, k *call) {
	hash, sent := k.Fields["pwdhash"].(string)
	hashed := func(rounds int) string { h, _ := fwp.PasswordHash(w.Password, c.Hi.Salt, rounds); return h }
	lower := strings.ToLower(hash)
	rounds := c.Hi.Iterations
	switch {
	case !sent:
		k.allowed, k.clause = Refused, "FWP-AUTH-02"
	case hash == hashed(rounds):
		k.clause = firstOf(c.blame, "FWP-AUTH-03")
	case lower == hashed(rounds): // AMB-03
		k.allowed = either
	case slices.Contains(w.hashes, hash):
		k.allowed, k.clause = Refused, "FWP-AUTH-05"
	case lower == hashed(rounds-1), lower == hashed(rounds+1), rounds > 1 && lower == hexRounds(w.Password+c.Hi.Salt, rounds):
		k.allowed, k.clause = Refused, "FWP-AUTH-03"
	default:
		k.allowed, k.clause = Refused, "FWP-AUTH-04"
	}
}

func hexRounds(text string, rounds int) string {
	for range rounds {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return text
}

func said(f map[string]any) string { return fmt.Sprint(f["hostname"], f["pid"], f["labels"]) }

// serve judges a well-formed command of an identified client.
func (w *World) serve(c *Conn, k *call, now time.Time) {
	jid, _ := k.Fields["jid"].(string)
	job := w.Jobs[jid]
	switch k.Command.Verb {
	case fwp.HELLO: // AMB-09
		k.allowed, k.clause = either, "FWP-HELLO-08"
	case fwp.INFO:
		k.allowed, k.clause = Data|k.allowed&Refused, firstOf(c.blame, "FWP-STATE-03")
		if c.Commands > 100 {
			k.clause = "FWP-LINK-03"
		}
	case fwp.END: // AMB-01
		k.allowed |= Okay | Ended
	case fwp.PUSH:
		if job != nil { // AMB-33
			k.allowed = either
		} else if k.allowed == Okay {
			k.clause = firstOf(c.blame, k.clause)
		}
	case fwp.FETCH:
		w.fetch(c, k, now)
	case fwp.ACK, fwp.FAIL:
		w.report(c, k, job, now)
	case fwp.BEAT:
		w.beat(c, k)
	}
}

// beat judges a BEAT. (BEAT Command)
func (w *World) beat(c *Conn, k *call) {
	wid, _ := k.Fields["wid"].(string)
	switch {
	case c.WID == "" || wid == "": // FWP-BEAT-05 is silent about them
		k.allowed = either | Told
	case w.workers[wid] == nil:
		k.allowed, k.clause = Refused, "FWP-BEAT-05"
	case wid != c.WID || k.allowed != Okay || w.workers[wid].flushed: // AMB-21, FWP-FLUSH-04
		k.allowed = either | Told
	case w.workers[wid].signal != "":
		w.told(w.workers[wid], k)
	default: // AMB-02, AMB-31
		k.allowed, k.clause = Okay|Told, firstOf(c.blame, k.clause)
	}
}

// told judges a BEAT of a worker that an operator wants something of. That it is told
// more than once is advised only, and no longer once it has said that it knows. (AMB-30)
func (w *World) told(is *worker, k *call) {
	k.allowed, k.clause = Told, "FWP-BEAT-03"
	if is.knows || k.Fields["current_state"] != nil {
		k.allowed |= Okay
	}
	is.knows = is.knows || k.Fields["current_state"] != nil
}

// Signal takes down that an operator asks a worker to be quiet or to terminate.
func (w *World) Signal(wid, state string) {
	if is := w.workers[wid]; is != nil {
		is.signal, is.quiet = state, true
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// moved follows what a reply means for the connection.
func (w *World) moved(c *Conn, k *call, a Answer, r fwp.Reply, now time.Time) {
	before := c.State
	if a != Refused { // FWP-STATE-12
		c.State = c.State.Next(k.Command.Verb, r)
	}
	switch verb := k.Command.Verb; {
	case a == Refused && k.allowed&Refused != 0:
		c.blame = "FWP-STATE-12"
	case verb == fwp.HELLO && before != fwp.NotIdentified:
		c.blame = "FWP-HELLO-08"
		if a == Okay {
			c.again = true
			w.introduced(k)
		}
	case verb == fwp.HELLO && a == Okay && k.allowed&Okay != 0:
		w.identified(c, k, now)
	case verb == fwp.FLUSH && a == Okay:
		c.blame = "FWP-FLUSH-04"
		for _, is := range w.workers {
			is.flushed = true
		}
	case a == Okay && (verb == fwp.FAIL || verb == fwp.ACK):
		c.blame = "FWP-STATE-10"
	case verb == fwp.BEAT && a != Refused:
		c.Beat = now
		w.signalled(k, a)
	}
}

// signalled keeps in mind which workers may be quiet.
func (w *World) signalled(k *call, a Answer) {
	wid, _ := k.Fields["wid"].(string)
	if is := w.workers[wid]; is != nil && (k.Fields["current_state"] != nil || a == Told) {
		is.quiet = true
	}
}

func (w *World) identified(c *Conn, k *call, now time.Time) {
	c.State, c.blame, c.Beat = fwp.Identified, "", now
	if hash, _ := k.Fields["pwdhash"].(string); hash != "" {
		w.hashes = append(w.hashes, hash)
	}
	if wid := w.introduced(k); wid != "" {
		c.WID = wid
	}
}

// introduced takes down what a HELLO said of a worker, and returns its id.
func (w *World) introduced(k *call) (wid string) {
	wid, _ = k.Fields["wid"].(string)
	switch known := w.workers[wid]; {
	case wid == "":
	case known == nil:
		w.workers[wid] = &worker{said: said(k.Fields)}
	default:
		known.mixed = known.mixed || known.said != said(k.Fields)
	}
	return wid
}
