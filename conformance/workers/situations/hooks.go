package situations

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/values"
)

// tellState returns a hook that answers every BEAT with a state, or only the first one.
func tellState(state string, always bool) func(*fakes.Event) {
	var told atomic.Bool
	return func(e *fakes.Event) {
		if e.Point == fakes.Notified && (always || !told.Swap(true)) {
			e.State, e.Skip = state, false
		}
	}
}

// behind returns a hook that acts on BEATs but the first n.
func behind(n int, act func(*fakes.Event)) func(*fakes.Event) {
	var beats atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Notified && beats.Add(1) > int64(n) {
			act(e)
		}
	}
}

// heldBeat returns a hook that answers a BEAT by tell when n events have come that match. The BEAT waits for its reply
// meanwhile, for longer than a FETCH waits and the pause behind it may be; then one event is enough. Where none came
// the reply is OK, and the next BEAT waits. With n = 0 the first BEAT waits for one event that comes meanwhile, and the
// second BEAT is answered by tell without one: a worker with one connection cannot fetch while its BEAT waits.
func heldBeat(n int, matches func(*fakes.Event) bool, tell func(*fakes.Event)) func(*fakes.Event) {
	const most = 4 * time.Second
	var told atomic.Bool
	var beats atomic.Int64
	events := make(chan struct{}, n)
	wait := func(e *fakes.Event) (came int) {
		for timeout := time.After(most); came < max(1, n); came++ {
			select {
			case <-events:
			case <-timeout:
				return came
			case <-e.Conn.Done:
				return came
			}
		}
		return came
	}
	return func(e *fakes.Event) {
		switch {
		case matches(e):
			select {
			case events <- struct{}{}:
			default: // it is one too many, or no BEAT waits for it
			}
		case e.Point == fakes.Notified && (told.Load() || wait(e) > 0 || n == 0 && beats.Add(1) > 1):
			if !told.Swap(true) {
				time.Sleep(timeToRead) // what the event brings a worker is read before the order
			}
			tell(e)
		}
	}
}

// isFetching matches FETCHes that begin to wait, and isDelivering those that bring a job.
func isFetching(e *fakes.Event) bool { return e.Point == fakes.Checked && e.Command.Verb == fwp.FETCH }

func isDelivering(e *fakes.Event) bool {
	return e.Point == fakes.Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString
}

// spaceState is a hook that writes the JSON of a state with white space.
func spaceState(e *fakes.Event) {
	if e.Point == fakes.Ran && e.Command.Verb == fwp.BEAT {
		e.Reply.Text = bytes.Replace(e.Reply.Text, []byte(`{"state":`), []byte(`{"state": `), 1)
	}
}

// nth returns a hook that acts at one point of the nth command of a verb, counted over all connections from 1.
func nth(n int64, p fakes.Point, verb string, act func(*fakes.Event)) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == p && e.Command.Verb == verb && count.Add(1) == n {
			act(e)
		}
	}
}

// refuseFirst returns a hook that answers the first n commands of a verb with an error, and does not carry them out.
func refuseFirst(n int64, verb, text string) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == verb && e.Err == nil && count.Add(1) <= n {
			refuse(e, text)
		}
	}
}

// refuseSome returns a hook that refuses the first two of twelve commands of a verb, and each third one of the rest.
// Their errors have texts of all kinds, one of them longer than the buffers of most readers of lines, and every other
// one has a first word of its own in place of ERR.
func refuseSome(verb string) func(*fakes.Event) {
	const first, most, long = 2, 12, 5000
	var count atomic.Int64
	texts := newGenerator().errors()
	return func(e *fakes.Event) {
		if _, is := errors.AsType[unusualError](e.Err); is && e.Point == fakes.Ran {
			e.Reply = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(e.Err.Error())}
		}
		if e.Point != fakes.Checked || e.Command.Verb != verb || e.Err != nil {
			return
		}
		if n := count.Add(1); n <= first || n%3 == 0 && n <= most {
			text := texts[int(n)*len(texts)/(most+1)]
			if n == first {
				text += strings.Repeat(" x", long/2)
			}
			if refuse(e, text); n%2 == 0 {
				e.Err = unusualError{errors.New("LIMIT " + text)}
			}
		}
	}
}

// unusualError is an error whose reply does not begin with ERR.
type unusualError struct{ error }

// refuse has a command not carried out, and answered with an error.
func refuse(e *fakes.Event, text string) { e.Skip, e.Err = true, errors.New(text) }

// refuseJobs returns a hook that answers the PUSH of some jobs with an error of this text.
func refuseJobs(refused map[string]bool, text func(jid string) string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Command.Verb != fwp.PUSH || e.Object == nil || !refused[e.Object.Text("jid")] {
			return
		}
		switch e.Point {
		case fakes.Checked:
			e.Skip = true
		case fakes.Ran:
			e.Reply = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(text(e.Object.Text("jid")))}
		}
	}
}

// changeDelivery returns a hook that changes each delivery of a job. The server calls it for one at a time.
func changeDelivery(jid string, change func(text []byte) []byte) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if isDelivering(e) && bytes.Contains(e.Reply.Text, []byte(values.Quote(jid))) {
			e.Reply.Text = change(e.Reply.Text)
		}
	}
}

// deliverAs returns a hook that delivers jobs with the texts that they have by jid.
func deliverAs(texts map[string]string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		var unit struct{ JID string }
		if !isDelivering(e) || json.Unmarshal(e.Reply.Text, &unit) != nil {
			return
		}
		if text, has := texts[unit.JID]; has {
			e.Reply.Text = []byte(text)
		}
	}
}

// segment is a hook that writes every reply in segments of one byte.
func segment(e *fakes.Event) {
	if e.Point == fakes.Writing {
		e.Chunk, e.Pause = 1, time.Millisecond
	}
}

