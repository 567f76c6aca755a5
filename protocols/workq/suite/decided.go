package suite

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// lists are the commands whose reply is a list.
var lists = []string{workq.InspectJobs, workq.InspectScheduled, workq.InspectQueues}

// decide returns the rules that a reply decides. It is called before the law follows the reply.
func (l *workqLaw) decide(k *call, m session.Message) (d law.Decided) {
	d.KeptRules = []string{"foreign", explore.RuleClosed}
	rules := func(all ...string) { d.KeptRules = append(d.KeptRules, all...) }
	isServed := m.Kind == workqsession.OK && !k.isMalformed
	switch {
	case k.isMalformed:
		d.KeptRules = []string{"malformed"}
	case workqscript.Dialect{}.IsImpossible(k.bytes, m):
		return d
	case k.Verb == workq.Lease && !isServed:
		rules("early", "late", "missing")
	case k.Verb == workq.Lease:
		l.decideJob(string(m.Parts[1]), &d, "delivered", "field")
		rules("unknown", "missing")
		if len(k.Names) > 1 {
			rules("chance")
		}
	case k.Verb == workq.InspectQueue, k.Verb == workq.InspectServer:
		rules("field")
	case slices.Contains(lists, k.Verb) && isServed:
		rules("listed", "shown", "field")
	case k.ID != "":
		l.decideJobCommand(k, isServed, &d)
	}
	return d
}

// decideJobCommand adds the rules that a reply to a command about one job decides.
func (l *workqLaw) decideJobCommand(k *call, isServed bool, d *law.Decided) {
	if l.jobs[k.ID] == nil {
		d.KeptRules = append(d.KeptRules, "reply")
		return
	}
	l.decideJob(k.ID, d, "reply")
	values := map[string]string{workq.Result: "result", workq.Run: "result", workq.InspectJob: "field"}
	if rule := values[k.Verb]; isServed && rule != "" {
		l.decideJob(k.ID, d, rule)
	}
}

// decideJob adds rules that are about a job, which may be one of which nothing is known.
func (l *workqLaw) decideJob(id string, d *law.Decided, rules ...string) {
	j := l.jobs[id]
	if j == nil || j.isAlways(func(c possibleState) bool { return c.state == unknown }) {
		d.OpenRules, d.OpenReason = append(d.OpenRules, rules...), "the state of the job is unknown"
		return
	}
	d.KeptRules = append(d.KeptRules, rules...)
	isHigher := func(id string) bool {
		o := l.jobs[id]
		return o != nil && o.Name() == j.Name() && o.Priority != j.Priority
	}
	if slices.Contains(rules, "delivered") && slices.ContainsFunc(l.order, isHigher) {
		d.KeptRules = append(d.KeptRules, "order")
	}
	if j.possibleStates[0].isTimed && slices.Contains(rules, "reply") {
		d.KeptRules = append(d.KeptRules, ruleOverdue)
	}
}
