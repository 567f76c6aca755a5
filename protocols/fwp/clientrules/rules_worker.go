package clientrules

import (
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// workerRules are about what the HELLO of a worker says, and who it says it is.
func workerRules() []Rule {
	return []Rule{
		{WorkerFields, "a client with a wid sent HELLO", 0, on(Line).of(fwp.HELLO), checkWorkerFields},
		{FetchWithoutWid, "a client sent FETCH", 0, on(Line).of(fwp.FETCH), checkFetchHasWid},
		{WidShared, "a second process greeted as a worker", NeedsProcesses, on(Line).of(fwp.HELLO), checkShared},
		{HelloDiffers, "a worker greeted on a second connection", 0, on(Line, Reply).of(fwp.HELLO), checkDiffers},
		{
			ConnectionForEach, "a client kept a connection for five commands or a minute, or opened ten for fewer", 0,
			on(Line, Closed), checkBrief,
		},
		{OneConnection, "a worker sent FETCH and BEAT", 0, on(Line).of(fwp.FETCH, fwp.BEAT), checkTwoConnections},
	}
}

func checkWorkerFields(l *look) judgement {
	if wid, has := l.Object["wid"]; !has || wid == "" {
		return notApplicable()
	}
	return checkTypes(l, func(f model.Field) bool { return f.Worker })
}

// checkTypes judges the types of some fields: those that a client has to send, and those that it did send.
func checkTypes(l *look, judged func(model.Field) bool) judgement {
	if l.Object == nil {
		return notApplicable() // line-syntax has it
	}
	var bad []string
	for _, f := range model.Fields(l.verb()) {
		if !judged(f) {
			continue
		}
		v, has := l.Object[f.Name]
		optional := !f.Required && !f.Worker
		if optional && (!has || v == nil) || has && f.Type.Is(v) {
			continue
		}
		bad = append(bad, f.Name+" is "+fieldText(l.Object, f.Name)+", expected "+typeNames[f.Type])
	}
	return keptIf(len(bad) == 0, "%s: %s", l.verb(), strings.Join(bad, "; "))
}

var typeNames = map[model.FieldType]string{
	model.StringField: "a string", model.IntField: "an integer", model.ArrayField: "an array",
	model.StringsField: "an array of strings", model.ObjectField: "an object",
	model.TimeField: "an RFC 3339 time", model.TimeOrBlankField: "an RFC 3339 time",
}

func checkFetchHasWid(l *look) judgement {
	switch {
	case l.conn == nil || !l.conn.identified:
		return notApplicable()
	case l.worker != nil:
		return kept()
	}
	return broken(moments(&l.conn.hello.shown), "FETCH by a client whose HELLO has no wid")
}

func checkShared(l *look) judgement {
	wid := l.Text("wid")
	if wid == "" || l.Process == 0 {
		return notApplicable()
	}
	k := l.world.workers[wid]
	if k != nil && k.process != 0 && k.process != l.Process && !l.world.isLeftBy(k, l.process) {
		return broken(moments(&k.hello.shown), "two processes have the wid %s", quoteAny(wid))
	}
	for _, k := range l.world.inOrder() {
		if k.process != 0 && k.process != l.Process {
			return kept()
		}
	}
	return notApplicable()
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
		return notApplicable()
	}
	k := l.world.workers[now.wid]
	switch {
	case k == nil || k.process != 0 && l.process != nil && k.process != l.process.number:
		return notApplicable()
	case len(k.conns) == 0 && k.endedLast: // it may have been started anew
		return notApplicable()
	}
	if now.identity == k.hello.identity {
		return kept()
	}
	shown := moments(&k.hello.shown)
	if l.Kind == Reply {
		shown = append(shown, now.shown)
	}
	return broken(shown, "the wid %s greets with %s, before that with %s",
		quoteAny(now.wid), now.identity, k.hello.identity)
}

// manyBriefs is how many connections in a row with a few commands each make a client one that opens a connection for
// each few, if its other connections carry no more commands than these, and how many such connections that are idle
// when another one is opened.
const manyBriefs = 10

func checkBrief(l *look) judgement {
	c := l.conn
	switch {
	case c == nil || !c.identified || l.Kind == Line && (l.verb() == fwp.HELLO || l.verb() == fwp.END):
		return notApplicable()
	case l.Kind == Line && c.commands == 0:
		return checkLeftOpen(l)
	case l.Kind == Line:
		return keptWhere(c.commands == longCommands-1)
	}
	var row briefs
	if l.worker != nil {
		row = l.worker.briefs.with(c, l)
	} else if p := l.producer(); p != nil {
		row = p.briefs.with(c, l)
	}
	if row.conns > 0 && row.conns%manyBriefs == 0 && row.carried > 0 && 2*row.carried >= row.sent {
		return broken(nil, "%d connections in a row were closed after fewer than %d commands each", row.conns, longCommands)
	}
	return keptWhere(c.isLong(l.At))
}

// checkLeftOpen judges the first command of a connection that was opened while others of the same client were idle.
func checkLeftOpen(l *look) judgement {
	idle := 0
	for _, o := range l.world.conns {
		same := o.worker == l.worker && (o.worker != nil || o.process == l.conn.process && o.process != 0)
		if same && o.commands > 0 && o.commands < longCommands && len(o.inFlight) == 0 && o.end == nil &&
			o.replied < l.conn.opened {
			idle++
		}
	}
	if idle < manyBriefs || idle%manyBriefs != 0 {
		return notApplicable()
	}
	return broken(nil, "another connection was opened while %d were open and idle, with fewer than %d commands each",
		idle, longCommands)
}

// checkTwoConnections judges the first FETCH and the first BEAT of a connection, where the worker has sent the other
// one somewhere before.
func checkTwoConnections(l *look) judgement {
	k, c := l.worker, l.conn
	if k == nil || c == nil {
		return notApplicable()
	}
	here, others := c.fetches, k.beats
	if l.verb() == fwp.BEAT {
		here, others = c.beats, k.fetches
	}
	if here > 0 || others == 0 {
		return notApplicable()
	}
	return keptIf(c.fetches+c.beats == 0, "FETCH and BEAT are sent on the same connection")
}
