package fwpsubject

import (
	"maps"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// added are the clauses of Faktory's profile that are broken by a breach of a rule.
var added = map[string]string{
	"reply": " FKT-PUSHB-01 FKT-PUSHB-02 FKT-PUSHB-04 FKT-QUEUE-01 FKT-QUEUE-02 FKT-QUEUE-03 FKT-QUEUE-04 FKT-QUEUE-06" +
		" FKT-MUTATE-01 FKT-MUTATE-02 FKT-MUTATE-03 FKT-MUTATE-04 FKT-MUTATE-07",
	"foreign": " FKT-PUSHB-01 FKT-PUSHB-03 FKT-QUEUE-01 FKT-QUEUE-02 FKT-QUEUE-03 FKT-QUEUE-04" +
		" FKT-MUTATE-01 FKT-MUTATE-02 FKT-MUTATE-03 FKT-MUTATE-04",
	"refused": " FKT-PUSHB-01 FKT-QUEUE-01 FKT-QUEUE-02 FKT-QUEUE-03 FKT-QUEUE-04" +
		" FKT-MUTATE-01 FKT-MUTATE-02 FKT-MUTATE-03 FKT-MUTATE-04 FKT-MUTATE-08",
	"delivered": " FKT-QUEUE-01 FKT-QUEUE-03 FKT-MUTATE-01 FKT-MUTATE-02 FKT-MUTATE-04",
	"missing":   " FKT-PUSHB-01 FKT-QUEUE-02 FKT-MUTATE-03",
}

// rules are those of the oracle, and those that the law adds.
var rules = map[string]law.Rule{
	"greeting": {
		Title:   "A server greets with HI, and with what a client needs for its HELLO",
		Traits:  law.AtGreeting,
		Decided: "the first line of each connection", Clauses: "HI-02 HI-03 HI-04 HI-05",
	},
	"salt": {
		Title: "No two connections have the same salt", Traits: law.Unwritten,
		Decided: "the greeting of each connection to a server with a password", Clauses: "AUTH-05",
	},
	"reply": {
		Title: "A command gets a reply that it may get in its state", Traits: law.WrongReply,
		Decided: "the reply to a command that must be refused, and to a BEAT that may not bring a state",
		Clauses: "ACK-01 ACK-03 ACK-04 AUTH-02 AUTH-03 AUTH-04 AUTH-05 AUTH-06 AUTH-07 BEAT-01 BEAT-02 BEAT-03 " +
			"BEAT-05 END-01 FAIL-01 FAIL-02 FAIL-03 FETCH-01 FETCH-03 FLUSH-01 FLUSH-03 FRAME-03 HELLO-05 " +
			"HELLO-06 HELLO-14 HELLO-16 INFO-03 PUSH-01 PUSH-02 STATE-01 STATE-03 STATE-16 WU-00 WU-01 " +
			"WU-02 WU-03 WU-05b WU-06b WU-11 WU-14",
	},
	"foreign": {
		Title:   "A reply is of a kind that its command has",
		Decided: "each reply",
		Clauses: "ACK-01 BEAT-01 BEAT-03 BEAT-04 END-01 FAIL-01 FETCH-01 FLUSH-01 HELLO-03 INFO-01 PUSH-01",
	},
	"refused": {
		Title: "A command that must be served is not refused", Traits: law.WrongReply,
		Decided: "the reply to each command that must be served",
		Clauses: "ACK-01 ACK-02 AUTH-03 BEAT-01 BEAT-03 BEAT-05 END-01 FAIL-01 FAIL-02 FETCH-03 FLUSH-01 " +
			"FLUSH-04 FRAME-08 FRAME-09 HELLO-08 HELLO-11 HELLO-13 HELLO-15 INFO-01 LINK-03 PUSH-01 " +
			"STATE-03 STATE-06 STATE-10 STATE-12 WU-05 WU-05b WU-16",
	},
	"mute": {
		Title:   "A command that must be refused is answered before the connection ends",
		Decided: "the end of a connection behind a command that must be refused, and the reply to it",
		Clauses: "AUTH-02 HELLO-04 HELLO-06 HELLO-14 STATE-01 STATE-03 STATE-16",
	},
	"state": {
		Title: "The state in the reply to a BEAT was ordered, or reported by the worker", Traits: law.Misplaced,
		Decided: "each reply to a BEAT that brings a state", Clauses: "BEAT-01 BEAT-03 BEAT-05",
	},

	"unknown": {
		Title:   "A job that is delivered was pushed",
		Decided: "each job that comes from queues of the play", Clauses: "FETCH-01",
	},
	"delivered": {
		Title: "A job is delivered only while it is enqueued", Traits: law.OfDelivery,
		Decided: "each job that comes",
		Clauses: "ACK-02 AUTH-06 FLUSH-02 PUSH-03 RETRY-01 RETRY-02 RETRY-03 STATE-04 STATE-05 STATE-06 " +
			"STATE-07 STATE-09 STATE-11 WU-05 WU-05b WU-06",
	},
	"queue": {
		Title: "A job is delivered from a queue that the FETCH names", Traits: law.JobStays | law.Misplaced,
		Decided: "each job that comes", Clauses: "FETCH-04 FETCH-08",
	},
	"swapped": {
		Title:   "A job is delivered to the client that asked for its queue",
		Decided: "each job that comes while the FETCH of another connection waits", Clauses: "RESP-06",
	},
	// A job that was passed over may be lost, which shows later.
	"order": {
		Title: "The queues of a FETCH are looked into in their order", Traits: law.JobStays,
		Decided: "each job that comes to a FETCH of several queues while one is certainly enqueued",
		Clauses: "FETCH-04",
	},
	"missing": {
		Title:   "A job that is enqueued comes",
		Decided: "each reply to a FETCH while a job of its queues is certainly enqueued",
		Clauses: "FETCH-08 FLUSH-01 FLUSH-03 PUSH-04 RETRY-04 STATE-04 STATE-07 STATE-08 STATE-09 STATE-11 " +
			"WU-04 WU-06 WU-07 WU-16",
	},
	// The oracle knows of which fields that is so.
	"field": {
		Title:   "A job comes back with the fields that it was pushed with",
		Traits:  law.OfField | law.JobStays,
		Decided: "each job that comes, field by field",
		Clauses: "FAIL-06 FRAME-09 RETRY-04 WU-02 WU-03 WU-04 WU-05 WU-06 WU-07 WU-08 WU-09 WU-10 WU-11 WU-12 " +
			"WU-13",
	},

	"block": {
		Title: "A FETCH without a job waits for about two seconds", Traits: law.Timed,
		Decided: "each reply to a FETCH that brings no job", Clauses: "FETCH-05",
	},
	"late": {
		Title: "A job that is there comes at once", Traits: law.Timed | law.JobStays,
		Decided: "each job that comes and was certainly enqueued when the FETCH was sent",
		Clauses: "FETCH-06 STATE-04",
	},
	"asleep": {
		Title:   "A job that is enqueued while a FETCH waits ends the wait",
		Traits:  law.Timed | law.JobStays,
		Decided: "the end of each wait during which a job was enqueued and no other client waited",
		Clauses: "FETCH-06 FETCH-08",
	},
	"stalled": {
		Title: "A FETCH that waits holds up no other connection", Traits: law.Timed,
		Decided: "each reply to another command than FETCH and HELLO while a FETCH waits", Clauses: "FETCH-06",
	},

	explore.RuleClosed: {
		Title:   "A server does not end the connection of a consumer",
		Decided: "each reply on the connection of a consumer that beats, and the end of it",
		Clauses: "FLUSH-04 FRAME-03 FRAME-09 HELLO-11 LINK-03 STATE-10 STATE-12 STATE-13",
	},
}

// rulesOf returns the rules with the clauses of a profile.
func rulesOf(profile fwpdialect.Profile) map[string]law.Rule {
	if profile != fwpdialect.Faktory {
		return rules
	}
	all := maps.Clone(rules)
	for name, clauses := range added {
		rule := all[name]
		rule.Clauses += clauses
		all[name] = rule
	}
	return all
}
