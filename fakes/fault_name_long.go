package fakes

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// longNameFaults are about names that are compared by a part, or by a meaning that they
// do not have.
func longNameFaults() []Fault {
	return slices.Concat(longQueueFaults(), longJobFaults())
}

// longQueueFaults are about the names of queues.
func longQueueFaults() []Fault {
	return []Fault{
		fault("queue-cut-64", "FETCH-04", "queue names are cut after 64 bytes", queueNames(func(s string) string {
			return s[:min(64, len(s))]
		})),
		fault("queue-cut-255", "FETCH-04", "queue names are cut after 255 bytes", queueNames(func(s string) string {
			return s[:min(255, len(s))]
		})),
		fault("queue-dots", "FETCH-04",
			"a dot in a queue name becomes a dash",
			queueNames(func(s string) string { return strings.ReplaceAll(s, ".", "-") })),
		statefulFault("queue-pattern", "FETCH-04",
			"an asterisk or a question mark in a queue of a FETCH stands for other characters",
			moreQueues(func(named, known string) bool {
				ok, err := path.Match(named, known)
				return ok && err == nil
			})),
		statefulFault("queue-expression", "FETCH-04",
			"a dot in a queue of a FETCH stands for any character",
			moreQueues(func(named, known string) bool {
				ok, err := regexp.MatchString("^"+strings.ReplaceAll(regexp.QuoteMeta(named), `\.`, ".")+"$", known)
				return ok && err == nil
			})),
	}
}

// longJobFaults are about the ids of jobs.
func longJobFaults() []Fault {
	return []Fault{
		statefulFault("job-ids-cut", "STATE-09 ACK-02 STATE-07",
			"the report of a job is for the one in hand that was fetched first of those with the same 40 first bytes",
			likeJob(func(s string) string { return s[:min(40, len(s))] })),
		statefulFault("job-ids-begin", "STATE-09 ACK-02 STATE-07",
			"the report of a job is for the one in hand that was fetched first of those that have its jid or begin it",
			likeJobs(strings.HasPrefix)),
		statefulFault("job-ids-numbers", "STATE-09 ACK-02 STATE-07",
			"leading zeros of the number at the end of a jid do not count in a report",
			likeJob(func(s string) string {
				i := strings.LastIndexByte(s, '-') + 1
				if n, err := strconv.Atoi(s[i:]); err == nil {
					return s[:i] + strconv.Itoa(n)
				}
				return s
			})),
		fault("job-id-cut", "FETCH-01 FRAME-06", "a jid is delivered without what follows its first 200 bytes",
			delivered(func(job *Object) {
				job.SetText("jid", cut(job.Text("jid"), 200))
			})),
		fault("job-id-plain", "WU-01",
			"a jid with an underscore is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				if strings.Contains(e.Object.Text("jid"), "_") {
					e.decline("jid", "a jid has letters, digits and dashes")
				}
			})),
	}
}

// likeJob makes a report one of the job in hand that was fetched first and has the same key.
func likeJob(key func(jid string) string) func() func(*Event) {
	return likeJobs(func(named, held string) bool { return key(named) == key(held) })
}

// likeJobs makes a report one of the job in hand that was fetched first and matches.
func likeJobs(matches func(named, held string) bool) func() func(*Event) {
	return inHand(func(h *hands, e *Event) {
		if e.Point != Checked || e.Command.Verb != fwp.ACK && e.Command.Verb != fwp.FAIL || e.Err != nil {
			return
		}
		jid := e.Object.Text("jid")
		if held := h.of(func(one hand) bool { return matches(jid, one.jid) }); len(held) > 0 {
			e.Object.SetText("jid", held[0])
		}
	})
}
