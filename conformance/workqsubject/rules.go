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
	return law.Definition{Start: func(t law.Terms) law.Law { return newLaw(t) }, Rules: rules}
}

// ruleOverdue is the rule of what is wrong only because of the time that has passed.
const ruleOverdue = "overdue"

var rules = map[string]law.Rule{
	"malformed": {Title: "A malformed command is refused"},
	"foreign":   {Title: "A reply is one that its command has"},
	"reply":     {Title: "A command is answered as the state of its job says"},
	"result":    {Title: "A result is what the worker has reported"},

	"unknown":   {Title: "A job that is leased was added with one of the names"},
	"delivered": {Title: "A job is leased only while it is ready", Traits: law.OfDelivery},
	"order":     {Title: "A job of a higher priority is leased first", Traits: law.JobStays},
	"chance":    {Title: "Each name of a lease gets its turn", Traits: law.JobStays | law.Unwritten},
	"missing":   {Title: "A lease gets a job that is ready"},
	"field": {
		Title: "A job comes back with what it was added with, and what has become of it", Traits: law.OfField | law.JobStays,
	},
	"listed": {Title: "Inspect lists as many as there are, and were asked for"},
	"shown":  {Title: "What inspect lists is there, and what is there is listed", Traits: law.Unwritten},

	"early":     {Title: "A wait does not end before its time", Traits: law.Timed | law.JobStays},
	"late":      {Title: "A wait ends when its time is over", Traits: law.Timed | law.JobStays},
	ruleOverdue: {Title: "What is due happens: a lease ends, a scheduled job is ready, a job is gone", Traits: law.Timed},

	explore.RuleClosed: {Title: "A server does not end a connection"},
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
		"state-lost": "LINE-10", "wrong-queue": "LEASE-02",
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
