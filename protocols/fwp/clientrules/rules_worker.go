package clientrules

import (
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// workerRules are about what the HELLO of a worker says, and who it says it is.
func workerRules() []Rule {
	return []Rule{
		{WorkerFields, "a client with a wid sent HELLO", 0, occasionsOf(Line).withVerbs(fwp.HELLO), checkWorkerFields},
		{FetchWithoutWid, "a client sent FETCH", 0, occasionsOf(Line).withVerbs(fwp.FETCH), checkFetchHasWid},
		{WidShared, "a second process greeted as a worker", NeedsProcesses, occasionsOf(Line).withVerbs(fwp.HELLO),
			checkWidShared},
		{HelloDiffers, "a worker greeted on a second connection", 0, occasionsOf(Line, Reply).withVerbs(fwp.HELLO),
			checkHelloDiffers},
		{
			ConnectionForEach, "a client kept a connection for five commands or a minute, or opened ten for fewer", 0,
			occasionsOf(Line, ConnClose), checkConnectionForEach,
		},
		{OneConnection, "a worker sent FETCH and BEAT", 0, occasionsOf(Line).withVerbs(fwp.FETCH, fwp.BEAT),
			checkTwoConnections},
	}
}

func checkWorkerFields(l *observation) judgement {
	if wid, ok := l.Object["wid"]; !ok || wid == "" {
		return skip()
	}
	return checkTypes(l, func(f model.Field) bool { return f.IsWorkerField })
}

// checkTypes judges the types of some fields: those that a client has to send, and those that it did send.
func checkTypes(l *observation, applies func(model.Field) bool) judgement {
	if l.Object == nil {
		return skip() // line-syntax has it
	}
	var mistakes []string
	for _, f := range model.Fields(l.verb()) {
		if !applies(f) {
			continue
		}
		v, ok := l.Object[f.Name]
		isOptional := !f.Required && !f.IsWorkerField
		if isOptional && (!ok || v == nil) || ok && f.Type.Accepts(v) {
			continue
		}
		mistakes = append(mistakes, f.Name+" is "+fieldText(l.Object, f.Name)+", expected "+typeNames[f.Type])
	}
	return passIf(len(mistakes) == 0, "%s: %s", l.verb(), strings.Join(mistakes, "; "))
}

var typeNames = map[model.FieldType]string{
	model.StringField: "a string", model.IntField: "an integer", model.ArrayField: "an array",
	model.StringsField: "an array of strings", model.ObjectField: "an object",
	model.TimeField: "an RFC 3339 time", model.TimeOrBlankField: "an RFC 3339 time",
}

func checkFetchHasWid(l *observation) judgement {
	switch {
	case l.conn == nil || !l.conn.isIdentified:
		return skip()
	case l.worker != nil:
		return pass()
	}
	return fail(moments(&l.conn.hello.moment), "FETCH by a client whose HELLO has no wid")
}

func checkWidShared(l *observation) judgement {
	wid := l.Text("wid")
	if wid == "" || l.Process == 0 {
		return skip()
	}
	k := l.world.workers[wid]
	if k != nil && k.process != 0 && k.process != l.Process && !l.world.isReplacedBy(k, l.process) {
		return fail(moments(&k.hello.moment), "two processes have the wid %s", quoteAny(wid))
	}
	for _, k := range l.world.sortedWorkers() {
		if k.process != 0 && k.process != l.Process {
			return pass()
		}
	}
	return skip()
}

// checkHelloDiffers compares a HELLO with the first one of its worker: when it is sent, or at its reply where that of
// the first one came between them.
func checkHelloDiffers(l *observation) judgement {
	var next *hello
	switch {
	case l.Kind == Line:
		next = readHello(l.Object, l.Moment())
	case l.command != nil && !l.command.isCompared:
		next = l.command.hello
	}
	if next == nil || next.wid == "" {
		return skip()
	}
	k := l.world.workers[next.wid]
	switch {
	case k == nil || k.process != 0 && l.process != nil && k.process != l.process.number:
		return skip()
	case len(k.conns) == 0 && k.hasEndedLast: // it may have been started anew
		return skip()
	}
	if next.identity == k.hello.identity {
		return pass()
	}
	evidence := moments(&k.hello.moment)
	if l.Kind == Reply {
		evidence = append(evidence, next.moment)
	}
	return fail(evidence, "the wid %s greets with %s, before that with %s",
		quoteAny(next.wid), next.identity, k.hello.identity)
}

// maxBriefConns is how many connections in a row with a few commands each make a client one that opens a connection for
// each few, if its other connections carry no more commands than these, and how many such connections that are idle
// when another one is opened.
const maxBriefConns = 10

func checkConnectionForEach(l *observation) judgement {
	c := l.conn
	switch {
	case c == nil || !c.isIdentified || l.Kind == Line && (l.verb() == fwp.HELLO || l.verb() == fwp.END):
		return skip()
	case l.Kind == Line && c.commands == 0:
		return checkLeftOpen(l)
	case l.Kind == Line:
		return passWhere(c.commands == longCommands-1)
	}
	var row briefs
	if l.worker != nil {
		row = l.worker.briefs.add(c, l)
	} else if p := l.producer(); p != nil {
		row = p.briefs.add(c, l)
	}
	if row.conns > 0 && row.conns%maxBriefConns == 0 && row.commands > 0 && 2*row.commands >= row.allCommands {
		return fail(nil, "%d connections in a row were closed after fewer than %d commands each", row.conns, longCommands)
	}
	return passWhere(c.isLong(l.At))
}

// checkLeftOpen judges the first command of a connection that was opened while others of the same client were idle.
func checkLeftOpen(l *observation) judgement {
	idle := 0
	for _, o := range l.world.conns {
		isSame := o.worker == l.worker && (o.worker != nil || o.process == l.conn.process && o.process != 0)
		if isSame && o.commands > 0 && o.commands < longCommands && len(o.inFlight) == 0 && o.end == nil &&
			o.replyTime < l.conn.openTime {
			idle++
		}
	}
	if idle < maxBriefConns || idle%maxBriefConns != 0 {
		return skip()
	}
	return fail(nil, "another connection was opened while %d were open and idle, with fewer than %d commands each",
		idle, longCommands)
}

// checkTwoConnections judges the first FETCH and the first BEAT of a connection, where the worker has sent the other
// one somewhere before.
func checkTwoConnections(l *observation) judgement {
	k, c := l.worker, l.conn
	if k == nil || c == nil {
		return skip()
	}
	count, others := c.fetches, k.beats
	if l.verb() == fwp.BEAT {
		count, others = c.beats, k.fetches
	}
	if count > 0 || others == 0 {
		return skip()
	}
	return passIf(c.fetches+c.beats == 0, "FETCH and BEAT are sent on the same connection")
}
