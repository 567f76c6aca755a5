package fakes

import (
	"bytes"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// About returns the reason if the event's command is refused, else "".
func (e *Event) About() About {
	if r, ok := errors.AsType[*Refusal](e.Err); ok {
		return r.About
	}
	return ""
}

// Accept makes the server carry out a command that was refused. (Checked)
func (e *Event) Accept() { e.Err, e.Skip = nil, false }

// Decline refuses a command. A command that is refused already keeps its reason. (Checked)
func (e *Event) Decline(about About, text string) {
	if e.Err == nil {
		e.Err, e.Skip = refuse(about, "%s", text), true
	}
}

// Recheck checks the Object of a PUSH again, after the hook has changed it, and accepts or refuses the command.
// (Checked)
func (e *Event) Recheck() {
	e.Accept()
	if r := checkJob(e.Object, &e.Conn.server.cfg); r != nil {
		e.Decline(r.About, r.Text)
	}
}

// AfterHook makes the server call f after the hook has returned and before the step happens. In f the hook may call the
// server, which may call the hook again. Do not use it at the points marked "store".
func (e *Event) AfterHook(f func()) { e.callbacks = append(e.callbacks, f) }

// The following methods change the jobs of the server, on behalf of the event's connection. They call the hook as the
// commands do. They must not be called at the points marked "store", nor by a hook that holds a lock.

// Push stores a job without checking it or filling in its fields. The job is scheduled if dueTime is not zero. A job
// that exceeds a limit of [Config] is lost.
func (e *Event) Push(unit *Object, dueTime time.Time) {
	s := e.Conn.server
	_ = s.store.Push(e.connEvent(), newJob(unit, &s.cfg), dueTime)
}

// Finish ends reserved jobs, as their ACK does.
func (e *Event) Finish(jids ...string) {
	for _, jid := range jids {
		_ = e.Conn.server.store.Finish(e.connEvent(), jid)
	}
}

// Fail fails reserved jobs, as a FAIL with only a jid does.
func (e *Event) Fail(jids ...string) {
	s := e.Conn.server
	for _, jid := range jids {
		_ = s.store.Fail(e.connEvent(), jid, failure{}.fate(&s.cfg))
	}
}

// GiveBack returns reserved jobs to their queues.
func (e *Event) GiveBack(jids ...string) {
	jobs := e.Conn.server.store
	for _, jid := range jids {
		if reservation := jobs.Reservation(jid); reservation != nil {
			jobs.GiveBack(e.connEvent(), reservation)
		}
	}
}

// Purge removes a job from its queue, and reports whether it was in one.
func (e *Event) Purge(jid string) bool { return e.Conn.server.store.Purge(jid) }

// Remove removes a job from its queue, the schedule, the retries or the worker that reserved it. It reports whether
// there was such a job.
func (e *Event) Remove(jid string) bool { return e.Conn.server.store.Remove(jid) }

// Resume ends the pause of a queue.
func (e *Event) Resume(queue string) { e.Conn.Server().store.Pause(e.connEvent(), queue, false) }

// Clear removes all jobs and counts, as FLUSH does.
func (e *Event) Clear() { e.Conn.server.store.Clear(e.connEvent()) }

// connEvent returns the event of what the hook causes itself.
func (e *Event) connEvent() *Event { return &Event{Conn: e.Conn} }

// Push stores a work unit as a PUSH does, without a connection. It checks only the required fields, so that a test
// can deliver jobs that the server would refuse. The error is a *[Refusal].
func (s *Server) Push(unit []byte) error {
	o, r := parseObject(bytes.Clone(unit))
	if r != nil {
		return r
	}
	if r := check(o, isAny, text, "jid", "jobtype"); r != nil {
		return r
	}
	e := &Event{Conn: &Conn{server: s}, Command: fwp.Command{Verb: fwp.PUSH, Args: unit}, Object: o}
	return (&conn{s: s}).push(e)
}
