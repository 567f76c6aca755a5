package fakes

import "github.com/fwpsuite/fwp/fwp"

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
			"END returns the jobs that the connection holds to their queues",
			inHand(func(h *hands, e *Event) {
				if e.Point == Ran && e.Command.Verb == fwp.END && e.Err == nil {
					giveBack(e, h.on(e))
				}
			})),
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
