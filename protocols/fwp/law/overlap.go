package law

import (
	"slices"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Commands that are under way on several connections may be carried out in any order. One that is sent is judged by
// what was answered before. Where that does not decide what may be answered, both answers are allowed, and what follows
// of the job is not judged.

// overlap widens what may be answered to the command of a connection and to others about the same job or worker.
func (w *World) overlap(c *Conn) {
	k := c.call
	for _, other := range w.Conns {
		o := other.call
		if other == c || o == nil || !k.dependsOn(o) {
			continue
		}
		for _, command := range []*call{k, o} {
			command.hasOverlap = true
			command.answers |= model.OkayOrRefused
		}
		if j := w.Jobs[k.text("jid")]; j != nil {
			j.Unjudged = Overlapped
		}
	}
}

// dependsOn reports whether the answer to a command depends on whether another one was carried out before.
func (k *call) dependsOn(o *call) bool {
	same := func(field string) bool { return k.text(field) != "" && k.text(field) == o.text(field) }
	ofJob := func(verb string) bool { return verb == fwp.PUSH || verb == fwp.ACK || verb == fwp.FAIL }
	return ofJob(k.Verb) && ofJob(o.Verb) && same("jid") || k.Verb == fwp.HELLO && o.Verb == fwp.HELLO && same("wid")
}

// overlapAll records that a command of one connection is under way beside all of a verb.
func (w *World) overlapAll(c *Conn, verb string) {
	for _, other := range w.Conns {
		if other != c && other.call != nil && other.call.Verb == verb {
			other.call.hasOverlap = true
		}
	}
}

// Waits reports whether a reply brings a job whose PUSH is not answered yet: the two replies have come on different
// connections, and which one was read first means nothing.
func (w *World) Waits(conn int, r fwp.Reply) bool {
	c := w.Conns[conn]
	if c == nil || c.call == nil || c.call.Verb != fwp.FETCH || r.Kind != fwp.BulkString {
		return false
	}
	jid := fwp.JIDOf(r.Text)
	if jid == "" || w.Jobs[jid] != nil {
		return false
	}
	return w.anyConn(func(other *Conn) bool { return other.call != nil && other.call.pushes(jid) })
}

// pushes reports whether a command pushes the job of a jid.
func (k *call) pushes(jid string) bool {
	if k.added != nil {
		return slices.ContainsFunc(k.added.jobs, func(job *call) bool { return job.pushes(jid) })
	}
	return k.Verb == fwp.PUSH && k.Fields["jid"] == jid
}
