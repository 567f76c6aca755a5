package clientrules

import (
	"cmp"
	"slices"
	"time"
)

// look is an event together with what was known before it.
type look struct {
	*Event
	world   *world
	conn    *connState
	worker  *workerState
	process *processState
	asked   *command // of a Reply: the command that it answers; nil if that is not known
}

func (w *world) look(e *Event) *look {
	l := &look{Event: e, world: w, conn: w.conns[e.Conn], worker: e.worker}
	process := e.Process
	if c := l.conn; c != nil {
		process = cmp.Or(process, c.process)
		l.worker = c.worker
		if e.Kind == Reply && !e.Greet && len(c.inFlight) > 0 {
			l.asked = c.inFlight[0]
		}
	}
	l.process = w.processes[process]
	if e.Conn == 0 && l.worker == nil && l.process != nil {
		l.worker = w.workerOf(process)
	}
	return l
}

// workerOf returns the first worker of a process, nil if it has none.
func (w *world) workerOf(process int) *workerState {
	for _, k := range w.inOrder() {
		if k.process == process {
			return k
		}
	}
	return nil
}

// producer returns the process if it has no worker; nil otherwise. What the jobs of a worker push is their own affair.
func (l *look) producer() *processState {
	if l.process == nil || l.world.workerOf(l.process.number) != nil {
		return nil
	}
	return l.process
}

// verb returns the verb of a line, or of the line that a reply answers.
func (l *look) verb() string {
	if l.asked != nil {
		return l.asked.verb
	}
	return l.Verb()
}

// isMasked reports whether the event is a line that is wrong, or the reply to one: rules see what the line was meant to
// be.
func (l *look) isMasked() bool { return len(l.Wrong) > 0 || l.asked != nil && l.asked.wrong }

// told returns the queues in the environment of the worker's process, or else those of the Config.
func (l *look) told() []string {
	if l.process != nil && len(l.process.queues) > 0 {
		return l.process.queues
	}
	return l.world.cfg.Queues
}

// isSignalled reports whether the worker's process was sent a signal.
func (l *look) isSignalled() bool { return l.process != nil && l.process.signalled != nil }

// isKilled reports whether a signal of the worker's process ended it at once.
func (l *look) isKilled() bool { return l.process != nil && l.process.killed }

// breach makes a breach of the look and of what a rule says about it.
func (l *look) breach(name string, j judgement) Breach {
	b := Breach{Name: name, At: l.At, Conn: l.Conn, Process: l.Process, Text: j.wrong, Shown: slices.Clone(j.shown)}
	if l.worker != nil {
		b.Worker = l.worker.wid
		b.Process = cmp.Or(b.Process, l.worker.process)
	}
	if l.Kind != second && l.Kind != departed && l.Kind != Passed {
		b.Shown = append(b.Shown, l.Moment())
	}
	slices.SortStableFunc(b.Shown, func(a, c Moment) int { return cmp.Compare(a.At, c.At) })
	return b
}

func (l *look) moment() *Moment {
	m := l.Moment()
	return &m
}

// timeOf returns when a moment was, 0 if there is none.
func timeOf(m *Moment) time.Duration {
	if m == nil {
		return 0
	}
	return m.At
}
