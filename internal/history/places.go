package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// judgeStranger evaluates a job without a PUSH: only its deliveries are known.
func (j *judge) judgeStranger(n int) {
	if !j.index.history.Strangers {
		j.addInvented(n, NeverPushed, func(d int32) string {
			return fmt.Sprintf("%s returned job %s, which was never pushed", j.index.name(d), j.life.jid)
		})
	}
}

// judgeRefused evaluates a job whose only PUSH was refused.
func (j *judge) judgeRefused(n int) {
	j.addInvented(n, RefusedButDelivered, func(d int32) string {
		return fmt.Sprintf("%s was refused, but %s returned job %s",
			j.index.name(j.life.pushEvent), j.index.name(d), j.life.jid)
	}, j.life.pushEvent)
}

// addInvented adds a finding about the first delivery of a job that cannot exist.
func (j *judge) addInvented(n int, breach Breach, detail func(delivery int32) string, evidence ...int32) {
	x := j.index
	for _, i := range x.byJob[x.starts[n]:x.starts[n+1]] {
		if e := &x.events[i]; e.isDelivery() && e.Return < x.end() {
			j.find(breach, j.life.jid, detail(i), append(evidence, i)...)
			return
		}
	}
}

// judgePlaces compares each delivery with its PUSH (queue and contents) and with the queues
// that its FETCH names. It adds one finding for each rule.
func (j *judge) judgePlaces(n int) {
	x, l := j.index, &j.life
	var astray, moved, changed bool
	for _, i := range x.byJob[x.starts[n]:x.starts[n+1]] {
		e := &x.events[i]
		if !e.isDelivery() {
			continue
		}
		j.choose(i)
		if queue := l.push.queue(); !astray && !slices.Contains(e.queueNames(), queue) {
			astray = true
			j.find(strayBreach(e), l.jid, fmt.Sprintf(
				"%s pushed job %s to queue %s, and %s returned it, but asked only %s",
				x.name(l.pushEvent), l.jid, queue, x.name(i), strings.Join(e.queueNames(), ", ")), l.pushEvent, i)
			j.strays = append(j.strays, stray{finding: len(j.report.Findings) - 1, event: i, queue: queue})
		}
		if e.Queue != "" && !moved && e.Queue != l.push.queue() {
			moved = true
			j.find(QueueAltered, l.jid, fmt.Sprintf(
				"%s pushed job %s to queue %s, and the work unit that %s returned names queue %s",
				x.name(l.pushEvent), l.jid, l.push.queue(), x.name(i), e.Queue), l.pushEvent, i)
		}
		if e.Body != "" && l.push.Body != "" && !changed && e.Body != l.push.Body {
			changed = true
			j.find(Altered, l.jid, fmt.Sprintf("%s pushed job %s with %s, and %s returned it with %s",
				x.name(l.pushEvent), l.jid, excerpt(l.push.Body), x.name(i), excerpt(e.Body)), l.pushEvent, i)
		}
	}
}

// strayBreach returns the breach of a FETCH that delivers a job of another queue.
func strayBreach(e *Event) Breach {
	if len(e.Queues) == 0 {
		return WrongDefaultQueue
	}
	return WrongQueue
}

// excerpt cuts a body that is too long to read.
func excerpt(body string) string {
	const limit = 60
	if len(body) > limit {
		return strings.ToValidUTF8(body[:limit], "") + "..."
	}
	return body
}

// name returns the operation, the index, the client and the times of an event.
func (x *index) name(i int32) string {
	e := &x.events[i]
	client := e.Worker
	client = cmp.Or(client, fmt.Sprintf("client %d", e.Client))
	span := fmt.Sprintf("from %s on, without a reply", clock(e.Call))
	if e.hasReply() {
		span = fmt.Sprintf("%s to %s", clock(e.Call), clock(e.Return))
	}
	if e.Op.IsOperatorAction() {
		return fmt.Sprintf("the %s #%d (%s)", e.Op, i, span)
	}
	return fmt.Sprintf("%s #%d (%s, %s)", e.Op, i, client, span)
}

// names is name for several, joined.
func (x *index) names(events []int32) string {
	texts := make([]string, len(events))
	for i, e := range events {
		texts[i] = x.name(e)
	}
	switch n := len(texts); n {
	case 0:
		return "nothing"
	case 1:
		return texts[0]
	default:
		return strings.Join(texts[:n-1], ", ") + " and " + texts[n-1]
	}
}

// clock returns a time of the history, rounded to microseconds.
func clock(t time.Duration) string { return t.Round(time.Microsecond).String() }

// stray is a job that was delivered from a queue that was not named, and its finding.
type stray struct {
	finding int
	event   int32 // the FETCH that delivered it
	queue   string
}

// maxNeighbours is how many later strays one is compared with at most, so that the time stays
// linear however many there are.
const maxNeighbours = 32

// pairSwapped finds pairs of overlapping strays that are each what the other FETCH named: their
// replies were sent to each other's connections. (FWP-RESP-06)
func (j *judge) pairSwapped() {
	events := j.index.events
	slices.SortFunc(j.strays, func(a, b stray) int { return cmp.Compare(a.event, b.event) })
	for i, a := range j.strays {
		for _, b := range j.strays[i+1 : min(i+1+maxNeighbours, len(j.strays))] {
			if events[b.event].Call > events[a.event].Return {
				break
			}
			if slices.Contains(events[a.event].queueNames(), b.queue) && slices.Contains(events[b.event].queueNames(), a.queue) {
				j.exchange(a, b)
				j.exchange(b, a)
			}
		}
	}
}

// exchange changes the finding about one of two such jobs to Swapped.
func (j *judge) exchange(got, other stray) {
	x, f := j.index, &j.report.Findings[got.finding]
	if f.Breach == Swapped { // it is one of another pair
		return
	}
	f.Breach = Swapped
	f.Description += fmt.Sprintf("; at the same time %s asked for it, and returned a job of queue %s: their replies were "+
		"swapped",
		x.name(other.event), other.queue)
	f.Events = append(f.Events, int(other.event))
	slices.Sort(f.Events)
}
