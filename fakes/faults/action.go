package faults

import (
	"bytes"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// What the specification gives for omitted fields. (Work units, Optional fields)
const (
	defaultQueue = "default"
	defaultRetry = 25
)

// never is longer than any run.
const never = 10_000 * time.Hour

func skip(e *event)  { e.Skip = true }
func again(e *event) { e.Again = true }

// accept carries out what is refused, enact does too and refuses it all the same, and pretend only answers as if.
func accept(e *event)  { e.Accept() }
func enact(e *event)   { e.Skip = false }
func pretend(e *event) { e.Err = nil }

// okay answers what was refused with OK.
func okay(e *event) { e.Err, e.Reply = nil, fakes.OK() }

// findNone has a FETCH find nothing, and waitForNone not be ended by a job.
func findNone(e *event)    { e.Queues, e.Block = nil, nil }
func waitForNone(e *event) { e.Block = nil }

func forget(e *event)    { e.Conn.Identified = false }
func staysOpen(e *event) { e.Close = false }
func noReply(e *event)   { e.Reply = fwp.Reply{} }

// hangUp closes the connection instead of an answer.
func hangUp(e *event) { e.Err, e.Reply, e.Close = nil, fwp.Reply{}, true }

// discard has a job that failed go nowhere, die go to the dead ones, and retry come back.
func discard(e *event) { e.Set = "" }
func die(e *event)     { e.Set = "dead" }
func retry(e *event)   { e.Set = "retries" }

// retryIn has a job that failed come back after a time.
func retryIn(d time.Duration) func(*event) {
	return func(e *event) { e.Set, e.Until = "retries", time.Now().Add(d) }
}

// now has what is to happen later happen at once, and earlier a time before.
func now(e *event) { e.Until = time.Now() }

func later(d time.Duration) func(*event) {
	return func(e *event) { e.Until = e.Until.Add(d) }
}

// lasts has a reservation last for a time from now on.
func lasts(d time.Duration) func(*event) {
	return func(e *event) { e.Until = time.Now().Add(d) }
}

func delay(d time.Duration) func(*event) {
	return func(e *event) { e.Delay = d }
}

// decline refuses a command that would have been carried out.
func decline(reason fakes.About, text string) func(*event) {
	return func(e *event) { e.Decline(reason, text) }
}

// declineForm refuses JSON in a form that is allowed.
func declineForm(e *event) { e.Decline(fakes.AboutObject, "this form is unknown") }

func declineRange(field string) func(*event) {
	return decline(fakes.About(field), field+" is out of range")
}

// answer replaces the reply to a command that was carried out.
func answer(verb string, r fwp.Reply) func(*event) {
	return do(reply(r), done(verb), func(e *event) bool { return e.Reply.Kind != 0 })
}

func reply(r fwp.Reply) func(*event) { return func(e *event) { e.Reply = r } }

func kind(k fwp.Kind) func(*event) { return func(e *event) { e.Reply.Kind = k } }

// writes replaces the bytes of a reply.
func writes(wire string) func(*event) { return func(e *event) { e.Bytes = []byte(wire) } }

// twice writes the bytes of a reply twice.
func twice(e *event) { e.Bytes = slices.Concat(e.Bytes, e.Bytes) }

// rewords replaces a text in a reply.
func rewords(from, to string) func(*event) {
	return func(e *event) { e.Reply.Text = bytes.ReplaceAll(e.Reply.Text, []byte(from), []byte(to)) }
}

// sends writes something, if the client sends nothing for a time.
func sends(after time.Duration, wire string) func(*event) {
	return func(e *event) { e.Later = &fakes.Later{After: after, Bytes: []byte(wire)} }
}

// set gives a field of the object a value, which is JSON; setNow the time of now; drop removes it.
func set(field, value string) func(*event) { return func(e *event) { e.Object.Set(field, value) } }
func setNow(field string) func(*event)     { return func(e *event) { e.Object.SetTime(field, time.Now()) } }
func drop(field string) func(*event)       { return func(e *event) { e.Object.Delete(field) } }

// copies gives a field the value of another one.
func copies(to, from string) func(*event) {
	return func(e *event) { e.Object.Set(to, string(e.Object.Get(from))) }
}

// change changes a field that is a string.
func change(field string, to func(string) string) func(*event) {
	return func(e *event) { e.Object.SetText(field, to(e.Object.Text(field))) }
}

// shift changes a field that is a time.
func shift(field string, to func(time.Time) time.Time) func(*event) {
	return func(e *event) {
		if t, is := e.Object.Time(field); is {
			e.Object.SetText(field, to(t).Format(time.RFC3339Nano))
		}
	}
}

// salted gives a connection of a protected server a salt and a number of iterations, before its greeting.
func salted(e *event, salt string, iterations int) {
	e.Conn.Salt, e.Conn.Iterations = salt, iterations
	e.Reply = e.Conn.Hi()
}

// omitted gives jobs a value of a field that their producer left out.
func omitted(field, value string) func(*event) {
	return do(set(field, value), valid(fwp.PUSH), lacks(field))
}

// delivered changes a field, a string, of the jobs that consumers get.
func delivered(field string, to func(string) string) func(*event) {
	return do(change(field, to), at(fakes.Delivered))
}

// loses answers a PUSH with OK and loses the job.
func loses(conditions ...condition) func(*event) {
	return do(skip, at(fakes.Defaulted), both(conditions...))
}

// refuses declines a PUSH of a field with a value.
func refuses(field string, conditions ...condition) func(*event) {
	return do(declineRange(field), checked(fwp.PUSH), has(field), both(conditions...))
}

// queues changes the names of queues, in a PUSH and in a FETCH.
func queues(to func(string) string) func(*event) {
	return on(valid(fwp.PUSH, fwp.FETCH), func(e *event) {
		if e.Object.Given("queue") != nil {
			e.Object.SetText("queue", to(e.Object.Text("queue")))
		}
		if e.Command.Verb == fwp.FETCH {
			e.Queues = slices.Clone(e.Queues)
			for i := range e.Queues {
				e.Queues[i] = to(e.Queues[i])
			}
			e.Block = e.Queues[:min(1, len(e.Queues))]
		}
	})
}

// stored returns the jobs in queues for which a condition holds.
func stored(e *event, is func(fakes.StoredJob) bool) (all []fakes.StoredJob) {
	for _, j := range e.Conn.Server().Jobs() {
		if j.Due.IsZero() && is(j) {
			all = append(all, j)
		}
	}
	return all
}

// take removes the first job of a queue. It reports whether there was one.
func take(e *event, queue string) bool {
	return slices.ContainsFunc(stored(e, func(j fakes.StoredJob) bool { return j.Queue == queue }),
		func(j fakes.StoredJob) bool { return e.Purge(j.JID) })
}

// unit returns the work unit of a job.
func unit(j fakes.StoredJob) *object {
	o, _ := fakes.ParseObject(j.Unit) // the server has written it
	return o
}
