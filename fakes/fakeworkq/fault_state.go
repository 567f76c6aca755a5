package fakeworkq

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/workq"
)

// stateFaults are about jobs in a state in which a server may forget them: scheduled, leased, pending, ended.
func stateFaults() []Fault {
	return []Fault{
		statefulFault("add-same-id-ended", "ADD-03", "an add with the id of a job that has ended adds another job",
			sameIDEnded),
		statefulFault("add-ttl-leased", "ADD-08", "a job that is leased when its time to live is over stays", leasedStays),
		fault("add-ttl-32-bits", "ADD-09", "of the time to live only 32 bits count", adding(func(j *Job) {
			if j.TTL < 10_000*time.Hour {
				j.TTL = time.Duration(j.TTL.Milliseconds()&math.MaxUint32) * time.Millisecond
			}
		})),
		statefulFault("delete-leased-refused", "DEL-01", "delete of a leased job is answered with -NOT-FOUND",
			whileLeased(workq.Delete, workq.Reply{Error: workq.NotFound})),
		statefulFault("delete-scheduled-kept", "DEL-02", "delete has no effect on a scheduled job", scheduledKept),
		fault("fail-again-attempts", "ADD-16", "a failed job is tried again whatever max-attempts says",
			at(Failed, func(e *Event) { e.Again = e.Fails < e.Job.MaxFails })),
		statefulFault("complete-late-refused", "LEASE-07",
			"complete of a job that waits again is answered with -NOT-FOUND", lateRefused),
		fault("lease-eight-names", "LEASE-02", "names of a lease behind the eighth do not count",
			at(Choosing, func(e *Event) { e.Names = e.Command.Names[:min(8, len(e.Command.Names))] })),
		fault("lease-from-add", "LEASE-08", "the time to run begins with the add",
			at(Leased, func(e *Event) {
				if e.Job.TTR > time.Second {
					e.Until = e.Job.Created.Add(e.Job.TTR)
				}
			})),
		fault("refused-name-dot", "ADD-05", "a name with a dot is refused", at(Parsed, func(e *Event) {
			if e.Err == nil && strings.Contains(e.Command.Name(), ".") {
				e.Err = errors.New("a name has letters and digits")
			}
		}, workq.Add)),
		fault("inspect-fails-one", "INSP-03", "fails is 1 at most", value("fails", "2", "1")),
		fault("inspect-state-again", "INSP-04", "the state of a job that waits again is 0", value("state", "3", "0")),
		fault("inspect-state-failed", "INSP-04", "the state of a job that has failed is 3", value("state", "2", "3")),
		fault("inspect-scheduled-limit", "INSP-07", "limit has no effect on inspect scheduled-jobs",
			at(Parsed, func(e *Event) { e.Command.Limit = math.MaxInt64 }, workq.InspectScheduled)),
		fault("inspect-queues-limit", "INSP-07", "limit has no effect on inspect queues",
			at(Parsed, func(e *Event) { e.Command.Limit = math.MaxInt64 }, workq.InspectQueues)),
	}
}

// flagFaults are about the flags of scheduled jobs.
func flagFaults() []Fault {
	scheduled := func(change func(*Job)) func(*Event) {
		return at(Adding, func(e *Event) { change(e.Job) }, workq.Schedule)
	}
	return []Fault{
		fault("schedule-priority-ignored", "ADD-15", "the priority of a scheduled job has no effect",
			scheduled(func(j *Job) { j.Priority = 0 })),
		fault("schedule-attempts-ignored", "ADD-16", "max-attempts of a scheduled job has no effect",
			scheduled(func(j *Job) { j.MaxAttempts = 0 })),
		fault("schedule-fails-ignored", "ADD-20", "max-fails of a scheduled job has no effect",
			scheduled(func(j *Job) { j.MaxFails = 0 })),
	}
}

// value returns a hook that shows another value for one of a key of inspect job.
func value(name, shown, instead string) func(*Event) {
	return key(workq.InspectJob, name, func(v string) string {
		if v == shown {
			return instead
		}
		return v
	})
}

func sameIDEnded() func(*Event) {
	var over once
	return func(e *Event) {
		switch {
		case e.Point == Finished:
			over.first(e.Job.UUID, 0)
		case e.Point == Parsed && e.Command.Verb == workq.Add && e.Err == nil && over.has(e.Command.ID):
			last := "0"
			if strings.HasSuffix(e.Command.ID, last) {
				last = "1"
			}
			e.Command.ID = e.Command.ID[:35] + last
		}
	}
}

// held remembers the jobs that workers hold.
func (o *once) held(e *Event) {
	switch e.Point {
	case Leased:
		o.first(e.Job.UUID, 0)
	case Expired, Finished:
		o.forget(e.Job.UUID)
	}
}

func leasedStays() func(*Event) {
	var leased once
	return func(e *Event) {
		leased.held(e)
		if e.Point == Evicted {
			e.Skip = leased.has(e.Job.UUID)
		}
	}
}

// whileLeased answers a command about a job that a worker holds without carrying it out.
func whileLeased(verb string, reply workq.Reply) func() func(*Event) {
	return func() func(*Event) {
		var leased once
		return func(e *Event) {
			leased.held(e)
			if e.Point == Parsed && e.Command.Verb == verb && leased.has(e.Command.ID) {
				e.Skip, e.Reply = true, reply
			}
		}
	}
}

func scheduledKept() func(*Event) {
	var scheduled once
	return func(e *Event) {
		switch {
		case e.Point == Adding && e.Command.Verb == workq.Schedule:
			scheduled.first(e.Job.UUID, 0)
		case e.Point == Due:
			scheduled.forget(e.Job.UUID)
		case e.Point == Parsed && e.Command.Verb == workq.Delete && scheduled.has(e.Command.ID):
			e.Skip, e.Reply = true, workq.OK()
		}
	}
}

func lateRefused() func(*Event) {
	var late once
	return func(e *Event) {
		switch {
		case e.Point == Expired:
			late.first(e.Job.UUID, 0)
		case e.Point == Leased:
			late.forget(e.Job.UUID)
		case e.Point == Parsed && e.Command.Verb == workq.Complete && late.has(e.Command.ID):
			e.Skip, e.Reply = true, workq.Reply{Error: workq.NotFound}
		}
	}
}
