package fakeworkq

import (
	"bytes"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/workq"
)

func itoa(n int) string { return strconv.Itoa(n) }

// adding returns a hook that changes the jobs that are added.
func adding(change func(*Job)) func(*Event) {
	return at(Adding, func(e *Event) { change(e.Job) }, workq.Add)
}

// jobFaults are about what a job is added with.
func jobFaults() []Fault {
	return []Fault{
		fault("add-attempts-ignored", "ADD-16 ADD-17 INSP-02 LINE-09",
			"max-attempts has no effect", adding(func(j *Job) { j.MaxAttempts = 0 })),
		fault("add-attempts-one", "ADD-18", "a job without max-attempts has two attempts", adding(func(j *Job) {
			if j.MaxAttempts == 0 {
				j.MaxAttempts = 2
			}
		})),
		fault("add-fails-ignored", "ADD-20 INSP-02 INSP-04 LINE-09",
			"max-fails has no effect", adding(func(j *Job) { j.MaxFails = 0 })),
		fault("add-fails-more", "ADD-22 INSP-02 LINE-09",
			"a job may fail once more than max-fails says", adding(func(j *Job) {
				if j.MaxFails > 1 {
					j.MaxFails++
				}
			})),
		fault("add-lost", "ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 INSP-01 INSP-06 INSP-13 "+
			"LEASE-02 LEASE-05 LINE-01 LINE-02 LINE-05 LINE-06 LINE-09 RESULT-02 RESULT-03 INSP-10",
			"a job that is added is lost", at(Adding, func(e *Event) { e.Skip = true }, workq.Add)),
		fault("add-other-answer", "ADD-01",
			"add is answered with a count", answers(workq.Add, "", workq.Reply{Counted: true})),
		fault("add-priority-ignored", "ADD-15 ADD-14 INSP-02 LINE-09",
			"all jobs have the same priority", adding(func(j *Job) { j.Priority = 0 })),
		fault("add-priority-reversed", "ADD-15 ADD-14 INSP-02 LINE-09", "jobs of a lower priority come first",
			adding(func(j *Job) { j.Priority = -j.Priority })),
		fault("add-priority-unsigned", "ADD-15 ADD-14",
			"a negative priority is 0", adding(func(j *Job) { j.Priority = max(j.Priority, 0) })),
		statefulFault("add-same-id", "ADD-03", "a second add with the same id adds another job", func() func(*Event) {
			var ids once
			return at(Parsed, func(e *Event) {
				if _, again := ids.first(e.Command.ID, 0); again && e.Err == nil {
					last := byte('0')
					if e.Command.ID[35] == last {
						last = '1'
					}
					e.Command.ID = e.Command.ID[:35] + string(last)
				}
			}, workq.Add)
		}),
	}
}

// payloadFaults are about payloads.
func payloadFaults() []Fault {
	return []Fault{
		fault("add-payload-cut", "ADD-10 ADD-11 INSP-02 INSP-13 LINE-02",
			"the last byte of a payload is lost", adding(func(j *Job) {
				if len(j.Payload) > 0 {
					j.Payload = j.Payload[:len(j.Payload)-1]
				}
			})),
		fault("add-payload-nul", "LINE-02 ADD-10", "a payload ends at its first NUL", adding(func(j *Job) {
			j.Payload, _, _ = bytes.Cut(j.Payload, []byte{0})
		})),
		fault("add-payload-trimmed", "LINE-02 ADD-10 INSP-13", "white space around a payload is lost",
			adding(func(j *Job) { j.Payload = bytes.TrimSpace(j.Payload) })),
		fault("add-payload-long", "ADD-10 ADD-11", "a payload of more than 32 KiB is cut", adding(func(j *Job) {
			j.Payload = j.Payload[:min(len(j.Payload), 32<<10)]
		})),
	}
}

// timeFaults are about the time to run and the time to live.
func timeFaults() []Fault {
	return []Fault{
		fault("add-ttl-ignored", "ADD-08 INSP-02",
			"jobs live for ever", adding(func(j *Job) { j.TTL = 10_000 * time.Hour })),
		fault("add-ttl-largest", "ADD-09", "the longest time to live is over at once", at(Adding, func(e *Event) {
			e.Skip = e.Skip || e.Job.TTL > 10_000*time.Hour
		}, workq.Add)),
		fault("add-ttr-halved", "LEASE-08", "a time to run of less than a minute is half as long", adding(func(j *Job) {
			if j.TTR < time.Minute {
				j.TTR /= 2
			}
		})),
		fault("add-ttr-long", "ADD-06", "a time to run of less than a minute is an hour", adding(func(j *Job) {
			if j.TTR < time.Minute {
				j.TTR = time.Hour
			}
		})),
	}
}

// scheduleFaults are about scheduled jobs.
func scheduleFaults() []Fault {
	adding := func(change func(*Job)) func(*Event) { // another verb
		return at(Adding, func(e *Event) { change(e.Job) }, workq.Schedule)
	}
	return []Fault{
		fault("schedule-at-once", "SCHED-02 INSP-09",
			"a scheduled job can be leased at once", adding(func(j *Job) { j.Due = time.Time{} })),
		fault("schedule-late", "SCHED-03 SCHED-04", "a scheduled job comes 20 s late", adding(func(j *Job) {
			j.Due = j.Due.Add(20 * time.Second)
		})),
		fault("schedule-lost", "SCHED-03 SCHED-04", "a scheduled job is lost", at(Due, func(e *Event) { e.Skip = true })),
		fault("schedule-ttl-at-once", "SCHED-04",
			"the time to live of a scheduled job starts at once", adding(func(j *Job) {
				j.TTL -= time.Until(j.Due)
			})),
	}
}
