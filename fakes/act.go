package fakes

import (
	"bytes"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// About returns the reason why the event's command is refused, "" if it is not.
func (e *Event) About() About {
	if r, ok := errors.AsType[*Refusal](e.Err); ok {
		return r.About
	}
	return ""
}

// Accept lets a command that was refused be carried out. (Checked)
func (e *Event) Accept() { e.Err, e.Skip = nil, false }

// Decline refuses a command that would have been carried out; one that is refused already keeps its reason. (Checked)
func (e *Event) Decline(about About, text string) {
	if e.Err == nil {
		e.Err, e.Skip = refuse(about, "%s", text), true
	}
}

// Recheck accepts a PUSH that was refused if its Object, which the hook has changed, is valid now. (Checked)
func (e *Event) Recheck() {
	e.Accept()
	if r := checkJob(e.Object, &e.Conn.server.cfg); r != nil {
		e.Decline(r.About, r.Text)
	}
}

// Then has f called when the hook has returned, and before the step happens: the place for what calls the server, which
// may call the hook again, of a hook that remembers something. Not at the points marked "store".
func (e *Event) Then(f func()) { e.then = append(e.then, f) }

// The following methods change the jobs of the server, on behalf of the event's connection. They call the hook as the
// commands do. They must not be called at the points marked "store", nor by a hook that holds a lock.

// Push stores a job without checking it or filling in its fields; it is scheduled if due is not zero. A job beyond a
// limit of [Config] is lost.
func (e *Event) Push(unit *Object, due time.Time) {
	s := e.Conn.server
	_ = s.store.Push(e.again(), newJob(unit, &s.cfg), due)
}

// Finish ends those jobs that are held, as their ACK does.
func (e *Event) Finish(jids ...string) {
	for _, jid := range jids {
		_ = e.Conn.server.store.Finish(e.again(), jid)
	}
}

// Fail fails those jobs that are held, as a FAIL without fields does.
func (e *Event) Fail(jids ...string) {
	s := e.Conn.server
	for _, jid := range jids {
		_ = s.store.Fail(e.again(), jid, failure{}.fate(&s.cfg))
	}
}

// GiveBack returns those jobs that are held to their queues.
func (e *Event) GiveBack(jids ...string) {
	jobs := e.Conn.server.store
	for _, jid := range jids {
		if held := jobs.Held(jid); held != nil {
			jobs.GiveBack(e.again(), held)
		}
	}
}

// Purge removes a job from its queue. It reports whether there was one.
func (e *Event) Purge(jid string) bool { return e.Conn.server.store.Purge(jid) }

// Remove removes a job from wherever it is: its queue, the schedule, the retries, or the worker that holds it. It
// reports whether there was one.
func (e *Event) Remove(jid string) bool { return e.Conn.server.store.Remove(jid) }

// Resume has a queue that was paused give jobs again.
func (e *Event) Resume(queue string) { e.Conn.Server().store.Pause(e.again(), queue, false) }

// Clear removes all jobs and counts, as a FLUSH does.
func (e *Event) Clear() { e.Conn.server.store.Clear(e.again()) }

// again returns the event of what the hook causes itself.
func (e *Event) again() *Event { return &Event{Conn: e.Conn} }

// Push stores a work unit as a producer's PUSH does, without a connection. Of its fields only the required ones are
// checked, so that a test can deliver what the server itself would refuse. The error is a *[Refusal].
func (s *Server) Push(unit []byte) error {
	o, r := parseObject(bytes.Clone(unit))
	if r != nil {
		return r
	}
	if r := check(o, always, text, "jid", "jobtype"); r != nil {
		return r
	}
	e := &Event{Conn: &Conn{server: s}, Command: fwp.Command{Verb: fwp.PUSH, Args: unit}, Object: o}
	return (&conn{s: s}).push(e)
}
