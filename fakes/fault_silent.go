package fakes

import (
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// silentFaults are about a worker without BEAT, an idle connection, and what adds up on a connection.
func silentFaults() []Fault {
	return []Fault{
		statefulFault("worker-silent-returns", "STATE-05",
			"the jobs of a worker that has sent no BEAT for 30 s go back to their queues", onSilence(giveBack)),
		statefulFault("worker-silent-lost", "STATE-07 STATE-09",
			"the jobs of a worker that has sent no BEAT for 30 s are discarded", onSilence(finish)),
		fault("worker-idle-closed", "STATE-13",
			"the connection of a consumer on which no command is sent for 20 s is closed",
			on(Writing, func(e *Event) {
				if e.Conn.Worker != "" {
					e.Later = &Later{After: 20 * time.Second, Close: true}
				}
			})),
		statefulFault("state-errors-close", "STATE-13 STATE-12",
			"a consumer's connection is closed after its twelfth refused command", errorsClose),
		statefulFault("fetch-renewed", "FETCH-05",
			"the wait of a FETCH begins anew with each job that is pushed to any queue", renewed),
	}
}

// onSilence acts on the jobs of workers without BEAT for 30 s, whenever a job is fetched.
func onSilence(act func(e *Event, jids []string)) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		beaten := map[string]time.Time{}
		return inHand(func(h *hands, e *Event) {
			switch {
			case e.Point != Checked:
			case e.Command.Verb == fwp.HELLO || e.Command.Verb == fwp.BEAT:
				mu.Lock()
				defer mu.Unlock()
				beaten[e.Object.Text("wid")] = time.Now()
			case e.Command.Verb == fwp.FETCH:
				act(e, h.of(func(one hand) bool { // which calls this hook again
					mu.Lock()
					defer mu.Unlock()
					return time.Since(beaten[one.worker]) > 30*time.Second
				}))
			}
		})()
	}
}

func errorsClose() func(*Event) {
	var refused notes[int64, int]
	return on(Ran, func(e *Event) {
		if e.Err == nil || e.Conn.Worker == "" {
			return
		}
		n, _ := refused.take(e.Conn.ID)
		refused.put(e.Conn.ID, n+1)
		e.Close = e.Close || n+1 == 12
	})
}

func renewed() func(*Event) {
	var mu sync.Mutex
	var pushed time.Time
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Defaulted:
			pushed = time.Now()
		case e.Point == Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk:
			e.Delay = max(0, e.Wait-time.Since(pushed))
		}
	}
}

// numberFormFaults take names for the numbers that they look like.
func numberFormFaults() []Fault {
	return []Fault{
		fault("queue-numbers", "FETCH-04", "the zeros that lead the name of a queue do not count", queueNames(numberOf)),
		fault("job-id-number", "FETCH-01", "a jid of digits is delivered without the zeros that lead it",
			delivered(func(job *Object) { job.SetText("jid", numberOf(job.Text("jid"))) })),
		fault("job-jobtype-number", "FETCH-01", "a jobtype of digits is delivered without the zeros that lead it",
			delivered(func(job *Object) { job.SetText("jobtype", numberOf(job.Text("jobtype"))) })),
		statefulFault("worker-ids-numbers", "BEAT-01",
			"a signal for a worker is for all whose ids are the same number",
			signalFor(func(a, b string) bool { return numberOf(a) == numberOf(b) })),
	}
}

// numberOf returns a name of digits without the zeros that lead it, and any other as it is.
func numberOf(name string) string {
	if strings.Trim(name, "0123456789") != "" {
		return name
	}
	return strings.TrimLeft(name[:max(0, len(name)-1)], "0") + name[max(0, len(name)-1):]
}
