package moves

import (
	"github.com/fwpsuite/fwp/conformance/explore"
)

// RuleOf returns the rule of the law that a finding of a history would break in a short
// conversation, "" if it would break none.
func RuleOf(clause string) string { return ruleOf[clause] }

var ruleOf = map[string]string{
	"FWP-STATE-05": "delivered", "FWP-STATE-06": "delivered", "FWP-ACK-02": "delivered",
	"FWP-RETRY-01": "delivered", "FWP-RETRY-03": "delivered",
	"FWP-PUSH-01": "missing", "FWP-PUSH-04": "missing", "FWP-STATE-04": "missing", "FWP-STATE-09": "missing",
	"FWP-FETCH-01": "swapped", "FWP-FETCH-04": "swapped", "FWP-RESP-06": "swapped",
	"FWP-WU-03": "field", "FWP-WU-04": "field",
}

// OneJob returns what concurrent clients do with a job, for what is wrong with every job or
// every so many. Only where jobs are delivered too often it fetches once more: else that
// FETCH would wait for nothing.
func OneJob(rule string) []explore.Step {
	const conn = 2
	args := "[]"
	if rule == "field" {
		args = "[9007199254740993]"
	}
	steps := []explore.Step{
		consumer(conn, 1),
		line(conn, `PUSH {"jid":"$jid1","jobtype":"t","args":%s,"queue":"$queue1"}`, args),
		line(conn, seedFetch), ack(conn, "$jid1"),
	}
	switch rule {
	case "delivered":
		return append(steps, line(conn, seedFetch))
	case "field":
		return steps[:3]
	}
	return steps
}
