package fakeworkq

import (
	"math"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// inspectFaults are about inspect and delete.
var inspectFaults = []Fault{
	fault("delete-keeps", "DEL-02 DEL-03", "delete has no effect", catalogue.On(valid(workq.Delete), skip)),
	fault("delete-leased-refused", "DEL-01", "delete of a leased job is answered with -NOT-FOUND",
		while(at(Leased), notHeld, reads(workq.Delete), answer(notFound()))),
	fault("delete-other-answer", "DEL-01 LINE-01", "delete is answered with a count",
		answers(workq.Delete, "", workq.Reply{Counted: true})),
	fault("delete-scheduled-kept", "DEL-02", "delete has no effect on a scheduled job",
		while(at(Adding, workq.Schedule), at(Due), reads(workq.Delete), answer(workq.OK()))),
	fault("delete-unknown-ok", "DEL-03", "delete of an unknown id is answered with OK",
		answers(workq.Delete, workq.NotFound, workq.OK())),
	fault("inspect-attempts-zero", "INSP-03", "attempts is always 0", key(workq.InspectJob, "attempts", zero)),
	fault("inspect-count-less", "INSP-13 INSP-01 LINE-02 LINE-03 LINE-07 LINE-09",
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
	fault("inspect-state-failed", "INSP-04", "the state of a job that has failed is 3", value("state", "2", "3")),
	fault("inspect-state-new", "INSP-04", "state is always 0", key(workq.InspectJob, "state", zero)),
	fault("inspect-ttl-seconds", "INSP-02", "inspect job shows the time to live in seconds",
		key(workq.InspectJob, "ttl", func(v string) string { return strings.TrimSuffix(v, "000") })),
	fault("inspect-unknown-empty", "INSP-13 INSP-05 ADD-08 DEL-02",
		"inspect job of an unknown id is answered with no records",
		answers(workq.InspectJob, workq.NotFound, workq.Reply{Counted: true})),
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
