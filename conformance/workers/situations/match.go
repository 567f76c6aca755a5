package situations

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fwp"
)

// match decides whether an event has a property.
type match = func(*workers.Event) bool

// ofKind matches events of a kind.
func ofKind(kind workers.Kind) match { return func(e *workers.Event) bool { return e.Kind == kind } }

// line matches lines of some verbs.
func line(verbs ...string) match {
	return func(e *workers.Event) bool { return e.Kind == workers.Line && slices.Contains(verbs, e.Command.Verb) }
}

// reply matches replies to a verb, and refusal those that are errors.
func reply(verb string) match {
	return func(e *workers.Event) bool { return e.Kind == workers.Reply && e.To == verb }
}

func refusal(verb string) match {
	return func(e *workers.Event) bool { return e.IsError() && e.To == verb }
}

// delivery matches replies to FETCH with a job.
func delivery(e *workers.Event) bool { return e.Job != nil }

// serverClose matches the ends of connections that the server has closed.
func serverClose(e *workers.Event) bool { return e.Kind == workers.Closed && e.By == workers.Server }

// after matches the events from a time on that match m.
func after(at time.Duration, m match) match {
	return func(e *workers.Event) bool { return e.At >= at && m(e) }
}

// events matches the events of a process that match m.
func (p *program) events(m match) match {
	return func(e *workers.Event) bool { return e.Process == p.number && m(e) }
}

// lines matches the lines of a process that have one of some verbs.
func (p *program) lines(verbs ...string) match { return p.events(line(verbs...)) }

// pushOf matches the PUSH of a job.
func pushOf(jid string) match {
	return func(e *workers.Event) bool { return e.Verb() == fwp.PUSH && e.Object["jid"] == jid }
}

// notBeside matches the events that match m, but for those of workers that had greeted beside the one that was told
// something, before a time.
func (t *trial) notBeside(told *workers.Event, before time.Duration, m match) match {
	beside := map[string]bool{}
	for _, e := range t.all(line(fwp.HELLO)) {
		beside[e.Worker] = beside[e.Worker] || e.At < before && e.Worker != told.Worker
	}
	return func(e *workers.Event) bool { return !beside[e.Worker] && m(e) }
}

// stateIn returns the state in the reply to a BEAT; empty if it has none.
func stateIn(r fwp.Reply) string {
	var change struct{ State string }
	if r.Kind != fwp.BulkString && r.Kind != fwp.SimpleString || json.Unmarshal(r.Text, &change) != nil {
		return ""
	}
	return change.State
}
