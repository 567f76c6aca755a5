package suite

import (
	"bytes"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpscript "github.com/fwpsuite/fwp/protocols/emqp/script"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// Sent follows what a client sends.
func (l *emqpLaw) Sent(number int, all []byte, isUnbounded bool, at time.Time) law.Sent {
	const maxReplies, idle = 1 << 20, 8 * time.Second
	c := l.conns[number]
	c.wasIdle = c.wasIdle || at.Sub(c.lastSent) > idle
	c.lastSent = at
	item, err := emqpscript.ParseSent(all)
	c.isUnframed = c.isUnframed || err != nil ||
		item.Kind == zmtp.IsMessage && !bytes.Equal(all, zmtp.AppendMessage(nil, item.Parts...))
	switch {
	case isUnbounded || c.isUnframed:
		l.isUnbounded, c.mayBeClosed = true, true
		l.disturbanceClause = prefix + "FRAME-07"
		return law.Sent{Clause: l.disturbanceClause, MaxReplies: maxReplies}
	case item.Kind == zmtp.IsCommand && item.Command.Name == zmtp.PING:
		return law.Sent{Clause: l.lastClause, DueReplies: 1, IsJudged: true} // it ends no broker: what was sent before may
	}
	if len(item.Parts) > id {
		l.sentIDs[string(item.Parts[id])] = at
	}
	m, err := emqp.Parse(item.Parts)
	if err != nil {
		return l.recordMalformed(c, item.Parts)
	}
	c.hasSent = true
	c.acks.add(m)
	l.lastClause = prefix + l.recordSent(number, c, m, at)
	return law.Sent{Clause: l.lastClause, Ends: m.Command == emqp.DISCONNECT}
}

// The places of frames.
const version, command, id = 1, 2, 3

// recordMalformed follows a message that the document does not allow: it changes nothing.
func (l *emqpLaw) recordMalformed(c *conn, frames [][]byte) law.Sent {
	l.disturbanceClause, c.mayBeClosed = prefix+"FRAME-07", true
	if len(frames) > id && len(frames[id]) > 0 && string(frames[version]) != emqp.Version {
		l.foreignIDs = append(l.foreignIDs, string(frames[id]))
		l.disturbanceClause = prefix + "FRAME-06"
		c.hasForeignInform = c.hasForeignInform || string(frames[command]) == emqp.INFORM
	}
	return law.Sent{Clause: l.disturbanceClause}
}

// recordSent follows a message, and returns the clause by which it is served.
func (l *emqpLaw) recordSent(number int, c *conn, m emqp.Message, at time.Time) string {
	switch m.Command {
	case emqp.INFORM:
		c.lastHeard = at
		return l.inform(c, m)
	case emqp.READY:
		c.isReady = c.role == worker
		return "READY-01"
	case emqp.REQUEST:
		return l.request(number, m, at)
	case emqp.PUBLISH:
		l.disturbanceClause = prefix + "PUB-01"
		return "PUB-01"
	case emqp.SCHEDULE, emqp.UNSCHEDULE:
		return l.schedule(number, m, at)
	case emqp.REPLY:
		c.hasReplied = true
		l.reply(number, c, m, at)
		return "REPLY-04"
	case emqp.ACK:
		c.hasAcked = true
		return "ACK-02"
	case emqp.KBAI:
		l.removeConn(number)
		return l.kbai(c, at)
	case emqp.DISCONNECT:
		l.StopJudging("")
		l.isLeaving, l.leftAt = true, at
		l.terms.History.Restarted() // it may be started again
		for n, other := range l.conns {
			if other.hasSent && !other.mayBeClosed && other.role != formerPeer {
				l.pendingKBAIs[n] = true
			}
		}
		return "DISC-01"
	}
	return "BEAT-05"
}

// inform follows an INFORM. Of one in another form than JSON, and of a second one, the document does not say what it
// does.
func (l *emqpLaw) inform(c *conn, m emqp.Message) string {
	c.informUncertain = c.informUncertain || c.role != client
	if string(m.Fields[1]) == emqp.TypeScheduler {
		l.hasLostScheduler = l.hasLostScheduler || c.informUncertain
		c.role, c.namesQueues = scheduler, len(m.Fields[0]) > 0
		return "INF-04"
	}
	c.role = worker
	queues, _ := emqp.ParseQueues(string(m.Fields[0])) // Parse has checked it
	clause := "INF-01"
	if emqp.FormatQueues(queues...) != string(m.Fields[0]) {
		c.informUncertain, clause = true, "INF-03"
		l.disturbanceClause = prefix + clause
	}
	for _, q := range queues {
		c.queues = append(c.queues, q.Name)
		if q.Weight < 1 || q.Weight > 100 {
			c.oddQueues = append(c.oddQueues, q.Name)
		}
		l.unknownQueues[q.Name] = l.unknownQueues[q.Name] || c.informUncertain
	}
	return clause
}

// workersOf returns the connections of the workers of a queue.
func (l *emqpLaw) workersOf(queue string) (all []int) {
	for _, n := range slices.Sorted(maps.Keys(l.conns)) {
		if c := l.conns[n]; c.role == worker && slices.Contains(c.queues, queue) {
			all = append(all, n)
		}
	}
	return all
}

// follow keeps a message, and forgets old ones.
func (l *emqpLaw) follow(x *message) {
	if len(l.messages) >= 2*maxMessages {
		rest := slices.DeleteFunc(slices.Clone(l.messages[:maxMessages]), func(x *message) bool { return x.isDone })
		l.messages = append(rest, l.messages[maxMessages:]...)
	}
	l.messages = append(l.messages, x)
}

// request follows a REQUEST. One that no worker has named may be kept or not. One that is sent when a worker of its
// queue says KBAI may be on its way to that one.
func (l *emqpLaw) request(from int, m emqp.Message, at time.Time) string {
	queue := string(m.Fields[0])
	all := l.workersOf(queue)
	isCrossed := at.Sub(l.kbaiTimes[queue]) <= l.terms.Slack
	x := &message{Message: m, from: from, at: at, isRequired: len(all) > 0 && !isCrossed}
	x.isAfterDisconnect = l.isLeaving && at.Sub(l.leftAt) > l.terms.Slack
	x.hasWaited = !slices.ContainsFunc(all, func(n int) bool { return l.conns[n].isReady })
	l.follow(x)
	if !utf8.Valid(m.Fields[2]) {
		return "REQ-05"
	}
	return "REQ-01"
}

// schedulers returns their connections.
func (l *emqpLaw) schedulers() map[int]bool {
	all := map[int]bool{}
	for n, c := range l.conns {
		if c.role == scheduler && !c.informUncertain {
			all[n] = true
		}
	}
	return all
}

// schedule follows a SCHEDULE or UNSCHEDULE.
func (l *emqpLaw) schedule(from int, m emqp.Message, at time.Time) string {
	x := &message{Message: m, from: from, at: at, to: l.schedulers()}
	x.isRequired = l.terms.Alone && len(x.to) > 0
	if m.Command == emqp.UNSCHEDULE {
		l.follow(x)
		return "UNSCH-01"
	}
	x.isRequired = x.isRequired && !l.hasLostScheduler && at.Sub(l.schedulerKBAIAt) > l.terms.Slack
	l.follow(x)
	return "SCHED-01"
}

// kbai follows the KBAI of a peer. What waits for its queues, and has no other worker, may be dropped.
func (l *emqpLaw) kbai(c *conn, at time.Time) string {
	clause := "KBAI-01"
	if c.role == scheduler {
		clause, l.schedulerKBAIAt = "KBAI-02", at
		for _, x := range l.messages {
			x.isRequired = x.isRequired && x.Command == emqp.REQUEST
		}
	}
	c.roleBeforeKBAI, c.role, c.kbaiAt = c.role, formerPeer, at
	for _, name := range c.queues {
		l.kbaiTimes[name] = at
		for _, x := range l.messages {
			if x.Command == emqp.REQUEST && string(x.Fields[0]) == name && !x.isDone {
				x.isRequired = false
			}
		}
	}
	return clause
}
