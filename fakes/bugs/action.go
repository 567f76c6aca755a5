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

func skipStep(e *event) { e.Skip = true }
func requeue(e *event)  { e.Requeue = true }

// answerOK answers what was refused with OK.
func answerOK(e *event) { e.Err, e.Reply = nil, fakes.OK() }

// discard has a job that failed go nowhere, and retry has it come back.
func discard(e *event) { e.Set = "" }
func retry(e *event)   { e.Set = "retries" }

// retryIn has a job that failed come back after a time.
func retryIn(d time.Duration) func(*event) {
	return func(e *event) { e.Set, e.Until = "retries", time.Now().Add(d) }
}

// dueNow has what is to happen later happen at once.
func dueNow(e *event) { e.Until = time.Now() }

func delayBy(d time.Duration) func(*event) {
	return func(e *event) { e.Until = e.Until.Add(d) }
}

// expireIn has a reservation last for a time from now on.
func expireIn(d time.Duration) func(*event) {
	return func(e *event) { e.Until = time.Now().Add(d) }
}

// decline refuses a command that would have been carried out.
func decline(reason fakes.About, text string) func(*event) {
	return func(e *event) { e.Decline(reason, text) }
}

// changeText changes a field that is a string.
func changeText(field string, to func(string) string) func(*event) {
	return func(e *event) { e.Object.SetText(field, to(e.Object.Text(field))) }
}

// changeTime changes a field that is a time.
func changeTime(field string, to func(time.Time) time.Time) func(*event) {
	return func(e *event) {
		if t, ok := e.Object.Time(field); ok {
			e.Object.SetText(field, to(t).Format(time.RFC3339Nano))
		}
	}
}

// setSalt gives a connection of a protected server a salt and a number of iterations, before its greeting.
func setSalt(e *event, salt string, iterations int) {
	e.Conn.Salt, e.Conn.Iterations = salt, iterations
	e.Reply = e.Conn.Hi()
}

// changeDelivered changes a field, a string, of the jobs that consumers get.
func changeDelivered(field string, to func(string) string) func(*event) {
	return do(changeText(field, to), at(fakes.Delivered))
}

// loseJob answers a PUSH with OK and loses the job.
func loseJob(conditions ...condition) func(*event) {
	return do(skipStep, at(fakes.Defaulted), allOf(conditions...))
}

// changeQueues changes the names of queues, in a PUSH and in a FETCH.
func changeQueues(to func(string) string) func(*event) {
	return actIf(isValid(fwp.PUSH, fwp.FETCH), func(e *event) {
		if e.Object.NonNull("queue") != nil {
			e.Object.SetText("queue", to(e.Object.Text("queue")))
		}
		if e.Command.Verb == fwp.FETCH {
			e.Queues = slices.Clone(e.Queues)
			for i := range e.Queues {
				e.Queues[i] = to(e.Queues[i])
			}
			e.WaitQueues = e.Queues[:min(1, len(e.Queues))]
		}
	})
}

// queuedJobs returns the jobs in queues for which a condition holds.
func queuedJobs(e *event, match func(fakes.StoredJob) bool) (all []fakes.StoredJob) {
	for _, j := range e.Conn.Server().Jobs() {
		if j.Due.IsZero() && match(j) {
			all = append(all, j)
		}
	}
	return all
}

// purgeFirst removes the first job of a queue. It reports whether there was one.
func purgeFirst(e *event, queue string) bool {
	return slices.ContainsFunc(queuedJobs(e, func(j fakes.StoredJob) bool { return j.Queue == queue }),
		func(j fakes.StoredJob) bool { return e.Purge(j.JID) })
}

// unit returns the work unit of a job.
func unit(j fakes.StoredJob) *object {
	o, _ := fakes.ParseObject(j.Unit) // the server has written it
	return o
}