// segmentBeats is a hook that does so with the replies to BEAT.
func segmentBeats(e *fakes.Event) {
	if e.Command.Verb == fwp.BEAT {
		segment(e)
	}
}

// greeting returns a hook that replaces the text of HI.
func greeting(text string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Greeting {
			e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte(text)}
		}
	}
}

// saltEach returns a hook by which each connection is greeted with a salt and a number of iterations of its own, but
// for the first one and some others, which are asked for no password.
func saltEach() func(*fakes.Event) {
	all := newGenerator().greetings(mostGreetings)
	return func(e *fakes.Event) {
		if e.Point != fakes.Greeting || e.Conn.Iterations == 0 {
			return
		}
		if e.Conn.Salt, e.Conn.Iterations = "", 0; e.Conn.ID%openEach != 1 {
			g := all[int(e.Conn.ID)%len(all)]
			e.Conn.Salt, e.Conn.Iterations = g.salt, g.iterations
		}
		e.Reply = e.Conn.Hi()
	}
}

const openEach = 5 // one of so many connections

const mostGreetings = 24

// hangUpFirst returns a hook that ends the first n connections, each at the first command behind its HELLO that is one
// of some verbs. It is not carried out, and not answered but for the first byte of a reply on every other connection.
func hangUpFirst(n int64, verbs ...string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Conn == nil || e.Conn.ID > n || !slices.Contains(verbs, e.Command.Verb) {
			return
		}
		half := e.Conn.ID%2 == 0
		switch {
		case e.Point == fakes.Checked:
			e.Skip = true
		case e.Point == fakes.Ran && !half:
			hangUp(e)
		case e.Point == fakes.Writing && half:
			e.Bytes, e.Close = []byte("+"), true
		}
	}
}

// lateGreeting is a hook that has every client wait for HI.
func lateGreeting(e *fakes.Event) {
	if e.Point == fakes.Greeting {
		e.Delay = time.Second
	}
}

// hangUp ends the connection after the event's step, without a reply.
func hangUp(e *fakes.Event) {
	e.Reply, e.Close = fwp.Reply{}, true
}

// hangUpUnread returns a hook that ends the connection of the nth command of a verb, which is neither carried out nor
// answered.
func hangUpUnread(n int64, verb string) func(*fakes.Event) {
	var conn atomic.Int64
	skip := nth(n, fakes.Checked, verb, func(e *fakes.Event) {
		e.Skip = true
		conn.Store(e.Conn.ID)
	})
	return func(e *fakes.Event) {
		skip(e)
		if e.Point == fakes.Ran && e.Conn.ID == conn.Load() {
			hangUp(e)
		}
	}
}

// hangUpInJob returns a hook that ends the connection of the nth FETCH that brings a job, in the middle of the reply.
func hangUpInJob(n int64) func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString && count.Add(1) == n {
			e.Bytes, e.Close = e.Bytes[:len(e.Bytes)/2], true
		}
	}
}

// hangUpInReply returns a hook that does not carry out the nth command of a verb, and ends its connection behind the
// first byte of the reply.
func hangUpInReply(n int64, verb string) func(*fakes.Event) {
	skip := nth(n, fakes.Checked, verb, func(e *fakes.Event) { e.Skip = true })
	half := nth(n, fakes.Writing, verb, func(e *fakes.Event) { e.Bytes, e.Close = []byte("+"), true })
	return func(e *fakes.Event) { skip(e); half(e) }
}

// forgetWorker returns a hook that does not know a worker from its second BEAT on, until it greets again.
func forgetWorker() func(*fakes.Event) {
	var forgot atomic.Bool
	var lastThen, last, beats atomic.Int64 // the last connection when it forgot the worker, the last one, BEATs
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Accepted:
			last.Store(max(last.Load(), e.Conn.ID))
			return
		case e.Point != fakes.Checked || e.Command.Verb != fwp.BEAT || e.Err != nil:
			return
		case e.Conn.ID <= lastThen.Load():
		case beats.Add(1) >= 2 && !forgot.Swap(true):
			lastThen.Store(last.Load())
		default:
			return
		}
		refuse(e, "Unknown worker "+e.Object.Text("wid"))
	}
}

// forgive is a hook that has a server carry out commands with small mistakes, as servers in use do: the rules report
// these, and the program can be tested further.
func forgive(e *fakes.Event) {
	switch e.Point {
	case fakes.LineRead:
		if refusedFor(e) == fakes.AboutLineEnd {
			e.Err = nil
		}
		if e.Err == nil {
			e.Line = workers.Mend(e.Line)
		}
	case fakes.Checked:
		if refusedFor(e) != "" && isForgivable(e) {
			e.Err, e.Skip = nil, false
		}
	}
}

// refusedFor returns why a command is refused; empty if it is not.
func refusedFor(e *fakes.Event) fakes.About {
	if r, is := errors.AsType[*fakes.Refusal](e.Err); is {
		return r.About
	}
	return ""
}

// isForgivable reports whether a command that is refused has what it takes to be carried out.
func isForgivable(e *fakes.Event) bool {
	if e.Object == nil {
		return false
	}
	text := func(name string) bool { return e.Object.Text(name) != "" }
	switch e.Command.Verb {
	case fwp.HELLO:
		switch refusedFor(e) {
		case "v", "hostname", "pid", "labels", "wid":
			return true
		}
	case fwp.BEAT:
		return refusedFor(e) != fakes.AboutWorker && text("wid")
	case fwp.ACK, fwp.FAIL:
		return refusedFor(e) != fakes.AboutJob && refusedFor(e) != fakes.AboutState && text("jid")
	}
	return false
}
