package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// stranger evaluates a job without a PUSH: only its deliveries are known.
func (j *judge) stranger(n int) {
	if !j.index.history.Strangers {
		j.invented(n, NeverPushed, func(d int32) string {
			return fmt.Sprintf("%s brought job %s, which was never pushed", j.index.name(d), j.life.jid)
		})
	}
}

// refused evaluates a job whose only PUSH was refused.
func (j *judge) refused(n int) {
	j.invented(n, RefusedButDelivered, func(d int32) string {
		return fmt.Sprintf("%s was refused, and yet %s brought job %s",
			j.index.name(j.life.pushed), j.index.name(d), j.life.jid)
	}, j.life.pushed)
}

// invented adds a finding about the first delivery of a job that cannot exist.
func (j *judge) invented(n int, breach Breach, what func(delivery int32) string, evidence ...int32) {
	x := j.index
	for _, i := range x.byJob[x.starts[n]:x.starts[n+1]] {
		if e := &x.events[i]; e.delivery() && e.Return < x.end() {
			j.find(breach, j.life.jid, what(i), append(evidence, i)...)
			return
		}
	}
}

// places compares each delivery with the FETCH, which must name the queue, and with the
// PUSH, which must have the same contents. It adds one finding for each rule.
func (j *judge) places(n int) {
	x, l := j.index, &j.life
	var astray, moved, changed bool
	for _, i := range x.byJob[x.starts[n]:x.starts[n+1]] {
		e := &x.events[i]
		if !e.delivery() {
			continue
		}
		j.choose(i)
		if queue := l.push.queue(); !astray && !slices.Contains(e.asked(), queue) {
			astray = true
			j.find(strayBreach(e), l.jid, fmt.Sprintf(
				"%s pushed job %s to queue %s, and %s brought it though it asked %s only",
				x.name(l.pushed), l.jid, queue, x.name(i), strings.Join(e.asked(), ", ")), l.pushed, i)
			j.strays = append(j.strays, stray{finding: len(j.report.Findings) - 1, event: i, queue: queue})
		}
		if e.Queue != "" && !moved && e.Queue != l.push.queue() {
			moved = true
			j.find(QueueAltered, l.jid, fmt.Sprintf(
				"%s pushed job %s to queue %s, and the work unit that %s brought names queue %s",
				x.name(l.pushed), l.jid, l.push.queue(), x.name(i), e.Queue), l.pushed, i)
		}
		if e.Body != "" && l.push.Body != "" && !changed && e.Body != l.push.Body {
			changed = true
			j.find(Altered, l.jid, fmt.Sprintf("%s pushed job %s with %s, and %s brought it with %s",
				x.name(l.pushed), l.jid, short(l.push.Body), x.name(i), short(e.Body)), l.pushed, i)
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

// short cuts a body that is too long to read.
func short(body string) string {
	const most = 60
	if len(body) > most {
		return strings.ToValidUTF8(body[:most], "") + "..."
	}
	return body
}

// name returns the operation, the index, the client and the times of an event.
func (x *index) name(i int32) string {
	e := &x.events[i]
	client := e.Worker
	client = cmp.Or(client, fmt.Sprintf("client %d", e.Client))
	span := fmt.Sprintf("from %s on, without a reply", clock(e.Call))
	if e.closed() {
		span = fmt.Sprintf("%s to %s", clock(e.Call), clock(e.Return))
	}
	if e.Op == Restart || e.Op == Kill {
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
