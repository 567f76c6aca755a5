package fakes

import (
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// goneFaults are about jobs whose consumer has disconnected.
func goneFaults() []Fault {
	return []Fault{
		statefulFault("waiting-job-gone", "PUSH-04",
			"a job for a consumer that disconnected during its FETCH is lost",
			waitingJobGone),
		statefulFault("gone-consumer-job-lost", "STATE-07 STATE-08",
			"a reservation that runs out after its connection has ended loses the job",
			goneConsumer),
		statefulFault("end-returns-jobs", "END-05 STATE-05",
			"END returns the jobs that the connection holds to their queues", endReturns),
	}
}

func waitingJobGone() func(*Event) {
	var lost notes[string, bool]
	return func(e *Event) {
		switch e.Point {
		case Disconnected:
			e.Skip = true
		case GivenBack:
			e.Skip = true
			lost.put(e.Object.Text("jid"), true)
		case Expired:
			if gone, _ := lost.take(e.Object.Text("jid")); gone {
				e.Set = ""
			}
		}
	}
}

func goneConsumer() func(*Event) {
	var holder notes[string, <-chan struct{}]
	return func(e *Event) {
		switch e.Point {
		case Reserved:
			if e.Conn != nil {
				holder.put(e.Object.Text("jid"), e.Conn.Done)
			}
		case Expired:
			done, _ := holder.take(e.Object.Text("jid"))
			select {
			case <-done:
				e.Set = ""
			default:
			}
		}
	}
}

func endReturns() func(*Event) {
	var mu sync.Mutex
	fetched := make(map[int64][]string)
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			mu.Lock()
			defer mu.Unlock()
			fetched[e.Conn.ID] = append(fetched[e.Conn.ID], e.Object.Text("jid"))
		case e.Point == Ran && e.Command.Verb == fwp.END && e.Err == nil:
			mu.Lock()
			jids := fetched[e.Conn.ID]
			mu.Unlock()
			for _, jid := range jids {
				jobs := e.Conn.server.store
				if held := jobs.Held(jid); held != nil { // it was not reported
					jobs.GiveBack(&Event{Conn: e.Conn}, held)
				}
			}
		}
	}
}
