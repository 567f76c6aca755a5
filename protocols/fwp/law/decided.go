package law

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// decide returns the rules that a reply decides. It is called before the world follows the reply.
func (w *World) decide(c *Conn, k *call, a model.Answer, r fwp.Reply) (d law.Decided) {
	if c.Unjudged != Judged {
		return law.Decided{OpenRules: []string{"reply"}, OpenReason: c.Unjudged.String()}
	}
	d.KeptRules = []string{"foreign"}
	add := func(rule string, isDecided bool) {
		if isDecided {
			d.KeptRules = append(d.KeptRules, rule)
		}
	}
	add("refused", k.answers&model.Refused == 0)
	add("reply", k.answers == model.Refused ||
		k.Verb == fwp.BEAT && a == model.Okay && k.answers&model.Refused == 0 && k.clause == k.ownClause)
	add("failure", k.answers&model.Refused != 0)
	add("no-error", k.needsError(c))
	add("state", a == model.Notified)
	add("closed", c.WID != "" && !w.IsQuiet(c))
	add("stalled", k.hasOtherFetch && k.Verb != fwp.FETCH && k.Verb != fwp.HELLO && !w.isSlow())
	add("missing", len(k.certainJobs) > 0)
	add("block", a == model.NullReply)
	add("text", !isASCII(r.Text) && w.mustBeUTF8(k, a, r))
	if a == model.Delivered {
		w.decideDelivery(c, k, &d)
	}
	return d
}

// decideDelivery adds the rules that a delivered job decides.
func (w *World) decideDelivery(c *Conn, k *call, d *law.Decided) {
	j := w.Jobs[k.deliveredJID()]
	all := []string{"delivered", "queue", "field"}
	switch {
	case j == nil && w.hasUnknownJobs:
		d.OpenRules, d.OpenReason = []string{"unknown"}, "a command was accepted that had to be refused"
	case j == nil && slices.Contains(k.queues, "default"):
		d.OpenRules, d.OpenReason = []string{"unknown"}, "other clients use the queue"
	case j == nil || j.Unjudged == Judged:
		d.KeptRules = append(d.KeptRules, "unknown")
	}
	switch {
	case j == nil:
		return
	case j.Unjudged != Judged:
		d.OpenRules, d.OpenReason = append(d.OpenRules, all...), j.Unjudged.String()
		return
	}
	d.KeptRules = append(d.KeptRules, all...)
	for rule, isDecided := range map[string]bool{
		"late": slices.Contains(k.certainJobs, j), "order": len(k.certainJobs) > 0 && len(k.queues) > 1,
		"not-woken": k.isAlone && j.enqueuedSince.After(k.at), "swapped": w.hasOtherFetch(c),
	} {
		if isDecided {
			d.KeptRules = append(d.KeptRules, rule)
		}
	}
}
