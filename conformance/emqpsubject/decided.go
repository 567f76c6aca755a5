package emqpsubject

import (
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/emqp"
)

// ofCommands are the rules that a message decides by its command.
var ofCommands = map[string][]string{
	emqp.REQUEST:    {"request-unknown", "request-queue", "request-again", "request-content"},
	emqp.SCHEDULE:   {"schedule-content"},
	emqp.UNSCHEDULE: {"unschedule-content"},
	emqp.REPLY:      {"reply-unasked", "reply-unknown", "reply-other", "reply-content"},
	emqp.HEARTBEAT:  {"timestamp", "heartbeat-early"},
}

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
		"version":          len(l.foreign) > 0 && m.Command == emqp.REQUEST,
		"after-disconnect": l.leaving, "after-kbai": c.role == gone,
		explore.RuleClosed: c.role == worker || c.role == scheduler,
	} {
		if is {
			d.Kept = append(d.Kept, rule)
		}
	}
	return d
}
