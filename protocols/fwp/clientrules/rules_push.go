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
	const goal = "a work unit was pushed"
	pushes := occasionsOf(Line).withVerbs(fwp.PUSH)
	return []Rule{
		{PushJID, goal, 0, pushes, checkPushField("jid")},
		{PushJobtype, goal, 0, pushes, checkPushField("jobtype")},
		{PushArgs, goal, 0, pushes, checkPushField("args")},
		{PushOptional, "a work unit with an optional field was pushed", 0, pushes, checkPushOptional},
		{PushReadOnly, goal, 0, pushes, checkPushReadOnly},
		{PushJIDReused, "a second work unit was pushed", 0, pushes, checkJIDReused},
		{
			PushRepeated, "a connection was lost before the reply to PUSH", 0, occasionsOf(Line, ConnClose).withVerbs(fwp.PUSH),
			checkPushRepeated,
		},
	}
}

func checkPushField(name string) func(*observation) judgement {
	return func(l *observation) judgement {
		return checkTypes(l, func(f model.Field) bool { return f.Name == name })
	}
}

func checkPushOptional(l *observation) judgement {
	isOptional := func(f model.Field) bool { return !f.Required && !f.ReadOnly }
	hasOptional := slices.ContainsFunc(model.Fields(fwp.PUSH), func(f model.Field) bool {
		return isOptional(f) && l.Object[f.Name] != nil
	})
	if !hasOptional {
		return skip()
	}
	if j := checkTypes(l, isOptional); j.text != "" {
		return j
	}
	if n, ok := l.Object["reserve_for"].(json.Number); ok {
		f, err := n.Float64()
		return passIf(err == nil && f >= minReservation, "reserve_for is %s, expected %d or more", n, minReservation)
	}
	return pass()
}

func checkPushReadOnly(l *observation) judgement {
	if l.Object == nil {
		return skip()
	}
	for _, f := range model.Fields(fwp.PUSH) {
		if f.ReadOnly && l.Object[f.Name] != nil {
			return fail(nil, "PUSH has the field %s, which the server sets", f.Name)
		}
	}
	return pass()
}

// checkJIDReused compares no jids beside a worker when a PUSH has failed: a worker may run the job that pushes again,
// with all its pushes.
func checkJIDReused(l *observation) judgement {
	jid, ok := l.Object["jid"].(string)
	if !ok || len(l.world.pushedJIDs.current) == 0 || len(l.world.workers) > 0 && l.world.hasFailedPush {
		return skip()
	}
	return passIf(!l.world.pushedJIDs.has(jid), "the jid %s was pushed before", quoteAny(jid))
}

func checkPushRepeated(l *observation) judgement {
	if l.Kind == ConnClose {
		isPush := func(c *command) bool { return c.verb == fwp.PUSH }
		return passWhere(l.conn != nil && slices.ContainsFunc(l.conn.inFlight, isPush))
	}
	jid := l.Text("jid")
	if jid == "" || !l.world.unansweredPushes.has(jid) {
		return skip()
	}
	return fail(nil, "the jid %s is pushed again, after a connection was lost before the reply", quoteAny(jid))
}
