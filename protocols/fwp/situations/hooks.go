package situations

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// What a server does wrong in a situation is a rule in its row, or one that its play adds. Here is what no rule says:
// what waits for other events, ends at one, or has values by jid or of the generator.

// addRules has the servers follow rules, one on each line.
func (t *trial) addRules(text string) {
	if text != "" {
		t.hook(hookOf(text))
	}
}

// hookOf returns the hook of rules. It panics if one is no rule, which a test finds.
func hookOf(text string) func(*fakes.Event) {
	all, err := fakes.Rules().ParseFile(text)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, text))
	}
	return rule.Hooks(all...)
}

// holdBeat returns a hook that has answer reply to a BEAT when n events have come that match. The BEAT waits for its
// reply meanwhile, for longer than a FETCH waits and the pause behind it may be; then one event is enough. Where none
// came the reply is OK, and the next BEAT waits. With n = 0 the first BEAT waits for one event that comes meanwhile,
// and the second BEAT gets answer's reply without one: a worker with one connection cannot fetch while its BEAT waits.
func holdBeat(n int, matches func(*fakes.Event) bool, answer func(*fakes.Event)) func(*fakes.Event) {
	const limit = 4 * time.Second
	var isAnswered atomic.Bool
	var beats atomic.Int64
	events := make(chan struct{}, n)
	wait := func(e *fakes.Event) (count int) {
		for timeout := time.After(limit); count < max(1, n); count++ {
			select {
			case <-events:
			case <-timeout:
				return count
			case <-e.Conn.Done:
				return count
			}
		}
		return count
	}
	return func(e *fakes.Event) {
		switch {
		case matches(e):
			select {
			case events <- struct{}{}:
			default: // it is one too many, or no BEAT waits for it
			}
		case e.Point == fakes.Notified && (isAnswered.Load() || wait(e) > 0 || n == 0 && beats.Add(1) > 1):
			if !isAnswered.Swap(true) {
				time.Sleep(timeToRead) // what the event brings a worker is read before the order
			}
			answer(e)
		}
	}
}

// isFetching matches FETCHes that begin to wait, and isDelivering those that bring a job.
func isFetching(e *fakes.Event) bool { return e.Point == fakes.Checked && e.Command.Verb == fwp.FETCH }

func isDelivering(e *fakes.Event) bool {
	return e.Point == fakes.Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString
}

// refuseCommands returns a hook that refuses the first two of twelve commands of a verb, and each third one of the
// rest. Their errors have texts of all kinds, one of them longer than the buffers of most readers of lines, and every
// other one has a first word of its own in place of ERR.
func refuseCommands(verb string) func(*fakes.Event) {
	const first, last, length = 2, 12, 5000
	var count atomic.Int64
	texts := newGenerator().errors()
	return func(e *fakes.Event) {
		if _, ok := errors.AsType[unusualError](e.Err); ok && e.Point == fakes.Ran {
			e.Reply = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(e.Err.Error())}
		}
		if e.Point != fakes.Checked || e.Command.Verb != verb || e.Err != nil {
			return
		}
		if n := count.Add(1); n <= first || n%3 == 0 && n <= last {
			text := texts[int(n)*len(texts)/(last+1)]
			if n == first {
				text += strings.Repeat(" x", length/2)
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

// replaceDeliveries returns a hook that delivers jobs with the texts that they have by jid.
func replaceDeliveries(texts map[string]string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		var unit struct{ JID string }
		if !isDelivering(e) || json.Unmarshal(e.Reply.Text, &unit) != nil {
			return
		}
		if text, ok := texts[unit.JID]; ok {
			e.Reply.Text = []byte(text)
		}
	}
}

// saltConnections returns a hook by which each connection is greeted with a salt and a number of iterations of its own,
// but for the first one and some others, which are asked for no password.
func saltConnections() func(*fakes.Event) {
	all := newGenerator().greetings(maxGreetings)
	return func(e *fakes.Event) {
		if e.Point != fakes.Greeting || e.Conn.Iterations == 0 {
			return
		}
		if e.Conn.Salt, e.Conn.Iterations = "", 0; e.Conn.ID%openConnInterval != 1 {
			g := all[int(e.Conn.ID)%len(all)]
			e.Conn.Salt, e.Conn.Iterations = g.salt, g.iterations
		}
		e.Reply = e.Conn.Hi()
	}
}

const openConnInterval = 5 // one of so many connections

const maxGreetings = 24

// forgetWorker returns a hook that does not know a worker from its second BEAT on, until it greets again.
func forgetWorker() func(*fakes.Event) {
	var isForgotten atomic.Bool
	var forgottenConn, latestConn, beats atomic.Int64 // the last connection when it forgot the worker, the last one, BEATs
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Accepted:
			latestConn.Store(max(latestConn.Load(), e.Conn.ID))
			return
		case e.Point != fakes.Checked || e.Command.Verb != fwp.BEAT || e.Err != nil:
			return
		case e.Conn.ID <= forgottenConn.Load():
		case beats.Add(1) >= 2 && !isForgotten.Swap(true):
			forgottenConn.Store(latestConn.Load())
		default:
			return
		}
		refuse(e, "Unknown worker "+e.Object.Text("wid"))
	}
}

// lenientRules are rules by which a server carries out commands with small mistakes, as servers in use do: the rules
// for clients report these, and the program can be tested further. What is wrong with a line is mended before.
const lenientRules = `
on checked HELLO if reason ~ "^(v|hostname|pid|labels|wid)$": accept
on checked BEAT if wid and reason != "unknown worker": accept
on checked ACK FAIL if jid and reason != "unknown job" and reason != state: accept
`

// mend is a hook that accepts lines that end with LF alone, and has lines read as [clientrules.Mend] returns them.
func mend(e *fakes.Event) {
	if e.Point != fakes.LineRead {
		return
	}
	if e.About() == fakes.AboutLineEnd {
		e.Err = nil
	}
	if e.Err == nil {
		e.Line = clientrules.Mend(e.Line)
	}
}
