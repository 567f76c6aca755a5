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
func (b *Breaches) Add(breaches ...Breach) {
	for _, breach := range breaches {
		i := slices.IndexFunc(*b, func(other Breach) bool {
			return other.First.Verb == breach.First.Verb && other.First.Breach == breach.First.Breach
		})
		if i < 0 {
			i, *b = len(*b), append(*b, Breach{First: breach.First})
		}
		(*b)[i].Count += breach.Count
	}
}

// Breaches returns the breaches of the protocol so far. The caller may keep them.
func (c *Shard) Breaches() Breaches {
	list := slices.Clone(c.breaches)
	if closed := c.closingBreach(); closed.Count > 0 {
		list = append(list, closed)
	}
	return list
}

func (c *Shard) addBreach(b *wire.BreachError) { c.breaches.Add(Breach{First: b, Count: 1}) }

// A server that stops, restarts or stands still does the same to all its connections, and breaks nothing by it. So what
// it does to one connection counts only if others were served meanwhile.

// pulse remembers in which of the latest seconds a loop has read replies.
type pulse [64]int64

// note notes a reply.
func (p *pulse) note(now time.Duration) {
	second := int64(now/time.Second) + 1 // 0 is none
	p[second%int64(len(p))] = second
}

// countSeconds returns how many whole seconds between two times are known to have replies. Times that are more than a
// minute ago are forgotten.
func (p *pulse) countSeconds(from, to time.Duration) (n int) {
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
	// minSilence is how long a server has to leave a command without a reply, and maxSlowness is the share of that
	// time which no other command may take.
	minSilence  = 10 * time.Second
	maxSlowness = 4
	// maxBeatAge is how long ago at most a worker has sent the heartbeat that shows that it is alive.
	maxBeatAge = 45 * time.Second
)

// bookOverdue books the breach of a fetch that found nothing, and took much longer than the protocol lets it wait.
func (d *workerConn) bookOverdue(now time.Duration) {
	c, duration := d.shard, now-d.command.sent
	limit := c.times.Wait + overrun + 2*c.longestService
	if c.times.Wait == 0 || duration <= limit || !c.shared.isCalm(d.command.sent) ||
		c.pulse.countSeconds(d.command.sent+c.times.Wait, now) == 0 {
		return
	}
	verb := c.verb(d.command.op)
	c.addBreach(&wire.BreachError{Verb: verb, Breach: wire.OverdueFetch, Description: fmt.Sprintf(
		"%s found no job after %.1f s; the limit is %s, and no other command took more than %.1f s",
		verb, duration.Seconds(), c.times.Wait, c.longestService.Seconds())})
}

// bookNoReply books the breach of a command that got no reply while others did.
func (c *conn) bookNoReply(now time.Duration) {
	s, wait := c.shard, now-c.command.sent
	seconds := int(wait / time.Second)
	if c.phase != phaseBusy || wait < minSilence || s.longestService > wait/maxSlowness ||
		!s.shared.isCalm(c.command.sent) ||
		s.pulse.countSeconds(c.command.sent, now) < seconds/2 {
		return
	}
	verb := s.verb(c.command.op)
	s.addBreach(&wire.BreachError{Verb: verb, Breach: wire.NoReply, Description: fmt.Sprintf(
		"%s got no reply within %.0f s; other commands got theirs within %.1f s",
		verb, wait.Seconds(), s.longestService.Seconds())})
}

// closing is the end of a worker's connection by the server.
type closing struct {
	at   time.Duration
	verb string // of the command in flight
}

// closingLimit is how many closings a shard remembers.
const closingLimit = 10_000

// noteServerClose notes that the server has ended the connection of a worker that gives no cause: it has sent its
// heartbeats, its latest command was not refused, and it was not ordered to be quiet or to terminate. A connection on
// which no command was served yet may be beyond a limit of the server.
func (d *workerConn) noteServerClose(now time.Duration) {
	w, c := d.worker, d.shard
	isServed := d.repliedAt > d.openedAt && d.failures == 0
	if !isServed || w.stops() || w.state != wire.Working || now-max(w.latestBeat, d.openedAt) > maxBeatAge ||
		!c.shared.isCalm(now) ||
		len(c.closings) == closingLimit {
		return
	}
	end := closing{at: now}
	if d.phase == phaseBusy {
		end.verb = c.verb(d.command.op)
	}
	c.closings = append(c.closings, end)
}

// closingBreach returns the closings of workers' connections which other connections have outlived: they were open
// before, and served afterwards. If none was served that was opened afterwards, all may have been ending, one by one.
func (c *Shard) closingBreach() (breach Breach) {
	for _, end := range c.closings {
		isOutlived := slices.ContainsFunc(c.conns, func(o *conn) bool { return o.openedAt < end.at && o.repliedAt > end.at })
		hasNewer := slices.ContainsFunc(c.conns, func(o *conn) bool {
			return o.openedAt > end.at &&
				o.repliedAt > o.openedAt
		})
		if !isOutlived || !hasNewer {
			continue
		}
		breach.Count++
		breach.First = cmp.Or(breach.First, &wire.BreachError{Breach: wire.WorkerClosed, Description: fmt.Sprintf(
			"the server closed the connection of a worker that sends heartbeats, %s, and still served others",
			describeMoment(end.verb))})
	}
	return breach
}

// describeMoment describes what a connection did.
func describeMoment(verb string) string {
	if verb == "" {
		return "between two commands"
	}
	return "instead of a reply to " + verb
}
