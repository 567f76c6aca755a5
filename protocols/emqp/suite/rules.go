package suite

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
)

// prefix is that of all clauses.
const prefix = "EMQP-"

// ruleMissing is one family: which clause it breaks depends on what was sent before.
const ruleMissing = "missing"

//go:embed rules.txt
var rulesText string

// rules returns those of the law.
var rules = sync.OnceValue(func() map[string]law.Rule { return law.Rules(rulesText, "") })

// ClauseOf returns the clause of a breach, "" for none.
func ClauseOf(breach string) string {
	kind, rule, _ := strings.Cut(breach, ":")
	if kind != explore.RuleGrammar {
		return map[string]string{
			"unasked": prefix + "SOCK-02", "extra-reply": prefix + "SOCK-02", "no-reply": prefix + "SOCK-02",
			"no-greeting": prefix + "SOCK-02", "consumer-closed": prefix + "SOCK-08",
		}[kind]
	}
	ids := map[string]string{
		string(emqp.RuleEmpty): "FRAME-01", string(emqp.RuleVersion): "FRAME-02", string(emqp.RuleCommand): "FRAME-03",
		string(emqp.RuleID): "FRAME-04", string(emqp.RuleFrames): "FRAME-05", string(emqp.RuleTimestamp): "BEAT-03",
		string(emqp.RuleHeaders): "HEAD-01", string(emqp.RuleNoHeaders): "HEAD-02",
	}
	name, isOurs := strings.CutPrefix(rule, emqpsession.RulePrefix)
	switch id := ids[name]; {
	case rule == emqpsession.RuleDirection:
		return prefix + "FRAME-03"
	case rule == emqpsession.RuleAcknowledged:
		return prefix + "ACK-01"
	case rule == emqpsession.RuleUnique:
		return prefix + "FRAME-04"
	case isOurs && id != "":
		return prefix + id
	}
	return prefix + "SOCK-02"
}

// commandRules are the rules that a message decides by its command.
var commandRules = map[string][]string{
	emqp.REQUEST:    {"request-unknown", "request-queue", "request-again", "request-content"},
	emqp.SCHEDULE:   {"schedule-content"},
	emqp.UNSCHEDULE: {"unschedule-content"},
	emqp.REPLY:      {"reply-unasked", "reply-unknown", "reply-other", "reply-content"},
	emqp.HEARTBEAT:  {"timestamp", "heartbeat-early"},
}

// relayedCommands are the commands of what a broker passes on.
var relayedCommands = []string{emqp.REQUEST, emqp.SCHEDULE, emqp.UNSCHEDULE, emqp.REPLY}

// decide returns the rules that a message decides. It is called before the law follows the message.
func (l *emqpLaw) decide(c *conn, m emqp.Message) (d law.Decided) {
	rules := commandRules[m.Command]
	switch {
	case l.isUnbounded:
		return law.Decided{OpenRules: rules, OpenReason: "bytes were sent that may be messages of any kind"}
	case m.Command == emqp.REQUEST && l.unknownQueues[string(m.Fields[0])]:
		return law.Decided{OpenRules: rules, OpenReason: "a worker of the queue left without a KBAI"}
	}
	d.KeptRules = append(d.KeptRules, "id")
	d.KeptRules = append(d.KeptRules, rules...)
	for rule, applies := range map[string]bool{
		"version":          len(l.foreignIDs) > 0 && slices.Contains(relayedCommands, m.Command),
		"ack-again":        m.Command == emqp.ACK && c.acks.last != "",
		"after-disconnect": l.isLeaving, "after-kbai": c.role == formerPeer,
		explore.RuleClosed:  c.role == worker || c.role == scheduler,
		"heartbeat-missing": l.beats[c.role] != nil && l.beats[c.role].intervals > 0,
	} {
		if applies {
			d.KeptRules = append(d.KeptRules, rule)
		}
	}
	return d
}
