package history

import (
	"strings"
	"time"
)

// The helpers below make events of small histories. Times are seconds.

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func event(op Op, worker, jid string, call, ret float64) Event {
	return Event{Worker: worker, Op: op, Outcome: OK, JID: jid, Call: seconds(call), Return: seconds(ret)}
}

func push(jid string, call, ret float64) Event { return event(Push, "", jid, call, ret) }

// bring returns a FETCH of a worker that delivers a job; it names queue q, see asks.
func bring(worker, jid string, call, ret float64) Event {
	return event(Fetch, worker, jid, call, ret).asks("q")
}

// emptyFetch is a FETCH that found nothing.
func emptyFetch(worker string, call, ret float64) Event {
	e := event(Fetch, worker, "", call, ret).asks("q")
	e.Outcome = Empty
	return e
}

func ack(worker, jid string, call, ret float64) Event  { return event(Ack, worker, jid, call, ret) }
func fail(worker, jid string, call, ret float64) Event { return event(Fail, worker, jid, call, ret) }

func (e Event) asks(queues string) Event {
	e.Queues = strings.Fields(queues)
	return e
}

func (e Event) to(queue string) Event {
	e.Queue = queue
	return e
}

func (e Event) retry(n int64) Event {
	e.Retry = &n
	return e
}

func (e Event) reserve(n int64) Event {
	e.ReserveFor = &n
	return e
}

func (e Event) at(t float64) Event {
	e.At = seconds(t)
	return e
}

func (e Event) body(text string) Event {
	e.Body = text
	return e
}

func (e Event) refused() Event {
	e.Outcome = Refused
	return e
}

func (e Event) quiet() Event {
	e.Quiet = true
	return e
}

// job is a PUSH to q with a reservation of a minute.
func job(jid string, call, ret float64) Event { return push(jid, call, ret).to("q").reserve(60) }
