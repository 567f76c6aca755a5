package clientrules

import (
	"cmp"
	"slices"
	"time"
)

// observation is an event together with what was known before it.
type observation struct {
	*Event
	world   *world
	conn    *connState
	worker  *workerState
	process *processState
	command *command // of a Reply: the command that it answers; nil if that is not known
}

func (w *world) observe(e *Event) *observation {
	l := &observation{Event: e, world: w, conn: w.conns[e.Conn], worker: e.worker}
	process := e.Process
	if c := l.conn; c != nil {
		process = cmp.Or(process, c.process)
		l.worker = c.worker
		if e.Kind == Reply && !e.IsGreeting && len(c.inFlight) > 0 {
			l.command = c.inFlight[0]
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
	for _, k := range w.sortedWorkers() {
		if k.process == process {
			return k
		}
	}
	return nil
}

// producer returns the process if it has no worker; nil otherwise. What the jobs of a worker push is their own affair.
func (l *observation) producer() *processState {
	if l.process == nil || l.world.workerOf(l.process.number) != nil {
		return nil
	}
	return l.process
}

// verb returns the verb of a line, or of the line that a reply answers.
func (l *observation) verb() string {
	if l.command != nil {
		return l.command.verb
	}
	return l.Verb()
}

// hasMistakes reports whether the event is a line that is wrong, or the reply to one: rules see what the line was meant
// to be.
func (l *observation) hasMistakes() bool {
	return len(l.Mistakes) > 0 || l.command != nil && l.command.hasMistakes
}

// configuredQueues returns the queues in the environment of the worker's process, or else those of the Config.
func (l *observation) configuredQueues() []string {
	if l.process != nil && len(l.process.queues) > 0 {
		return l.process.queues
	}
	return l.world.cfg.Queues
}

// isSignalled reports whether the worker's process was sent a signal.
func (l *observation) isSignalled() bool { return l.process != nil && l.process.signal != nil }

// isKilled reports whether a signal of the worker's process ended it at once.
func (l *observation) isKilled() bool { return l.process != nil && l.process.isKilled }

// breach makes a breach of the look and of what a rule says about it.
func (l *observation) breach(name string, j judgement) Breach {
	b := Breach{Name: name, At: l.At, Conn: l.Conn, Process: l.Process, Text: j.text, Evidence: slices.Clone(j.evidence)}
	if l.worker != nil {
		b.Worker = l.worker.wid
		b.Process = cmp.Or(b.Process, l.worker.process)
	}
	if l.Kind != workerSecond && l.Kind != workerDeparture && l.Kind != TimePassage {
		b.Evidence = append(b.Evidence, l.Moment())
	}
	slices.SortStableFunc(b.Evidence, func(a, c Moment) int { return cmp.Compare(a.At, c.At) })
	return b
}

func (l *observation) moment() *Moment {
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
