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

// decided returns the rules that a reply decides. It is called before the law follows the reply.
func (l *workqLaw) decided(k *call, m session.Message) (d law.Decided) {
	d.Kept = []string{"foreign", explore.RuleClosed}
	rules := func(all ...string) { d.Kept = append(d.Kept, all...) }
	served := m.Kind == workqsession.OK && !k.malformed
	switch {
	case k.malformed:
		d.Kept = []string{"malformed"}
	case workqscript.Dialect{}.Foreign(k.bytes, m):
		return d
	case k.Verb == workq.Lease && !served:
		rules("early", "late", "missing")
	case k.Verb == workq.Lease:
		l.decidedOf(string(m.Parts[1]), &d, "delivered", "field")
		rules("unknown", "missing")
		if len(k.Names) > 1 {
			rules("chance")
		}
	case k.Verb == workq.InspectQueue, k.Verb == workq.InspectServer:
		rules("field")
	case slices.Contains(lists, k.Verb) && served:
		rules("listed", "shown", "field")
	case k.ID != "":
		l.decidedOfOne(k, served, &d)
	}
	return d
}

// decidedOfOne adds the rules that a reply to a command about one job decides.
func (l *workqLaw) decidedOfOne(k *call, served bool, d *law.Decided) {
	if l.jobs[k.ID] == nil {
		d.Kept = append(d.Kept, "reply")
		return
	}
	l.decidedOf(k.ID, d, "reply")
	values := map[string]string{workq.Result: "result", workq.Run: "result", workq.InspectJob: "field"}
	if rule := values[k.Verb]; served && rule != "" {
		l.decidedOf(k.ID, d, rule)
	}
}

// decidedOf adds rules that are about a job, which may be one of which nothing is known.
func (l *workqLaw) decidedOf(id string, d *law.Decided, rules ...string) {
	j := l.jobs[id]
	if j == nil || j.all(func(c config) bool { return c.state == open }) {
		d.Open, d.Why = append(d.Open, rules...), "the state of the job is unknown"
		return
	}
	d.Kept = append(d.Kept, rules...)
	higher := func(id string) bool {
		o := l.jobs[id]
		return o != nil && o.Name() == j.Name() && o.Priority != j.Priority
	}
	if slices.Contains(rules, "delivered") && slices.ContainsFunc(l.order, higher) {
		d.Kept = append(d.Kept, "order")
	}
	if j.configs[0].timed && slices.Contains(rules, "reply") {
		d.Kept = append(d.Kept, ruleOverdue)
	}
}
