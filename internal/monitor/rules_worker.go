package monitor

import (
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// workerRules are about what the HELLO of a worker says, and who it says it is.
func workerRules() []Rule {
	return []Rule{
		{
			Breach: WorkerFields, Goal: "a client with a wid sent HELLO",
			on: on(Line, fwp.HELLO), check: func(l *look) judgement {
				if wid, has := l.Object["wid"]; !has || wid == "" {
					return aside()
				}
				return typed(l, func(f fwp.Field) bool { return f.Worker })
			},
		},
		{
			Breach: FetchWithoutWid, Goal: "a client sent FETCH",
			on: on(Line, fwp.FETCH), check: func(l *look) judgement {
				if l.conn == nil || !l.conn.identified {
					return aside()
				}
				if l.worker != nil {
					return right()
				}
				return wrong([]Moment{l.conn.hello.shown}, "FETCH by a client whose HELLO has no wid")
			},
		},
		{
			Breach: WidShared, Goal: "a second process greeted as a worker", Needs: NeedsProcesses,
			on: on(Line, fwp.HELLO), check: checkShared,
		},
		{
			Breach: HelloDiffers, Goal: "a worker greeted on a second connection",
			on: append(on(Line, fwp.HELLO), on(Reply, fwp.HELLO)...), check: checkDiffers,
		},
		{
			Breach: ConnectionForEach, Goal: "a client sent five commands on a connection, or opened one for each command",
			on: append(on(Line), on(Closed)...), check: checkBrief,
		},
		{
			Breach: OneConnection, Goal: "a worker sent FETCH and BEAT",
			on: on(Line, fwp.FETCH, fwp.BEAT), check: func(l *look) judgement {
				k, c := l.worker, l.conn
				first := l.verb() == fwp.FETCH && c.fetches == 0 || l.verb() == fwp.BEAT && c.beats == 0
				if k == nil || !first || l.verb() == fwp.FETCH && k.beats == 0 || l.verb() == fwp.BEAT && k.fetches == 0 {
					return aside()
				}
				return rightIf(c.fetches+c.beats == 0, "FETCH and BEAT are sent on one connection")
			},
		},
	}
}

// typed judges the types of fields: those that a client has to send, and those that it did send.
func typed(l *look, of func(fwp.Field) bool) judgement {
	var bad []string
	for _, f := range fwp.Fields(l.verb()) {
		if !of(f) {
			continue
		}
		v, has := l.Object[f.Name]
		optional := !f.Required && !f.Worker
		if optional && (!has || v == nil) || has && f.Type.Is(v) {
			continue
		}
		bad = append(bad, f.Name+" is "+fieldText(l.Object, f.Name)+", expected "+typeNames[f.Type])
	}
	return rightIf(len(bad) == 0, "%s: %s", l.verb(), strings.Join(bad, "; "))
}

var typeNames = map[fwp.FieldType]string{
	fwp.StringField: "a string", fwp.IntField: "an integer", fwp.ArrayField: "an array",
	fwp.StringsField: "an array of strings", fwp.ObjectField: "an object",
	fwp.TimeField: "an RFC 3339 time", fwp.TimeOrBlankField: "an RFC 3339 time",
}

func checkShared(l *look) judgement {
	wid, _ := l.Object["wid"].(string)
	if wid == "" || l.Process == 0 {
		return aside()
	}
	if k := l.world.workers[wid]; k != nil && k.process != 0 && k.process != l.Process {
		return wrong([]Moment{k.hello.shown}, "two processes have the wid %s", quoteAny(wid))
	}
	for _, k := range l.world.inOrder() {
		if k.process != 0 && k.process != l.Process {
			return right()
		}
	}
	return aside()
}

// checkDiffers compares a HELLO with the first one of its worker: when it is sent, or at its reply where that of the
// first one came between them.
func checkDiffers(l *look) judgement {
	var now *hello
	switch {
	case l.Kind == Line:
		now = readHello(l.Object, l.Moment())
	case l.asked != nil && !l.asked.compared:
		now = l.asked.hello
	}
	if now == nil || now.wid == "" {
		return aside()
	}
	k := l.world.workers[now.wid]
	if k == nil || k.process != 0 && l.process != nil && k.process != l.process.number {
		return aside()
	}
	if now.same == k.hello.same {
		return right()
	}
	shown := []Moment{k.hello.shown}
	if l.Kind == Reply {
		shown = append(shown, now.shown)
	}
	return wrong(shown, "the wid %s greets with %s, and before with %s",
		quoteAny(now.wid), now.same, k.hello.same)
}

// manyBriefs is how many connections in a row with one command or one job each make a client one that opens a
// connection for each.
const manyBriefs = 10

func checkBrief(l *look) judgement {
	c := l.conn
	if c == nil || !c.identified {
		return aside()
	}
	if l.Kind == Line {
		if c.commands == 4 {
			return right()
		}
		return aside()
	}
	n := 0
	if l.process != nil {
		n = briefs(l.process.briefs, c, l.By)
	}
	if l.worker != nil {
		n = max(n, briefs(l.worker.briefs, c, l.By))
	}
	if n != manyBriefs {
		return aside()
	}
	return wrong(nil, "%d connections in a row were closed after one command, or one job, each", n)
}
