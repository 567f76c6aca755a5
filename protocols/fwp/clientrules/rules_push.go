package clientrules

import (
	"encoding/json"
	"slices"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// minReservation is the least reserve_for of the specification, in seconds.
const minReservation = 60

// pushRules are about the work units that clients push.
func pushRules() []Rule {
	const pushed = "a work unit was pushed"
	pushes := on(Line).of(fwp.PUSH)
	return []Rule{
		{PushJID, pushed, 0, pushes, checkPushField("jid")},
		{PushJobtype, pushed, 0, pushes, checkPushField("jobtype")},
		{PushArgs, pushed, 0, pushes, checkPushField("args")},
		{PushOptional, "a work unit with an optional field was pushed", 0, pushes, checkOptional},
		{PushReadOnly, pushed, 0, pushes, checkReadOnly},
		{PushJIDReused, "a second work unit was pushed", 0, pushes, checkJIDReused},
		{
			PushRepeated, "a connection was lost before the reply to PUSH", 0, on(Line, Closed).of(fwp.PUSH),
			checkPushRepeated,
		},
	}
}

func checkPushField(name string) func(*look) judgement {
	return func(l *look) judgement { return checkTypes(l, func(f model.Field) bool { return f.Name == name }) }
}

func checkOptional(l *look) judgement {
	optional := func(f model.Field) bool { return !f.Required && !f.ReadOnly }
	has := slices.ContainsFunc(model.Fields(fwp.PUSH), func(f model.Field) bool {
		return optional(f) && l.Object[f.Name] != nil
	})
	if !has {
		return notApplicable()
	}
	if j := checkTypes(l, optional); j.wrong != "" {
		return j
	}
	if n, is := l.Object["reserve_for"].(json.Number); is {
		f, err := n.Float64()
		return keptIf(err == nil && f >= minReservation, "reserve_for is %s, expected %d or more", n, minReservation)
	}
	return kept()
}

func checkReadOnly(l *look) judgement {
	if l.Object == nil {
		return notApplicable()
	}
	for _, f := range model.Fields(fwp.PUSH) {
		if f.ReadOnly && l.Object[f.Name] != nil {
			return broken(nil, "PUSH has the field %s, which the server sets", f.Name)
		}
	}
	return kept()
}

// checkJIDReused compares no jids beside a worker when a PUSH has failed: a worker may run the job that pushes again,
// with all its pushes.
func checkJIDReused(l *look) judgement {
	jid, is := l.Object["jid"].(string)
	if !is || len(l.world.pushed.now) == 0 || len(l.world.workers) > 0 && l.world.pushFailed {
		return notApplicable()
	}
	return keptIf(!l.world.pushed.has(jid), "the jid %s was pushed before", quoteAny(jid))
}

func checkPushRepeated(l *look) judgement {
	if l.Kind == Closed {
		unanswered := func(c *command) bool { return c.verb == fwp.PUSH }
		return keptWhere(l.conn != nil && slices.ContainsFunc(l.conn.inFlight, unanswered))
	}
	jid := l.Text("jid")
	if jid == "" || !l.world.unansweredPush.has(jid) {
		return notApplicable()
	}
	return broken(nil, "the jid %s is pushed again, after a connection was lost before the reply", quoteAny(jid))
}
