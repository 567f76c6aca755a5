package fakeworkq

import (
	"bytes"
	"math"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// addFaults are about what jobs are added and scheduled with. (add; schedule)
var addFaults = []Fault{
	fault("add-attempts-ignored", "ADD-16 ADD-17 INSP-02 LINE-09", "max-attempts has no effect",
		changes(workq.Add, func(j *Job) { j.MaxAttempts = 0 })),
	fault("add-attempts-one", "ADD-18", "a job without max-attempts has two attempts", changes(workq.Add, func(j *Job) {
		if j.MaxAttempts == 0 {
			j.MaxAttempts = 2
		}
	})),
	fault("add-fails-ignored", "ADD-20 INSP-02 INSP-04 LINE-09", "max-fails has no effect",
		changes(workq.Add, func(j *Job) { j.MaxFails = 0 })),
	fault("add-fails-more", "ADD-22 INSP-02 LINE-09", "a job may fail once more than max-fails says",
		changes(workq.Add, func(j *Job) {
			if j.MaxFails > 1 {
				j.MaxFails++
			}
		})),
	fault("add-lost", "ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 INSP-01 INSP-06 INSP-13 LEASE-02 "+
		"LEASE-05 LINE-01 LINE-02 LINE-05 LINE-06 LINE-09 RESULT-02 RESULT-03 INSP-10", "a job that is added is lost",
		on(Adding, skip, workq.Add)),
	fault("add-other-answer", "ADD-01", "add is answered with a count",
		answers(workq.Add, "", workq.Reply{Counted: true})),
	fault("add-payload-cut", "ADD-10 ADD-11 INSP-02 INSP-13 LINE-02", "the last byte of a payload is lost",
		changes(workq.Add, func(j *Job) {
			if len(j.Payload) > 0 {
				j.Payload = j.Payload[:len(j.Payload)-1]
			}
		})),
	fault("add-payload-long", "ADD-10 ADD-11", "a payload of more than 32 KiB is cut",
		changes(workq.Add, func(j *Job) { j.Payload = j.Payload[:min(len(j.Payload), 32<<10)] })),
	fault("add-payload-nul", "LINE-02 ADD-10", "a payload ends at its first NUL", changes(workq.Add, func(j *Job) {
		j.Payload, _, _ = bytes.Cut(j.Payload, []byte{0})
	})),
	fault("add-payload-trimmed", "LINE-02 ADD-10 INSP-13", "white space around a payload is lost",
		changes(workq.Add, func(j *Job) { j.Payload = bytes.TrimSpace(j.Payload) })),
	fault("add-priority-ignored", "ADD-15 ADD-14 INSP-02 LINE-09", "all jobs have the same priority",
		changes(workq.Add, func(j *Job) { j.Priority = 0 })),
	fault("add-priority-reversed", "ADD-15 ADD-14 INSP-02 LINE-09", "jobs of a lower priority come first",
		changes(workq.Add, func(j *Job) { j.Priority = -j.Priority })),
	fault("add-priority-unsigned", "ADD-15 ADD-14", "a negative priority is 0",
		changes(workq.Add, func(j *Job) { j.Priority = max(j.Priority, 0) })),
	fault("add-same-id", "ADD-03", "a second add with the same id adds another job",
		catalogue.Again(jobOf, reads(workq.Add), catalogue.On(valid(workq.Add), renumber))),
	fault("add-same-id-ended", "ADD-03", "an add with the id of a job that has ended adds another job",
		catalogue.From(jobOf, at(Finished), valid(workq.Add), renumber)),
	fault("add-ttl-32-bits", "ADD-09", "of the time to live only 32 bits count", changes(workq.Add, func(j *Job) {
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
	fault("add-ttr-halved", "LEASE-08", "a time to run of less than a minute is half as long",
		changes(workq.Add, func(j *Job) {
			if j.TTR < time.Minute {
				j.TTR /= 2
			}
		})),
	fault("add-ttr-long", "ADD-06", "a time to run of less than a minute is an hour", changes(workq.Add, func(j *Job) {
		if j.TTR < time.Minute {
			j.TTR = time.Hour
		}
	})),
	fault("schedule-at-once", "SCHED-02 INSP-09", "a scheduled job can be leased at once",
		changes(workq.Schedule, func(j *Job) { j.Due = time.Time{} })),
	fault("schedule-attempts-ignored", "ADD-16", "max-attempts of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.MaxAttempts = 0 })),
	fault("schedule-fails-ignored", "ADD-20", "max-fails of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.MaxFails = 0 })),
	fault("schedule-late", "SCHED-03 SCHED-04", "a scheduled job comes 20 s late",
		changes(workq.Schedule, func(j *Job) { j.Due = j.Due.Add(20 * time.Second) })),
	fault("schedule-lost", "SCHED-03 SCHED-04", "a scheduled job is lost", on(Due, skip)),
	fault("schedule-priority-ignored", "ADD-15", "the priority of a scheduled job has no effect",
		changes(workq.Schedule, func(j *Job) { j.Priority = 0 })),
	fault("schedule-ttl-at-once", "SCHED-04", "the time to live of a scheduled job starts at once",
		changes(workq.Schedule, func(j *Job) { j.TTL -= time.Until(j.Due) })),
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
