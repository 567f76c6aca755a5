package workq

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// codedBugs are those that no rule can say, by commands.
var codedBugs = []Bug{
	// About what jobs are added and scheduled with. (add; schedule)
	bug("add-attempts-one", changeAdded(workq.Add, func(j *Job) {
		j.MaxAttempts = cmp.Or(j.MaxAttempts, 2)
	})),
	bug("add-fails-ignored", changeAdded(workq.Add, func(j *Job) { j.MaxFails = 0 })),
	bug("add-payload-cut", changeAdded(workq.Add, func(j *Job) {
		if len(j.Payload) > 0 {
			j.Payload = j.Payload[:len(j.Payload)-1]
		}
	})),
	bug("add-payload-nul", changeAdded(workq.Add, func(j *Job) {
		j.Payload, _, _ = bytes.Cut(j.Payload, []byte{0})
	})),
	bug("add-payload-trimmed", changeAdded(workq.Add, func(j *Job) { j.Payload = bytes.TrimSpace(j.Payload) })),
	bug("add-priority-ignored", changeAdded(workq.Add, func(j *Job) { j.Priority = 0 })),
	bug("add-priority-unsigned", changeAdded(workq.Add, func(j *Job) { j.Priority = max(j.Priority, 0) })),
	bug("add-same-id", catalogue.ActOnRepeat(jobOf, reads(workq.Add), catalogue.ActIf(isValid(workq.Add), renumber))),
	bug("add-ttl-ignored", changeAdded(workq.Add, func(j *Job) { j.TTL = 10_000 * time.Hour })),
	bug("add-ttl-largest",
		actAt(Adding, func(e *Event) { e.Skip = e.Skip || e.Job.TTL > 10_000*time.Hour }, workq.Add)),
	bug("add-ttl-leased", actBetween(at(Leased), isUnheld, at(Evicted), skip)),
	bug("add-ttl-reported",
		catalogue.WithMemoryBy(jobOf, catalogue.Any(at(Finished), at(Evicted)), func(endTime *time.Time, e *Event) {
			if e.Point == Finished {
				*endTime = time.Now()
				return
			}
			e.Skip = time.Since(*endTime) < time.Second
		})),
	bug("schedule-at-once", changeAdded(workq.Schedule, func(j *Job) { j.DueTime = time.Time{} })),
	bug("schedule-attempts-ignored", changeAdded(workq.Schedule, func(j *Job) { j.MaxAttempts = 0 })),
	bug("schedule-late", changeAdded(workq.Schedule, func(j *Job) { j.DueTime = j.DueTime.Add(20 * time.Second) })),
	bug("schedule-ttl-at-once", changeAdded(workq.Schedule, func(j *Job) { j.TTL -= time.Until(j.DueTime) })),
	// About giving jobs out, and waiting for them. (lease; run; result)
	bug("lease-again-longer", catalogue.WithMemoryBy(jobOf, at(Leased), func(isLeased *bool, e *Event) {
		if *isLeased {
			e.Until = e.Until.Add(2 * e.Job.TTR)
		}
		*isLeased = true
	})),
	bug("lease-first-name", actAt(Choosing, func(e *Event) { e.Names = e.Command.Names[:1] })),
	bug("lease-from-add", actAt(Leased, func(e *Event) {
		if e.Job.TTR > time.Second {
			e.Until = e.Job.CreationTime.Add(e.Job.TTR)
		}
	})),
	bug("lease-names-in-order", actAt(Choosing, func(e *Event) { e.Names = e.Command.Names })),
	bug("lease-other-id", record(workq.Lease, setOtherID)),
	bug("lease-other-name", record(workq.Lease, func(r *workq.Record) { r.Head[1] += ".x" })),
	bug("lease-timeout-late", multiplyWait(workq.Lease, 4)),
	bug("lease-ttr-seconds",
		record(workq.Lease, func(r *workq.Record) { r.Head[2] = r.Head[2][:max(1, len(r.Head[2])-3)] })),
	bug("result-timeout-late", multiplyWait(workq.Result, 4)),
	bug("run-other-id", record(workq.Run, setOtherID)),
	bug("run-time-to-run", actAt(Adding, func(e *Event) { e.Job.TTR *= 8 }, workq.Run)),
	bug("run-timeout-late", multiplyWait(workq.Run, 4)),
	// About the reports of workers. (complete; fail)
	bug("complete-is-failed", actAt(Finished, func(e *Event) { e.Success = false }, workq.Complete)),
	bug("complete-late-refused", actBetween(at(Expired), at(Leased), reads(workq.Complete), answer(notFound()))),
	bug("complete-result-cut", actAt(Finished, cutResult, workq.Complete)),
	bug("complete-where-leased",
		catalogue.WithMemoryBy(jobOf, catalogue.Any(hasLeased, reads(workq.Complete)), func(holder *int, e *Event) {
			if *holder = cmp.Or(*holder, e.Conn); e.Point == Parsed && *holder != e.Conn {
				answer(notFound())(e)
			}
		})),
	bug("fail-again-attempts", actAt(Failed, func(e *Event) { e.Retry = e.Fails < e.Job.MaxFails })),
	bug("fail-again-never", actAt(Failed, func(e *Event) { e.Retry = false })),
	bug("fail-result-cut", actAt(Finished, cutResult, workq.Fail)),
	// About commands that cannot be read.
	bug("cut-line-hangs", catalogue.WithMemory(catalogue.Any(at(Unfinished), at(Adding)), loseNamedJobs)),
	// About inspect and delete.
	bug("delete-leased-refused", actBetween(at(Leased), isUnheld, reads(workq.Delete), answer(notFound()))),
	bug("inspect-attempts-before", catalogue.ActAfter(jobOf, at(Evicted), at(Inspected, workq.InspectJob),
		changeKey(workq.InspectJob, "attempts", func(string) string { return "1" }))),
	bug("inspect-attempts-zero", changeKey(workq.InspectJob, "attempts", toZero)),
	bug("inspect-count-less",
		record(workq.InspectJob, func(r *workq.Record) { r.Head[1] = strconv.Itoa(len(r.Keys) - 1) })),
	bug("inspect-fails-zero", changeKey(workq.InspectJob, "fails", toZero)),
	bug("inspect-jobs-empty", actAt(Inspected, clearRecords, workq.InspectJobs)),
	bug("inspect-limit-ignored", removeLimit(workq.InspectJobs)),
	bug("inspect-other-priority", changeKey(workq.InspectJob, "priority", toZero)),
	bug("inspect-queue-empty", changeKey(workq.InspectQueue, "ready-len", toZero)),
	bug("inspect-queue-scheduled", changeKey(workq.InspectQueue, "scheduled-len", toZero)),
	bug("inspect-queues-limit", removeLimit(workq.InspectQueues)),
	bug("inspect-scheduled-empty", actAt(Inspected, clearRecords, workq.InspectScheduled)),
	bug("inspect-scheduled-limit", removeLimit(workq.InspectScheduled)),
	bug("inspect-server-started", actAt(Inspected, func(e *Event) {
		e.Records[0] = workq.InspectRecord("server", e.Records[0].Keys[:2]...)
	}, workq.InspectServer)),
	bug("inspect-state-new", changeKey(workq.InspectJob, "state", toZero)),
	// These accept what is malformed, or write replies that are.
	bug("line-lf", replaceBytes("\r\n", "\n")),
	bug("line-size-less", record(workq.Lease, func(r *workq.Record) {
		if len(r.Block) > 0 {
			r.Head[3] = strconv.Itoa(len(r.Block) - 1)
		}
	})),
}

