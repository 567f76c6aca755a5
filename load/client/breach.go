package client

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/wire"
)

// Breach is how often the protocol was broken in the same way at the same command.
type Breach struct {
	First *wire.BreachError
	Count int64
}

// Breaches are the ways in which the protocol was broken, the earliest first.
type Breaches []Breach

// Add adds breaches to those of the same way.
func (b *Breaches) Add(more ...Breach) {
	for _, one := range more {
		i := slices.IndexFunc(*b, func(known Breach) bool {
			return known.First.Verb == one.First.Verb && known.First.Breach == one.First.Breach
		})
		if i < 0 {
			i, *b = len(*b), append(*b, Breach{First: one.First})
		}
		(*b)[i].Count += one.Count
	}
}

// Breaches returns the breaches of the protocol so far. The caller may keep them.
func (c *Shard) Breaches() Breaches {
	list := slices.Clone(c.breaches)
	if closed := c.closedAlone(); closed.Count > 0 {
		list = append(list, closed)
	}
	return list
}

func (c *Shard) breached(b *wire.BreachError) { c.breaches.Add(Breach{First: b, Count: 1}) }

// A server that stops, restarts or stands still does the same to all its connections, and breaks nothing by it. So what
// it does to one connection counts only if others were served meanwhile.

// pulse remembers in which of the latest seconds a loop has read replies.
type pulse [64]int64

// beat notes a reply.
func (p *pulse) beat(now time.Duration) {
	second := int64(now/time.Second) + 1 // 0 is none
	p[second%int64(len(p))] = second
}

// whole returns how many whole seconds between two times are known to have replies. Times that are more than a minute
// ago are forgotten.
func (p *pulse) whole(from, to time.Duration) (n int) {
	first := int64((from+time.Second-1)/time.Second) + 1
	for second := first; second <= int64(to/time.Second); second++ {
		if p[second%int64(len(p))] == second {
			n++
		}
	}
	return n
}

const (
	// overrun is how much later than the protocol sets a server may say that there is no job. Twice the longest
	// service time of other commands is added.
	overrun = 1500 * time.Millisecond
	// leastSilence is how long a server has to leave a command without a reply, and mostSlowness is the share of that
	// time which no other command may take.
	leastSilence = 10 * time.Second
	mostSlowness = 4
	// beaten is how long ago at most a worker has sent the heartbeat that shows that it is alive.
	beaten = 45 * time.Second
)

// overdue books the breach of a fetch that found nothing, and took much longer than the protocol lets it wait.
func (d *duty) overdue(now time.Duration) {
	c, took := d.shard, now-d.asked.sent
	limit := c.times.Wait + overrun + 2*c.slowest
	if c.times.Wait == 0 || took <= limit || !c.shared.calm(d.asked.sent) ||
		c.pulse.whole(d.asked.sent+c.times.Wait, now) == 0 {
		return
	}
	verb := c.verb(d.asked.op)
	c.breached(&wire.BreachError{Verb: verb, Breach: wire.Overdue, What: fmt.Sprintf(
		"%s found no job after %.1f s; the limit is %s, and no other command took more than %.1f s",
		verb, took.Seconds(), c.times.Wait, c.slowest.Seconds())})
}

// unanswered books the breach of a command that got no reply while others did.
func (c *conn) unanswered(now time.Duration) {
	s, waited := c.shard, now-c.asked.sent
	seconds := int(waited / time.Second)
	if c.phase != busy || waited < leastSilence || s.slowest > waited/mostSlowness || !s.shared.calm(c.asked.sent) ||
		s.pulse.whole(c.asked.sent, now) < seconds/2 {
		return
	}
	verb := s.verb(c.asked.op)
	s.breached(&wire.BreachError{Verb: verb, Breach: wire.NoReply, What: fmt.Sprintf(
		"%s got no reply within %.0f s; other commands got theirs within %.1f s",
		verb, waited.Seconds(), s.slowest.Seconds())})
}

// closing is the end of a worker's connection by the server.
type closing struct {
	at   time.Duration
	verb string // of the command in flight
}

// closingsKept is how many closings a shard remembers.
const closingsKept = 10_000

// closedByServer notes that the server has ended the connection of a worker that gives no cause: it has sent its
// heartbeats, its latest command was not refused, and it was not ordered to be quiet or to terminate. A connection on
// which no command was served yet may be beyond a limit of the server.
func (d *duty) closedByServer(now time.Duration) {
	w, c := d.worker, d.shard
	served := d.replied > d.opened && d.failures == 0
	if !served || w.stops() || w.state != wire.Working || now-max(w.known, d.opened) > beaten || !c.shared.calm(now) ||
		len(c.closings) == closingsKept {
		return
	}
	end := closing{at: now}
	if d.phase == busy {
		end.verb = c.verb(d.asked.op)
	}
	c.closings = append(c.closings, end)
}

// closedAlone returns the closings of workers' connections which other connections have outlived: they were open
// before, and served afterwards. If none was served that was opened afterwards, all may have been ending, one by one.
func (c *Shard) closedAlone() (b Breach) {
	for _, end := range c.closings {
		outlived := slices.ContainsFunc(c.conns, func(o *conn) bool { return o.opened < end.at && o.replied > end.at })
		opened := slices.ContainsFunc(c.conns, func(o *conn) bool { return o.opened > end.at && o.replied > o.opened })
		if !outlived || !opened {
			continue
		}
		b.Count++
		b.First = cmp.Or(b.First, &wire.BreachError{Breach: wire.WorkerClosed, What: fmt.Sprintf(
			"the server closed the connection of a worker that sends heartbeats, %s, and still served others",
			during(end.verb))})
	}
	return b
}

// during describes what a connection did.
func during(verb string) string {
	if verb == "" {
		return "between two commands"
	}
	return "instead of a reply to " + verb
}
