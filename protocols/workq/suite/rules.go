package suite

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// prefix is that of the ids of clauses.
const prefix = "WORKQ-"

// Law returns the law of Workq.
func Law() law.Definition {
	return law.Definition{Start: func(t law.Terms) law.Law { return newLaw(t) }, Rules: rules()}
}

// ruleOverdue is the rule of what is wrong only because of the time that has passed.
const ruleOverdue = "overdue"

//go:embed rules.txt
var rulesText string

// rules returns those of the law.
var rules = sync.OnceValue(func() map[string]law.Rule { return law.Rules(rulesText, "") })

// commandClauses are those of the commands, where no other one is about what is wrong.
var commandClauses = map[string]string{
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

// foreignClause is the clause of a reply that a command does not have.
func foreignClause(verb string) string {
	word, _, _ := strings.Cut(verb, " ")
	return strings.TrimPrefix(ClauseOf("foreign-reply:"+word), prefix)
}
