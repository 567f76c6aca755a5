package monitor

import (
	"encoding/json"
	"slices"

	"github.com/fwpsuite/fwp/fwp"
)

// minReservation is the least reserve_for of the specification, in seconds.
const minReservation = 60

// pushRules are about the work units that clients push.
func pushRules() []Rule {
	return []Rule{
		pushField(PushJID, "jid"),
		pushField(PushJobtype, "jobtype"),
		pushField(PushArgs, "args"),
		{
			Breach: PushOptional, Goal: "a work unit with an optional field was pushed",
			on: on(Line, fwp.PUSH), check: checkOptional,
		},
		{
			Breach: PushReadOnly, Goal: "a work unit was pushed",
			on: on(Line, fwp.PUSH), check: func(l *look) judgement {
				if l.Object == nil {
					return aside()
				}
				for _, f := range fwp.Fields(fwp.PUSH) {
					if v := l.Object[f.Name]; f.ReadOnly && v != nil {
						return rightIf(false, "PUSH has the field %s, which the server sets", f.Name)
					}
				}
				return right()
			},
		},
		{
			Breach: PushJIDReused, Goal: "a second work unit was pushed",
			on: on(Line, fwp.PUSH), check: func(l *look) judgement {
				jid, _ := l.Object["jid"].(string)
				if jid == "" || len(l.world.pushed.now) == 0 {
					return aside()
				}
				return rightIf(!l.world.pushed.has(jid), "the jid %s was pushed before", quoteAny(jid))
			},
		},
		{
			Breach: PushRepeated, Goal: "a connection was lost before the reply to PUSH",
			on: append(on(Line, fwp.PUSH), on(Closed)...), check: func(l *look) judgement {
				if l.Kind == Closed {
					unanswered := func(c *command) bool { return c.verb == fwp.PUSH }
					return judgement{reached: l.conn != nil && slices.ContainsFunc(l.conn.inFlight, unanswered)}
				}
				jid, _ := l.Object["jid"].(string)
				if jid == "" || !l.world.unsure.has(jid) {
					return aside()
				}
				return rightIf(false, "the jid %s is pushed again, after a connection was lost before the reply", quoteAny(jid))
			},
		},
	}
}

func pushField(breach, name string) Rule {
	return Rule{Breach: breach, Goal: "a work unit was pushed", on: on(Line, fwp.PUSH), check: func(l *look) judgement {
		if l.Object == nil {
			return aside()
		}
		return typed(l, func(f fwp.Field) bool { return f.Name == name })
	}}
}

func checkOptional(l *look) judgement {
	optional := func(f fwp.Field) bool { return !f.Required && !f.ReadOnly }
	has := slices.ContainsFunc(fwp.Fields(fwp.PUSH), func(f fwp.Field) bool {
		return optional(f) && l.Object[f.Name] != nil
	})
	if !has {
		return aside()
	}
	if j := typed(l, optional); j.wrong != "" {
		return j
	}
	if n, is := l.Object["reserve_for"].(json.Number); is {
		f, err := n.Float64()
		return rightIf(err == nil && f >= minReservation, "reserve_for is %s, expected %d or more", n, minReservation)
	}
	return right()
}
