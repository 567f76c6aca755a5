package emqpsubject

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/internal/session/emqpsession"
)

// prefix is that of all clauses.
const prefix = "EMQP-"

// ruleMissing is one family: which clause it breaks depends on what was sent before.
const ruleMissing = "missing"

// rules are those of the law.
var rules = map[string]law.Rule{
	"request-unknown": {
		Title: "A REQUEST that a worker gets was sent", Traits: law.Unasked,
		Decided: "each REQUEST that a worker gets", Clauses: "REQ-01",
	},
	"request-queue": {
		Title: "A worker gets REQUESTs of its queues only", Traits: law.Unasked,
		Decided: "each REQUEST that a worker gets", Clauses: "REQ-02",
	},
	"request-again": {
		Title: "A REQUEST is delivered once", Traits: law.Unasked,
		Decided: "each REQUEST that a worker gets", Clauses: "REQ-03",
	},
	"request-content": {
		Title:   "A REQUEST arrives with the queue, headers and message that it was sent with",
		Traits:  law.JobStays,
		Decided: "each REQUEST that a worker gets", Clauses: "HEAD-01 HEAD-02 REQ-01 REQ-04 REQ-05",
	},
	"schedule-content": {
		Title:   "A SCHEDULE arrives with the queue, headers and message that it was sent with",
		Traits:  law.JobStays,
		Decided: "each SCHEDULE that a scheduler gets", Clauses: "SCHED-01 SCHED-02",
	},
	"unschedule-content": {
		Title:   "An UNSCHEDULE arrives with the message that it was sent with",
		Traits:  law.JobStays,
		Decided: "each UNSCHEDULE that a scheduler gets", Clauses: "SCHED-01 UNSCH-01",
	},
	"reply-unasked": {
		Title: "A client that awaits no REPLY gets none", Traits: law.Unasked,
		Decided: "each REPLY that a client gets", Clauses: "REPLY-02",
	},
	"reply-unknown": {
		Title: "A REPLY that a client gets was sent by a worker", Traits: law.Unasked,
		Decided: "each REPLY that a client gets", Clauses: "REPLY-01",
	},
	"reply-other": {
		Title: "A REPLY goes to the client that has asked for it", Traits: law.Unasked,
		Decided: "each REPLY that a client gets", Clauses: "REPLY-03",
	},
	"reply-content": {
		Title:   "A REPLY arrives as the worker has sent it",
		Decided: "each REPLY that a client gets", Clauses: "REPLY-01",
	},
	"id": {
		Title: "No two messages of the broker have one id", Traits: law.Unwritten,
		Decided: "each message", Clauses: "FRAME-04",
	},
	"socket": {
		Title: "The socket of the broker is a ROUTER", Traits: law.AtGreeting | law.Unwritten,
		Decided: "the READY of each connection", Clauses: "SOCK-01",
	},
	"timestamp": {
		Title: "The timestamp of a HEARTBEAT is in seconds of UNIX time", Traits: law.JobStays | law.Timed,
		Decided: "each HEARTBEAT of the broker", Clauses: "BEAT-03",
	},
	"version": {
		Title: "A message of another version has no effect", Traits: law.Unasked,
		Decided: "what the broker passes on behind a message of another version", Clauses: "FRAME-06",
	},
	"heartbeat-early": {
		Title: "A peer without an INFORM gets no HEARTBEAT", Traits: law.Unasked,
		Decided: "each HEARTBEAT of the broker", Clauses: "BEAT-04",
	},
	"heartbeat-missing": {
		Title: "A worker or scheduler gets a message at least as often as HEARTBEATs come", Traits: law.Timed | law.Unwritten,
		Decided: "each message to a worker or scheduler behind some HEARTBEATs", Clauses: "BEAT-01 BEAT-02",
	},
	"after-kbai": {
		Title: "A peer that has sent KBAI is sent no message", Traits: law.Unasked | law.Timed,
		Decided: "each message to a peer that has sent KBAI", Clauses: "KBAI-01 KBAI-02",
	},
	"after-disconnect": {
		Title:   "A broker that got a DISCONNECT takes and sends no message",
		Traits:  law.Unasked | law.Timed,
		Decided: "each message behind a DISCONNECT", Clauses: "DISC-02",
	},
	ruleMissing: {
		Title: "What a peer has to get comes", Traits: law.Timed,
		Decided: "each message that a peer has to get",
		Clauses: "ACK-02 BEAT-05 DISC-01 FRAME-06 FRAME-07 INF-01 INF-02 INF-03 INF-04 PUB-01 REPLY-01 REPLY-04 " +
			"REQ-01 REQ-04 REQ-05 REQ-06 REQ-07 SCHED-01 SOCK-07 UNSCH-01",
	},
	explore.RuleClosed: {
		Title:   "The broker does not end the connection of a worker or scheduler",
		Decided: "each message to a worker or scheduler, and the end of its connection", Clauses: "SOCK-08",
	},
}

