package workqsubject

import (
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/workq"
)

// prefix is that of the ids of clauses.
const prefix = "WORKQ-"

// Law returns the law of Workq.
func Law() law.Definition {
	return law.Definition{Start: func(t law.Terms) law.Law { return newLaw(t) }, Rules: rules, Fields: fields()}
}

// ruleOverdue is the rule of what is wrong only because of the time that has passed.
const ruleOverdue = "overdue"

var rules = map[string]law.Rule{
	"malformed": {
		Title:   "A malformed command is refused",
		Decided: "each reply to a malformed command", Clauses: "ERR-01",
	},
	"foreign": {
		Title:   "A reply is one that its command has",
		Decided: "each reply",
		Clauses: "ADD-01 DEL-01 DONE-01 FAIL-01 INSP-13 LEASE-01 LINE-07 RESULT-01 RUN-03 SCHED-01",
	},
	"reply": {
		Title:   "A command is answered as the state of its job says",
		Decided: "each reply to a command about one job",
		Clauses: "ADD-01 ADD-08 DEL-01 DEL-02 DEL-03 DONE-01 DONE-04 ERR-01 FAIL-01 FAIL-02 INSP-01 INSP-05 " +
			"INSP-06 INSP-09 INSP-10 INSP-12 INSP-13 LEASE-01 LEASE-04 RESULT-01 RESULT-02 RESULT-03 " +
			"RESULT-04 RUN-01 SCHED-01",
	},
	"result": {
		Title:   "A result is what the worker has reported",
		Decided: "each result, and each reply to run", Clauses: "RESULT-01 RESULT-02 RESULT-05 RUN-01 RUN-02",
	},

	"unknown": {
		Title:   "A job that is leased was added with one of the names",
		Decided: "each job that is leased", Clauses: "LEASE-02",
	},
	"delivered": {
		Title: "A job is leased only while it is ready", Traits: law.OfDelivery,
		Decided: "each job that is leased",
		Clauses: "ADD-03 ADD-08 ADD-16 ADD-22 DEL-02 DONE-02 LEASE-02 LEASE-08 SCHED-02",
	},
	"order": {
		Title: "A job of a higher priority is leased first", Traits: law.JobStays,
		Decided: "each job that is leased while there are jobs of its name with other priorities",
		Clauses: "ADD-15",
	},
	"chance": {
		Title: "Each name of a lease gets its turn", Traits: law.JobStays | law.Unwritten,
		Decided: "each lease of several names that all have a job, together with the others", Clauses: "LEASE-03",
	},
	"missing": {
		Title:   "A lease gets a job that is ready",
		Decided: "each reply to a lease", Clauses: "ADD-02 ADD-06 ADD-20 LEASE-02 LEASE-05 SCHED-03",
	},
	"field": {
		Title:   "A job comes back with what it was added with, and what has become of it",
		Traits:  law.OfField | law.JobStays,
		Decided: "each job that is leased or inspected, key by key",
		Clauses: "ADD-03 ADD-10 INSP-01 INSP-02 INSP-03 INSP-04 INSP-09 INSP-10 INSP-12 LEASE-01 LEASE-02",
	},
	"listed": {
		Title:   "Inspect lists as many as there are, and were asked for",
		Decided: "each list of inspect", Clauses: "INSP-06 INSP-07 INSP-09",
	},
	"shown": {
		Title: "What inspect lists is there, and what is there is listed", Traits: law.Unwritten,
		Decided: "each list of inspect", Clauses: "ADD-08 DEL-02 INSP-06 INSP-07 INSP-08 INSP-09 INSP-11",
	},

	"early": {
		Title: "A wait does not end before its time", Traits: law.Timed | law.JobStays,
		Decided: "each -TIMEOUT", Clauses: "LEASE-04 RESULT-03 RUN-04 RUN-05",
	},
	"late": {
		Title: "A wait ends when its time is over", Traits: law.Timed | law.JobStays,
		Decided: "each -TIMEOUT", Clauses: "LEASE-04 RESULT-03 RUN-04 RUN-05",
	},
	ruleOverdue: {
		Title:   "What is due happens: a lease ends, a scheduled job is ready, a job is gone",
		Traits:  law.Timed,
		Decided: "each reply about a job that time alone may have changed",
		Clauses: "ADD-02 ADD-06 ADD-08 ADD-16 ADD-20 ADD-22 DEL-02 DEL-03 DONE-04 FAIL-02 INSP-01 INSP-03 " +
			"INSP-04 INSP-05 INSP-06 INSP-07 INSP-09 INSP-10 LEASE-02 LEASE-05 LEASE-08 RESULT-02 " +
			"RESULT-03 RESULT-04 SCHED-02 SCHED-03",
	},

	explore.RuleClosed: {
		Title:   "A server does not end a connection",
		Decided: "each reply, and the end of each connection", Clauses: "LINE-10",
	},
}

// clauses are those of the commands, where no other one is about what is wrong.
var clauses = map[string]string{
	workq.Add: "ADD-01", workq.Schedule: "SCHED-01", workq.Run: "RUN-01", workq.Lease: "LEASE-01",
	workq.Complete: "DONE-01", workq.Fail: "FAIL-01", workq.Delete: "DEL-01", workq.Result: "RESULT-01",
	workq.InspectJob: "INSP-01", workq.InspectJobs: "INSP-06", workq.InspectScheduled: "INSP-09",
	workq.InspectQueue: "INSP-10", workq.InspectQueues: "INSP-13", workq.InspectServer: "INSP-12", "": "ERR-01",
}

// absentClauses are those of the commands whose job is not there.
var absentClauses = map[string]string{
	workq.Complete: "DONE-04", workq.Fail: "FAIL-02", workq.Delete: "DEL-03", workq.Result: "RESULT-04",
	workq.InspectJob: "INSP-05",
}

// ClauseOf returns the clause of a breach, "" if none has it.
func ClauseOf(breach string) string {
	kind, detail, _ := strings.Cut(breach, ":")
	id := map[string]string{
		"unasked": "LINE-07", "extra-reply": "LINE-07", "no-reply": "LINE-07", "consumer-closed": "LINE-10",
		"state-lost": "LINE-10",
	}[kind]
	switch kind {
	case "grammar":
		id = map[string]string{
			string(workq.RuleSign): "LINE-03", string(workq.RuleOK): "LINE-03", string(workq.RuleError): "LINE-04",
			string(workq.RuleLineEnd): "LINE-05", string(workq.RuleBlock): "LINE-06", string(workq.RuleCount): "INSP-13",
			string(workq.RuleRecord): "INSP-13", string(workq.RuleKey): "INSP-13",
		}[detail]
	case "foreign-reply":
		id = map[string]string{
			workq.Add: "ADD-01", workq.Schedule: "SCHED-01", workq.Run: "RUN-03", workq.Result: "RESULT-01",
			workq.Lease: "LEASE-01", workq.Complete: "DONE-01", workq.Fail: "FAIL-01", workq.Delete: "DEL-01",
			workq.Inspect: "INSP-13",
		}[detail]
	}
	if id == "" {
		return ""
	}
	return prefix + id
}

// foreign is the clause of a reply that a command does not have.
func foreign(verb string) string {
	word, _, _ := strings.Cut(verb, " ")
	return strings.TrimPrefix(ClauseOf("foreign-reply:"+word), prefix)
}