// changeAdded returns a hook that changes the jobs that a verb adds.
func changeAdded(verb string, change func(*Job)) func(*Event) {
	return actAt(Adding, func(e *Event) { change(e.Job) }, verb)
}

// renumber gives the job of a command another id.
func renumber(e *Event) {
	last := "0"
	if strings.HasSuffix(e.Command.ID, last) {
		last = "1"
	}
	e.Command.ID = e.Command.ID[:35] + last
}

// isUnheld is the condition that a job is not held by a worker any more.
func isUnheld(e *Event) bool { return e.Point == Expired || e.Point == Finished }

// multiplyWait returns a hook by which a command waits so many times as long as it says.
func multiplyWait(verb string, factor uint64) func(*Event) {
	return actAt(Parsed, func(e *Event) { e.Command.Wait *= factor }, verb)
}

func setOtherID(r *workq.Record) { r.Head[0] = "00000000-0000-4000-8000-000000000000" }

// cutResult leaves one byte of a result.
func cutResult(e *Event) { e.Result = e.Result[:min(len(e.Result), 1)] }

// hasLeased is the condition that a lease is answered with a job.
func hasLeased(e *Event) bool {
	return e.Point == Ran && e.Command.Verb == workq.Lease && len(e.Reply.Records) > 0
}

// changeKey returns a hook that changes a key of what inspect shows.
func changeKey(verb, name string, change func(string) string) func(*Event) {
	return actAt(Inspected, func(e *Event) {
		for _, r := range e.Records {
			for i := range r.Keys {
				if r.Keys[i].Name == name {
					r.Keys[i].Value = change(r.Keys[i].Value)
				}
			}
		}
	}, verb)
}

func toZero(string) string { return "0" }

// removeLimit returns a hook by which the limit of a command has no effect.
func removeLimit(verb string) func(*Event) {
	return actAt(Parsed, func(e *Event) { e.Command.Limit = math.MaxInt64 }, verb)
}

func clearRecords(e *Event) { e.Records = nil }

// replaceBytes returns a hook that replaces the first of a text in each answer.
func replaceBytes(old, replacement string) func(*Event) {
	return actAt(Writing, func(e *Event) { e.Bytes = bytes.Replace(e.Bytes, []byte(old), []byte(replacement), 1) })
}
