package fakes

// goneFaults are about jobs whose consumer has disconnected.
func goneFaults() []Fault {
	return []Fault{
		statefulFault("waiting-job-gone", "PUSH-04",
			"a job for a consumer that disconnected during its FETCH is lost",
			waitingJobGone),
		statefulFault("gone-consumer-job-lost", "STATE-07 STATE-08",
			"a reservation that runs out after its connection has ended loses the job",
			ifGone(Reserved, at(Expired), func(e *Event) { e.Set = "" })),
		statefulFault("end-returns-jobs", "END-05 STATE-05",
			"END returns the jobs that the connection holds to their queues",
			inHand(func(h *hands, e *Event) {
				if ended(e) {
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

// ifGone returns hooks that act at a later event of a job if the connection of the earlier one has ended.
func ifGone(earlier Point, later func(*Event) bool, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var from notes[string, <-chan struct{}]
		return func(e *Event) {
			switch {
			case e.Point == earlier && e.Conn != nil:
				from.put(e.Object.Text("jid"), e.Conn.Done)
			case later(e):
				done, _ := from.take(e.Object.Text("jid"))
				select {
				case <-done:
					act(e)
				default:
				}
			}
		}
	}
}
