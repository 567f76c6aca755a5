package law

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// decided returns the rules that a reply decides. It is called before the world follows the reply.
func (w *World) decided(c *Conn, k *call, a model.Answer, r fwp.Reply) (d law.Decided) {
	if c.Unjudged != Judged {
		return law.Decided{Open: []string{"reply"}, Why: c.Unjudged.String()}
	}
	d.Kept = []string{"foreign"}
	add := func(rule string, is bool) {
		if is {
			d.Kept = append(d.Kept, rule)
		}
	}
	add("refused", k.allowed&model.Refused == 0)
	add("reply", k.allowed == model.Refused ||
		k.Verb == fwp.BEAT && a == model.Okay && k.allowed&model.Refused == 0 && k.clause == k.own)
	add("failure", k.allowed&model.Refused != 0)
	add("no-error", k.needsError(c))
	add("state", a == model.Notified)
	add("closed", c.WID != "" && !w.Quiet(c))
	add("stalled", k.company && k.Verb != fwp.FETCH && k.Verb != fwp.HELLO && !w.slow())
	add("missing", len(k.certain) > 0)
	add("block", a == model.Nothing)
	add("text", !isASCII(r.Text) && w.mustBeUTF8(k, a, r))
	if a == model.Delivered {
		w.decidedOf(c, k, &d)
	}
	return d
}

// decidedOf adds the rules that a delivered job decides.
func (w *World) decidedOf(c *Conn, k *call, d *law.Decided) {
	j := w.Jobs[k.brought()]
	all := []string{"delivered", "queue", "field"}
	switch {
	case j == nil && w.unknownJobs:
		d.Open, d.Why = []string{"unknown"}, "a command was accepted that had to be refused"
	case j == nil && slices.Contains(k.queues, "default"):
		d.Open, d.Why = []string{"unknown"}, "other clients use the queue"
	case j == nil || j.Unjudged == Judged:
		d.Kept = append(d.Kept, "unknown")
	}
	switch {
	case j == nil:
		return
	case j.Unjudged != Judged:
		d.Open, d.Why = append(d.Open, all...), j.Unjudged.String()
		return
	}
	d.Kept = append(d.Kept, all...)
	for rule, is := range map[string]bool{
		"late": slices.Contains(k.certain, j), "order": len(k.certain) > 0 && len(k.queues) > 1,
		"not-woken": k.alone && j.since.After(k.at), "swapped": w.waits(c),
	} {
		if is {
			d.Kept = append(d.Kept, rule)
		}
	}
}