// ClauseOf returns the clause of a breach, "" for none.
func ClauseOf(breach string) string {
	kind, rule, _ := strings.Cut(breach, ":")
	if kind != explore.RuleGrammar {
		return map[string]string{
			"unasked": prefix + "SOCK-02", "extra-reply": prefix + "SOCK-02", "no-reply": prefix + "SOCK-02",
			"no-greeting": prefix + "SOCK-02", "consumer-closed": prefix + "SOCK-08",
		}[kind]
	}
	of := map[string]string{
		string(emqp.RuleEmpty): "FRAME-01", string(emqp.RuleVersion): "FRAME-02", string(emqp.RuleCommand): "FRAME-03",
		string(emqp.RuleID): "FRAME-04", string(emqp.RuleFrames): "FRAME-05", string(emqp.RuleTimestamp): "BEAT-03",
		string(emqp.RuleHeaders): "HEAD-01", string(emqp.RuleNoHeaders): "HEAD-02",
	}
	name, ours := strings.CutPrefix(rule, emqpsession.RulePrefix)
	switch id := of[name]; {
	case rule == emqpsession.RuleDirection:
		return prefix + "FRAME-03"
	case rule == emqpsession.RuleAcknowledged:
		return prefix + "ACK-01"
	case rule == emqpsession.RuleUnique:
		return prefix + "FRAME-04"
	case ours && id != "":
		return prefix + id
	}
	return prefix + "SOCK-02"
}

// ofCommands are the rules that a message decides by its command.
var ofCommands = map[string][]string{
	emqp.REQUEST:    {"request-unknown", "request-queue", "request-again", "request-content"},
	emqp.SCHEDULE:   {"schedule-content"},
	emqp.UNSCHEDULE: {"unschedule-content"},
	emqp.REPLY:      {"reply-unasked", "reply-unknown", "reply-other", "reply-content"},
	emqp.HEARTBEAT:  {"timestamp", "heartbeat-early"},
}

// passedOn are the commands of what a broker passes on.
var passedOn = []string{emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE, emqp.REPLY}

// decided returns the rules that a message decides. It is called before the law follows the message.
func (l *emqpLaw) decided(c *conn, m emqp.Message) (d law.Decided) {
	rules := ofCommands[m.Command]
	switch {
	case l.unbounded:
		return law.Decided{Open: rules, Why: "bytes were sent that may be any messages"}
	case m.Command == emqp.REQUEST && l.open[string(m.Fields[0])]:
		return law.Decided{Open: rules, Why: "a worker of the queue has gone without a KBAI"}
	}
	d.Kept = append(d.Kept, "id")
	d.Kept = append(d.Kept, rules...)
	for rule, is := range map[string]bool{
		"version":          len(l.foreign) > 0 && slices.Contains(passedOn, m.Command),
		"after-disconnect": l.leaving, "after-kbai": c.role == gone,
		explore.RuleClosed:  c.role == worker || c.role == scheduler,
		"heartbeat-missing": l.beats[c.role] != nil && l.beats[c.role].intervals > 0,
	} {
		if is {
			d.Kept = append(d.Kept, rule)
		}
	}
	return d
}
