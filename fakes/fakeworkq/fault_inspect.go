package fakeworkq

import (
	"math"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/workq"
)

// inspectFaults are about delete and inspect.
func inspectFaults() []Fault {
	return []Fault{
		fault("delete-keeps", "DEL-02 DEL-03",
			"delete has no effect", at(Parsed, func(e *Event) { e.Skip = e.Err == nil }, workq.Delete)),
		fault("delete-other-answer", "DEL-01 LINE-01", "delete is answered with a count",
			answers(workq.Delete, "", workq.Reply{Counted: true})),
		fault("delete-unknown-ok", "DEL-03", "delete of an unknown id is answered with OK",
			answers(workq.Delete, workq.NotFound, workq.OK())),
		fault("inspect-attempts-zero", "INSP-03", "attempts is always 0", key(workq.InspectJob, "attempts", zero)),
		fault("inspect-count-less", "INSP-13 INSP-01 LINE-02 LINE-03 LINE-07 LINE-09",
			"inspect job announces one key too few", record(workq.InspectJob, func(r *workq.Record) {
				r.Head[1] = strconv.Itoa(len(r.Keys) - 1)
			})),
		fault("inspect-fails-zero", "INSP-03", "fails is always 0", key(workq.InspectJob, "fails", zero)),
		fault("inspect-jobs-empty", "INSP-06", "inspect jobs returns no jobs",
			at(Inspected, func(e *Event) { e.Records = nil }, workq.InspectJobs)),
		fault("inspect-limit-ignored", "INSP-07", "limit has no effect",
			at(Parsed, func(e *Event) { e.Command.Limit = math.MaxInt64 }, workq.InspectJobs)),
		fault("inspect-offset-ignored", "INSP-07", "cursor-offset has no effect",
			at(Parsed, func(e *Event) { e.Command.Offset = 0 }, workq.InspectJobs)),
		fault("inspect-other-priority", "INSP-02 LINE-09",
			"inspect job shows no priority", key(workq.InspectJob, "priority", zero)),
		fault("inspect-queue-empty", "INSP-10", "inspect queue counts no jobs that are ready",
			key(workq.InspectQueue, "ready-len", zero)),
		fault("inspect-queue-scheduled", "INSP-10", "inspect queue counts no scheduled jobs",
			key(workq.InspectQueue, "scheduled-len", zero)),
		fault("inspect-scheduled-empty", "INSP-09", "inspect scheduled-jobs returns no jobs",
			at(Inspected, func(e *Event) { e.Records = nil }, workq.InspectScheduled)),
		fault("inspect-server-started", "INSP-12",
			"inspect server does not say when it was started", at(Inspected, func(e *Event) {
				e.Records[0] = workq.Inspected("server", e.Records[0].Keys[:2]...)
			}, workq.InspectServer)),
		fault("inspect-state-new", "INSP-04", "state is always 0", key(workq.InspectJob, "state", zero)),
		fault("inspect-ttl-seconds", "INSP-02", "inspect job shows the time to live in seconds",
			key(workq.InspectJob, "ttl", func(v string) string { return strings.TrimSuffix(v, "000") })),
		fault("inspect-unknown-empty", "INSP-13 INSP-05 ADD-08 DEL-02",
			"inspect job of an unknown id is answered with no records",
			answers(workq.InspectJob, workq.NotFound, workq.Reply{Counted: true})),
	}
}

// refusalFaults accept what is malformed.
func refusalFaults() []Fault {
	accepts := func(reason string) func(*Event) {
		return at(Parsed, func(e *Event) {
			if e.Err != nil && strings.Contains(e.Err.Error(), reason) {
				e.Skip = true // and the answer is OK
			}
		})
	}
	return []Fault{
		fault("refused-arguments", "ERR-01",
			"a command without one of its arguments is answered with OK", accepts("arguments")),
		fault("refused-attempts", "ADD-19 ERR-01 LINE-04", "any max-attempts is taken", accepts("value of -max-attempts")),
		fault("refused-id", "ADD-04 ERR-01 LINE-04", "any id is taken", accepts("valid id")),
		fault("refused-name", "ADD-05 ERR-01 LINE-04", "any name is taken", accepts("valid name")),
		fault("refused-priority", "ADD-14 ERR-01 LINE-04", "any priority is taken", accepts("value of -priority")),
		fault("refused-size", "ADD-13 ERR-01 LINE-04",
			"a payload of another size is taken", accepts("where its size says")),
		fault("refused-size-large", "ADD-12", "a payload of more than 1 MiB is taken", accepts("valid size")),
		fault("refused-time", "SCHED-05 ERR-01 LINE-04", "any time is taken", accepts("valid time")),
		fault("refused-ttr", "ADD-07 ERR-01 LINE-04", "any time to run is taken", accepts("valid ttr")),
		fault("refused-server-error", "ERR-01 ADD-04 ADD-05 ADD-07 ADD-12 ADD-13 ADD-14 ADD-19 LINE-04 SCHED-05",
			"malformed commands are answered with a server error",
			at(Ran, func(e *Event) {
				if e.Reply.Error == workq.ClientError {
					e.Reply.Error = workq.ServerError
				}
			})),
	}
}
