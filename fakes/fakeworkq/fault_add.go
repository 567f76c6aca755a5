package fakeworkq

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// allFaults is the catalogue, by commands.
var allFaults = []Fault{
	// About what jobs are added and scheduled with. (add; schedule)
	fault("add-attempts-ignored", "ADD-16 ADD-17 INSP-02 LINE-09", "max-attempts has no effect",
		changes(workq.Add, func(j *Job) { j.MaxAttempts = 0 })),
	fault("add-attempts-one", "ADD-18 INSP-04", "a job without max-attempts has two", changes(workq.Add, func(j *Job) {
		if j.MaxAttempts == 0 {
			j.MaxAttempts = 2
		}
	})),
	fault("add-fails-ignored", "ADD-20 INSP-02 INSP-04 LINE-09 RESULT-02", "max-fails has no effect",
		changes(workq.Add, func(j *Job) { j.MaxFails = 0 })),
	fault("add-fails-more", "ADD-22 INSP-02 LINE-09", "a job may fail once more than max-fails says",
		changes(workq.Add, func(j *Job) {
			if j.MaxFails > 1 {
				j.MaxFails++
			}
		})),
	fault("add-lost", "ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 DEL-01 INSP-01 INSP-06 INSP-11 INSP-13 "+
		"LEASE-02 LEASE-05 LINE-01 LINE-02 LINE-05 LINE-06 LINE-09 RESULT-02 RESULT-03 INSP-10",
		"a job that is added is lost",
		on(Adding, skip, workq.Add)),
	fault("add-other-answer", "ADD-01", "add is answered with a count",
		answers(workq.Add, "", workq.Reply{Counted: true})),
	fault("add-payload-cut", "ADD-10 ADD-11 INSP-02 INSP-13 LINE-02", "the last byte of a payload is lost",
		changes(workq.Add, func(j *Job) {
			if len(j.Payload) > 0 {
				j.Payload = j.Payload[:len(j.Payload)-1]
			}
		})),
	fault("add-payload-long", "ADD-10 ADD-11 INSP-02", "a payload of more than 32 KiB is cut",
		changes(workq.Add, func(j *Job) { j.Payload = j.Payload[:min(len(j.Payload), 32<<10)] })),
	fault("add-payload-nul", "LINE-02 ADD-10 INSP-02", "a payload ends at its first NUL", changes(workq.Add, func(j *Job) {
		j.Payload, _, _ = bytes.Cut(j.Payload, []byte{0})
	})),
	fault("add-payload-trimmed", "LINE-02 ADD-10 INSP-13 INSP-02", "white space around a payload is lost",
		changes(workq.Add, func(j *Job) { j.Payload = bytes.TrimSpace(j.Payload) })),
	fault("add-priority-ignored", "ADD-15 ADD-14 INSP-02 LINE-09", "all jobs have the same priority",
		changes(workq.Add, func(j *Job) { j.Priority = 0 })),
	fault("add-priority-reversed", "ADD-15 ADD-14 INSP-02 LINE-09", "jobs of a lower priority come first",
		changes(workq.Add, func(j *Job) { j.Priority = -j.Priority })),
	fault("add-priority-unsigned", "ADD-15 ADD-14 INSP-02", "a negative priority is 0",
		changes(workq.Add, func(j *Job) { j.Priority = max(j.Priority, 0) })),
	fault("add-same-id", "ADD-03 DEL-01 INSP-01 LEASE-02", "a second add with the same id adds another job",
		catalogue.Again(jobOf, reads(workq.Add), catalogue.On(valid(workq.Add), renumber))),
	fault("add-same-id-ended", "ADD-03", "an add with the id of a job that has ended adds another job",
		catalogue.From(jobOf, at(Finished), valid(workq.Add), renumber)),
	fault("add-ttl-32-bits", "ADD-09 INSP-02", "of the time to live only 32 bits count", changes(workq.Add, func(j *Job) {
		if j.TTL < 10_000*time.Hour {
			j.TTL = time.Duration(j.TTL.Milliseconds()&math.MaxUint32) * time.Millisecond
		}
	})),
	fault("add-ttl-ignored", "ADD-08 INSP-02", "jobs live for ever",
		changes(workq.Add, func(j *Job) { j.TTL = 10_000 * time.Hour })),
	fault("add-ttl-largest", "ADD-09", "the longest time to live is over at once",
		on(Adding, func(e *Event) { e.Skip = e.Skip || e.Job.TTL > 10_000*time.Hour }, workq.Add)),
	fault("add-ttl-leased", "ADD-08", "a job that is leased when its time to live is over stays",
		while(at(Leased), notHeld, at(Evicted), skip)),
	fault("add-ttl-reported", "ADD-08", "a job that was reported in the last second of its time to live stays",
		catalogue.KeepBy(jobOf, catalogue.Any(at(Finished), at(Evicted)), func(ended *time.Time, e *Event) {
			if e.Point == Finished {
				*ended = time.Now()
				return
			}
			e.Skip = time.Since(*ended) < time.Second
		})),
	fault("add-ttr-halved", "LEASE-08 LEASE-01 INSP-02", "a time to run of less than a minute is half as long",
		changes(workq.Add, func(j *Job) {
			if j.TTR < time.Minute {
				j.TTR /= 2
			}
		})),
	fault("add-ttr-long", "ADD-06 LEASE-01 INSP-02", "a time to run of less than a minute is an hour",
		changes(workq.Add, func(j *Job) {
			if j.TTR < time.Minute {
				j.TTR = time.Hour
			}
		})),
	fault("schedule-at-once", "SCHED-02 INSP-01 INSP-09", "a scheduled job can be leased at once",
		changes(workq.Schedule, func(j *Job) { j.Due = time.Time{} })),
	fault("schedule-attempts-ignored", "ADD-16", "max-attempts of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.MaxAttempts = 0 })),
	fault("schedule-fails-ignored", "ADD-20", "max-fails of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.MaxFails = 0 })),
	fault("schedule-late", "SCHED-03 SCHED-04 INSP-02 INSP-09 INSP-10", "a scheduled job comes 20 s late",
		changes(workq.Schedule, func(j *Job) { j.Due = j.Due.Add(20 * time.Second) })),
	fault("schedule-lost", "SCHED-03 SCHED-04 INSP-10", "a scheduled job is lost", on(Due, skip)),
	fault("schedule-priority-ignored", "ADD-15 INSP-02", "the priority of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.Priority = 0 })),
	fault("schedule-ttl-at-once", "SCHED-04 INSP-02", "the time to live of a scheduled job starts at once",
		changes(workq.Schedule, func(j *Job) { j.TTL -= time.Until(j.Due) })),
	// About giving jobs out, and waiting for them. (lease; run; result)
	fault("lease-again-longer", "ADD-06", "the time to run of a job that is leased again is three times as long",
		catalogue.KeepBy(jobOf, at(Leased), func(before *bool, e *Event) {
			if *before {
				e.Until = e.Until.Add(2 * e.Job.TTR)
			}
			*before = true
		})),
	fault("lease-eight-names", "LEASE-02", "names of a lease behind the eighth do not count",
		on(Choosing, func(e *Event) { e.Names = e.Command.Names[:min(8, len(e.Command.Names))] })),
	fault("lease-expires-never", "ADD-06", "a job whose time to run is over stays with its worker",
		on(Expired, skip)).Also("lease-not-held"),
	fault("lease-expires-once", "ADD-06 ADD-18", "the time to run of a job ends once, and never when it is leased again",
		catalogue.KeepBy(jobOf, at(Expired), func(before *bool, e *Event) { e.Skip, *before = *before, true })),
	fault("lease-first-name", "LEASE-02 LEASE-05", "only the first name of a lease counts",
		on(Choosing, func(e *Event) { e.Names = e.Command.Names[:1] })),
	fault("lease-from-add", "LEASE-08", "the time to run begins with the add", on(Leased, func(e *Event) {
		if e.Job.TTR > time.Second {
			e.Until = e.Job.Created.Add(e.Job.TTR)
		}
	})),
	fault("lease-no-wait", "LEASE-04 LEASE-01 ADD-06 LEASE-05 SCHED-03 SCHED-04", "a lease does not wait",
		waits(workq.Lease, 0)),
	fault("lease-other-id",
		"LEASE-01 ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 LEASE-02 LEASE-05 SCHED-03 SCHED-04 INSP-03",
		"a leased job has another id", record(workq.Lease, otherID)),
	fault("lease-other-name", "LEASE-02 LEASE-01 ADD-07 ADD-10 ADD-11", "a leased job has another name",
		record(workq.Lease, func(r *workq.Record) { r.Head[1] += ".x" })),
	fault("lease-short", "LEASE-08 ADD-03 LEASE-02 RUN-05 INSP-04", "a lease is over after 100 ms",
		on(Leased, func(e *Event) { e.Until = time.Now().Add(100 * time.Millisecond) })),
	fault("lease-timeout-empty", "LEASE-01 LEASE-04", "a lease without a job is answered with no records",
		answers(workq.Lease, workq.Timeout, workq.Reply{Counted: true})),
	fault("lease-timeout-late", "LEASE-04 SCHED-02 LEASE-08", "a lease waits four times as long", waits(workq.Lease, 4)),
	fault("lease-ttr-seconds", "LEASE-01 ADD-07", "a lease shows the time to run in seconds",
		record(workq.Lease, func(r *workq.Record) { r.Head[2] = r.Head[2][:max(1, len(r.Head[2])-3)] })),
	fault("result-no-wait", "RESULT-02 RESULT-03", "result does not wait", waits(workq.Result, 0)),
	fault("result-timeout-late", "RESULT-03", "result waits four times as long", waits(workq.Result, 4)),
	fault("result-unknown-timeout", "RESULT-04 ADD-08 DEL-02", "the result of an unknown id is answered with a timeout",
		answers(workq.Result, workq.NotFound, timeout())),
	fault("run-other-id", "RUN-03", "the reply to run has another id", record(workq.Run, otherID)),
	fault("run-time-to-run", "RUN-05 LEASE-01", "run waits for a worker eight times as long as the job may run",
		on(Adding, func(e *Event) { e.Job.TTR *= 8 }, workq.Run)),
	fault("run-timeout-early", "RUN-04 LEASE-01", "run does not wait for a worker",
		// Not a wait of 0: who is first then, the end of the wait or a worker's lease, is a matter of chance.
		on(Parsed, func(e *Event) { e.Skip, e.Reply = e.Err == nil, timeout() }, workq.Run)),
	fault("run-timeout-late", "RUN-04", "run waits four times as long for a worker", waits(workq.Run, 4)),
	// About the reports of workers. (complete; fail)
	fault("complete-is-failed", "RUN-02 INSP-04 RESULT-01 RUN-01 RUN-03", "a completed job has failed",
		on(Finished, func(e *Event) { e.Success = false }, workq.Complete)),
	fault("complete-late-refused", "LEASE-07", "complete of a job that waits again is answered with -NOT-FOUND",
		while(at(Expired), at(Leased), reads(workq.Complete), answer(notFound()))),
	fault("complete-lost", "DONE-02 DONE-03 LEASE-06 LEASE-07 RESULT-01 RESULT-02 RUN-01 RUN-02 RUN-03 INSP-04",
		"complete has no effect", on(Finished, skip, workq.Complete)),
	fault("complete-other-answer", "DONE-01", "complete is answered with a count",
		answers(workq.Complete, "", workq.Reply{Counted: true})),
	fault("complete-result-cut", "RESULT-01 DONE-03 RUN-01", "a result has one byte at most",
		on(Finished, cutResult, workq.Complete)),
	fault("complete-unknown-ok", "DONE-04", "complete of an unknown id is answered with OK",
		answers(workq.Complete, workq.NotFound, workq.OK())),
	fault("complete-where-leased", "LEASE-06", "only the connection that leased a job can complete it",
		catalogue.KeepBy(jobOf, catalogue.Any(hasLeased, reads(workq.Complete)), func(by *int, e *Event) {
			if *by = cmp.Or(*by, e.Conn); e.Point == Parsed && *by != e.Conn {
				answer(notFound())(e)
			}
		})),
	fault("fail-again-always", "ADD-22 RESULT-05 RUN-02 ADD-16 INSP-04", "a failed job is always tried again",
		on(Failed, func(e *Event) { e.Again = true })),
	fault("fail-again-attempts", "ADD-16", "a failed job is tried again whatever max-attempts says",
		on(Failed, func(e *Event) { e.Again = e.Fails < e.Job.MaxFails })),
	fault("fail-again-never", "ADD-20 INSP-04", "a failed job is never tried again",
		on(Failed, func(e *Event) { e.Again = false })),
	fault("fail-is-completed", "RESULT-05 INSP-04 RUN-02", "a failed job is completed",
		on(Finished, func(e *Event) { e.Success = true }, workq.Fail)),
	fault("fail-other-answer", "FAIL-01", "fail is answered with a count",
		answers(workq.Fail, "", workq.Reply{Counted: true})),
	fault("fail-result-cut", "RESULT-05 RUN-01", "the result of a failed job has one byte at most",
		on(Finished, cutResult, workq.Fail)),
	fault("fail-unknown-ok", "FAIL-02", "fail of an unknown id is answered with OK",
		answers(workq.Fail, workq.NotFound, workq.OK())),
	// About inspect and delete.
	fault("delete-keeps", "DEL-02 DEL-03 ADD-08 INSP-10", "delete has no effect", catalogue.On(valid(workq.Delete), skip)),
	fault("delete-leased-refused", "DEL-01", "delete of a leased job is answered with -NOT-FOUND",
		while(at(Leased), notHeld, reads(workq.Delete), answer(notFound()))),
	fault("delete-other-answer", "DEL-01 LINE-01", "delete is answered with a count",
		answers(workq.Delete, "", workq.Reply{Counted: true})),
	fault("delete-scheduled-kept", "DEL-02 INSP-10", "delete has no effect on a scheduled job",
		while(at(Adding, workq.Schedule), at(Due), reads(workq.Delete), answer(workq.OK()))),
	fault("delete-unknown-ok", "DEL-03 ADD-08", "delete of an unknown id is answered with OK",
		answers(workq.Delete, workq.NotFound, workq.OK())),
	fault("inspect-attempts-zero", "INSP-03", "attempts is always 0", key(workq.InspectJob, "attempts", zero)),
	fault("inspect-count-less", "INSP-13 INSP-01 LINE-02 LINE-03 LINE-07 LINE-09 INSP-09",
		"inspect job announces one key too few",
		record(workq.InspectJob, func(r *workq.Record) { r.Head[1] = strconv.Itoa(len(r.Keys) - 1) })),
	fault("inspect-fails-one", "INSP-03", "fails is 1 at most", value("fails", "2", "1")),
	fault("inspect-fails-zero", "INSP-03", "fails is always 0", key(workq.InspectJob, "fails", zero)),
	fault("inspect-jobs-empty", "INSP-06", "inspect jobs returns no jobs", on(Inspected, showNothing, workq.InspectJobs)),
	fault("inspect-limit-ignored", "INSP-07", "limit has no effect", unlimited(workq.InspectJobs)),
	fault("inspect-offset-ignored", "INSP-07", "cursor-offset has no effect",
		on(Parsed, func(e *Event) { e.Command.Offset = 0 }, workq.InspectJobs)),
	fault("inspect-other-priority", "INSP-02 LINE-09", "inspect job shows no priority",
		key(workq.InspectJob, "priority", zero)),
	fault("inspect-queue-empty", "INSP-10", "inspect queue counts no jobs that are ready",
		key(workq.InspectQueue, "ready-len", zero)),
	fault("inspect-queue-scheduled", "INSP-10", "inspect queue counts no scheduled jobs",
		key(workq.InspectQueue, "scheduled-len", zero)),
	fault("inspect-queues-limit", "INSP-07", "limit has no effect on inspect queues", unlimited(workq.InspectQueues)),
	fault("inspect-scheduled-empty", "INSP-09", "inspect scheduled-jobs returns no jobs",
		on(Inspected, showNothing, workq.InspectScheduled)),
	fault("inspect-scheduled-limit", "INSP-07", "limit has no effect on inspect scheduled-jobs",
		unlimited(workq.InspectScheduled)),
	fault("inspect-server-started", "INSP-12", "inspect server does not say when it was started",
		on(Inspected, func(e *Event) {
			e.Records[0] = workq.Inspected("server", e.Records[0].Keys[:2]...)
		}, workq.InspectServer)),
	fault("inspect-state-again", "INSP-04", "the state of a job that waits again is 0", value("state", "3", "0")),
	fault("inspect-state-failed", "INSP-04 RESULT-02", "the state of a job that has failed is 3",
		value("state", "2", "3")),
	fault("inspect-state-new", "INSP-04", "state is always 0", key(workq.InspectJob, "state", zero)),
	fault("inspect-ttl-seconds", "INSP-02", "inspect job shows the time to live in seconds",
		key(workq.InspectJob, "ttl", func(v string) string { return strings.TrimSuffix(v, "000") })),
	fault("inspect-unknown-empty", "INSP-13 INSP-05 ADD-08 DEL-02",
		"inspect job of an unknown id is answered with no records",
		answers(workq.InspectJob, workq.NotFound, workq.Reply{Counted: true})),
	// These accept what is malformed, or write replies that are.
	fault("line-bare-ok", "LINE-03", "the reply to add is OK without its sign",
		on(Ran, func(e *Event) { e.Reply.Bare = true }, workq.Add)),
	fault("line-error-word", "LINE-04", "malformed commands are answered with -ERROR",
		bytesOf("-CLIENT-ERROR", "-ERROR")),
	fault("line-lf", "LINE-05", "the first line of a reply ends with LF alone", bytesOf("\r\n", "\n")),
	fault("line-lower", "LINE-03", "a success begins with +ok", bytesOf("+OK", "+ok")),
	fault("line-refused-closes", "LINE-10", "the connection is closed behind a client error",
		on(Writing, func(e *Event) { e.Close = e.Reply.Error == workq.ClientError })),
	fault("line-reply-twice", "LINE-07", "every reply to delete is sent twice",
		on(Writing, func(e *Event) { e.Bytes = append(e.Bytes, e.Bytes...) }, workq.Delete)),
	fault("line-size-less", "LINE-06", "a leased payload is announced with one byte too few",
		record(workq.Lease, func(r *workq.Record) {
			if len(r.Block) > 0 {
				r.Head[3] = strconv.Itoa(len(r.Block) - 1)
			}
		})),
	fault("line-timeout-text", "LINE-04 LEASE-04", "a timeout has a description", bytesOf("-TIMEOUT", "-TIMEOUT no job")),
	fault("refused-arguments", "ERR-01", "a command without one of its arguments is answered with OK",
		accepts("arguments")),
	fault("refused-attempts", "ADD-19 ERR-01 LINE-04", "any max-attempts is taken", accepts("value of -max-attempts")),
	fault("refused-id", "ADD-04 ERR-01 LINE-04", "any id is taken", accepts("valid id")),
	fault("refused-name", "ADD-05 ERR-01 LINE-04", "any name is taken", accepts("valid name")),
	fault("refused-name-dot", "ADD-05", "a name with a dot is refused", catalogue.On(valid(workq.Add), func(e *Event) {
		if strings.Contains(e.Command.Name(), ".") {
			e.Err = errors.New("a name has letters and digits")
		}
	})),
	fault("refused-priority", "ADD-14 ERR-01 LINE-04", "any priority is taken", accepts("value of -priority")),
	fault("refused-server-error", "ERR-01 ADD-04 ADD-05 ADD-07 ADD-12 ADD-13 ADD-14 ADD-19 LINE-04 SCHED-05",
		"malformed commands are answered with a server error", on(Ran, func(e *Event) {
			if e.Reply.Error == workq.ClientError {
				e.Reply.Error = workq.ServerError
			}
		})),
	fault("refused-size", "ADD-13 ERR-01 LINE-04", "a payload of another size is taken", accepts("where its size says")),
	fault("refused-size-large", "ADD-12", "a payload of more than 1 MiB is taken", accepts("valid size")),
	fault("refused-time", "SCHED-05 ERR-01 LINE-04", "any time is taken", accepts("valid time")),
	fault("refused-ttr", "ADD-07 ERR-01 LINE-04", "any time to run is taken", accepts("valid ttr")),
}

// changes returns a hook that changes the jobs that a verb adds.
func changes(verb string, change func(*Job)) func(*Event) {
	return on(Adding, func(e *Event) { change(e.Job) }, verb)
}

// renumber gives the job of a command another id.
func renumber(e *Event) {
	last := "0"
	if strings.HasSuffix(e.Command.ID, last) {
		last = "1"
	}
	e.Command.ID = e.Command.ID[:35] + last
}

// notHeld is the condition that a job is not held by a worker any more.
func notHeld(e *Event) bool { return e.Point == Expired || e.Point == Finished }

// waits returns a hook by which a command waits so many times as long as it says.
func waits(verb string, factor uint64) func(*Event) {
	return on(Parsed, func(e *Event) { e.Command.Wait *= factor }, verb)
}

func otherID(r *workq.Record) { r.Head[0] = "00000000-0000-4000-8000-000000000000" }

// cutResult leaves one byte of a result.
func cutResult(e *Event) { e.Result = e.Result[:min(len(e.Result), 1)] }

// hasLeased is the condition that a lease is answered with a job.
func hasLeased(e *Event) bool {
	return e.Point == Ran && e.Command.Verb == workq.Lease && len(e.Reply.Records) > 0
}

// key returns a hook that changes a key of what inspect shows.
func key(verb, name string, change func(string) string) func(*Event) {
	return on(Inspected, func(e *Event) {
		for _, r := range e.Records {
			for i := range r.Keys {
				if r.Keys[i].Name == name {
					r.Keys[i].Value = change(r.Keys[i].Value)
				}
			}
		}
	}, verb)
}

func zero(string) string { return "0" }

// value returns a hook that shows another value for one of a key of inspect job.
func value(name, shown, instead string) func(*Event) {
	return key(workq.InspectJob, name, func(v string) string {
		if v == shown {
			return instead
		}
		return v
	})
}

// unlimited returns a hook by which the limit of a command has no effect.
func unlimited(verb string) func(*Event) {
	return on(Parsed, func(e *Event) { e.Command.Limit = math.MaxInt64 }, verb)
}

func showNothing(e *Event) { e.Records = nil }

// accepts returns a hook that answers with OK what is refused for a reason.
func accepts(reason string) func(*Event) {
	return on(Parsed, func(e *Event) { e.Skip = e.Err != nil && strings.Contains(e.Err.Error(), reason) })
}

// bytesOf returns a hook that replaces the first of a text in each answer.
func bytesOf(old, with string) func(*Event) {
	return on(Writing, func(e *Event) { e.Bytes = bytes.Replace(e.Bytes, []byte(old), []byte(with), 1) })
}
