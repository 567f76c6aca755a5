package bugs

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// What the specification gives for omitted fields. (Work units, Optional fields)
const (
	defaultQueue = "default"
	defaultRetry = 25
)

func skip(e *event)  { e.Skip = true }
func again(e *event) { e.Again = true }

// okay answers what was refused with OK.
func okay(e *event) { e.Err, e.Reply = nil, fakes.OK() }

// discard has a job that failed go nowhere, and retry come back.
func discard(e *event) { e.Set = "" }
func retry(e *event)   { e.Set = "retries" }

// retryIn has a job that failed come back after a time.
func retryIn(d time.Duration) func(*event) {
	return func(e *event) { e.Set, e.Until = "retries", time.Now().Add(d) }
}

// now has what is to happen later happen at once.
func now(e *event) { e.Until = time.Now() }

func later(d time.Duration) func(*event) {
	return func(e *event) { e.Until = e.Until.Add(d) }
}

// lasts has a reservation last for a time from now on.
func lasts(d time.Duration) func(*event) {
	return func(e *event) { e.Until = time.Now().Add(d) }
}

// decline refuses a command that would have been carried out.
func decline(reason fakes.About, text string) func(*event) {
	return func(e *event) { e.Decline(reason, text) }
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

// delivered changes a field, a string, of the jobs that consumers get.
func delivered(field string, to func(string) string) func(*event) {
	return do(change(field, to), at(fakes.Delivered))
}

// loses answers a PUSH with OK and loses the job.
func loses(conditions ...condition) func(*event) {
	return do(skip, at(fakes.Defaulted), both(conditions...))
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
