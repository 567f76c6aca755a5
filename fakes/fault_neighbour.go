package fakes

import (
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

// identityFaults are about what one connection or worker has said and another one has not.
func identityFaults() []Fault {
	return []Fault{
		statefulFault("hello-identity-of-the-last", "HELLO-11",
			"a HELLO with a known wid is declined unless its pid is that of the worker that connected last",
			identityOfLast),
		statefulFault("hello-process-once", "HELLO-16 HELLO-11",
			"a HELLO with the hostname and the pid of another worker is declined", processOnce),
		statefulFault("state-identified-beside", "STATE-01",
			"on an open server, commands before HELLO are served while another connection is identified",
			identifiedBy(0, true)),
		statefulFault("state-identified-after", "STATE-01",
			"on an open server, commands before HELLO are served if the connection that ended last was identified",
			identifiedBy(0, false)),
		statefulFault("auth-identified-beside", "AUTH-06",
			"on a protected server, commands before HELLO are served while another connection is identified",
			identifiedBy(1, true)),
		statefulFault("auth-identified-after", "AUTH-06",
			"on a protected server, commands before HELLO are served if the connection that ended last was identified",
			identifiedBy(1, false)),
		statefulFault("auth-once-for-all", "AUTH-02 AUTH-04 AUTH-03 AUTH-05 AUTH-07 HELLO-04",
			"no hash is checked after the HELLO of one connection was accepted", onceForAll),
		statefulFault("auth-salt-of-the-last", "AUTH-03",
			"a hash is checked with the salt and the iterations of the latest greeting", saltOfLast),
	}
}

func identityOfLast() func(*Event) {
	var mu sync.Mutex
	known := map[string]bool{}
	var last int64
	return on(Checked, func(e *Event) {
		wid := e.Object.Text("wid")
		if e.Command.Verb != fwp.HELLO || e.Err != nil || wid == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		pid, _ := e.Object.Int("pid")
		if known[wid] && pid != last {
			e.decline("wid", "the wid is in use with another hostname, pid or labels")
			return
		}
		known[wid], last = true, pid
	})
}

func processOnce() func(*Event) {
	var mu sync.Mutex
	known := map[string]string{} // wid by process
	return on(Checked, func(e *Event) {
		wid := e.Object.Text("wid")
		if e.Command.Verb != fwp.HELLO || e.Err != nil || wid == "" || e.Object.Text("hostname") == "fwpcheck" {
			return // the workers of the suite are of one process
		}
		mu.Lock()
		defer mu.Unlock()
		process := e.Object.Text("hostname") + " " + string(e.Object.Get("pid"))
		if other := known[process]; other != "" && other != wid {
			e.decline("pid", "this process has a worker")
			return
		}
		known[process] = wid
	})
}

// identifiedBy serves commands before HELLO because of another connection: one that is open,
// or the one that ended last. The server is an open one, or one with iterations.
func identifiedBy(iterations int, open bool) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		done := map[int64]<-chan struct{}{} // of the connections that were identified
		ended := func() (over, still bool) {
			for _, d := range done {
				select {
				case <-d:
					over = true
				default:
					still = true
				}
			}
			return over, still
		}
		return func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Conn == nil || min(e.Conn.Iterations, 1) != iterations:
			case e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil:
				done[e.Conn.ID] = e.Conn.Done
			case e.Point == Checked && e.Command.Verb != fwp.HELLO && e.about() == AboutState:
				if over, still := ended(); open && still || !open && over {
					e.accept()
				}
			}
		}
	}
}

func onceForAll() func(*Event) {
	var accepted notes[string, bool]
	return when(Checked, fwp.HELLO, func(e *Event) {
		if e.Conn.Iterations == 0 {
			return
		}
		if is, _ := accepted.take(""); is && e.about() == "pwdhash" {
			e.accept()
			accepted.put("", true)
			return
		}
		accepted.put("", e.Err == nil)
	})
}

func saltOfLast() func(*Event) {
	type greeting struct {
		salt       string
		iterations int
	}
	var last notes[string, greeting]
	return func(e *Event) {
		switch {
		case e.Point == Greeting && e.Conn.Iterations > 0:
			last.take("")
			last.put("", greeting{e.Conn.Salt, e.Conn.Iterations})
		case e.Point == Parsed && e.Command.Verb == fwp.HELLO && e.Conn.Iterations > 0:
			if g, known := last.take(""); known {
				e.Conn.Salt, e.Conn.Iterations = g.salt, g.iterations
				last.put("", g)
			}
		}
	}
}

// signalFaults are about which worker a BEAT speaks for, and which one a signal is for.
func signalFaults() []Fault {
	return []Fault{
		statefulFault("beat-worker-of-the-last", "BEAT-01 HELLO-11",
			"a BEAT is refused unless its wid is that of the latest HELLO", beatOfLast),
		statefulFault("beat-signal-for-the-last", "BEAT-03 BEAT-01 STATE-09",
			"a signal is for the worker that connected last, whatever its wid is", signalForLast),
		statefulFault("beat-signal-on-the-first", "BEAT-03",
			"only the first connection of a worker gets its state", signalOnFirst),
		statefulFault("beat-report-for-all", "BEAT-01",
			"the current_state of one worker is the reply to the BEATs of all", reportForAll),
		statefulFault("beat-quiet-stays", "BEAT-03",
			"a worker that was sent quiet is sent quiet once more instead of terminate", quietStays),
		fault("beat-rss-refused", "BEAT-01",
			"an rss_kb of more than 31 bits is refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if n, _ := e.Object.Int("rss_kb"); n > 1<<31-1 {
					e.decline("rss_kb", "rss_kb is out of range")
				}
			})),
		fault("beat-state-refused", "BEAT-01",
			"a BEAT with a current_state is refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Object.Get("current_state") != nil {
					e.decline("current_state", "there is an unknown field")
				}
			})),
		statefulFault("fetch-quiet-for-all", "FETCH-04",
			"while one worker is quiet, the FETCHes of all find nothing", quietForAll),
	}
}

// lastWorker remembers the wid of the latest HELLO, and calls act with it before each BEAT.
func lastWorker(act func(e *Event, last string)) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		var last string
		return func(e *Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case arriving(e):
				last = e.Conn.Worker
			case e.Point == Checked && e.Command.Verb == fwp.BEAT, e.Point == Notified:
				act(e, last)
			}
		}
	}
}

func beatOfLast() func(*Event) {
	return lastWorker(func(e *Event, last string) {
		if e.Point == Checked && e.Object.Text("wid") != last {
			e.decline(AboutWorker, "no HELLO had this wid")
		}
	})()
}

func signalForLast() func(*Event) {
	var state string
	return lastWorker(func(e *Event, last string) {
		switch wid := e.Object.Text("wid"); {
		case e.Point != Notified:
		case wid == last && e.State == "":
			e.State = state
		case wid != last && e.State != "":
			state, e.State = e.State, ""
		}
	})()
}

func signalOnFirst() func(*Event) {
	var first notes[string, int64]
	return func(e *Event) {
		switch {
		case arriving(e):
			if id, known := first.take(e.Conn.Worker); known {
				first.put(e.Conn.Worker, id)
			} else {
				first.put(e.Conn.Worker, e.Conn.ID)
			}
		case e.Point == Notified:
			wid := e.Object.Text("wid")
			if id, known := first.take(wid); known {
				first.put(wid, id)
				e.Skip = id != e.Conn.ID
			}
		}
	}
}

func reportForAll() func(*Event) {
	var reported notes[string, string]
	return on(Notified, func(e *Event) {
		state, _ := reported.take("")
		if own := e.Object.Text("current_state"); own != "" {
			state = own
		} else if e.State == "" {
			e.State = state
		}
		reported.put("", state)
	})
}

func quietStays() func(*Event) {
	var told notes[string, bool]
	return on(Notified, func(e *Event) {
		wid := e.Object.Text("wid")
		quiet, _ := told.take(wid)
		if quiet = quiet || e.State == "quiet"; quiet {
			told.put(wid, true)
			if e.State != "" {
				e.State = "quiet"
			}
		}
	})
}

func quietForAll() func(*Event) {
	var quiet notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Notified && (e.State != "" || e.Object.Text("current_state") != ""):
			quiet.put("", true)
		case e.Point == Checked && e.Command.Verb == fwp.FETCH && e.Err == nil:
			if is, _ := quiet.take(""); is {
				quiet.put("", true)
				e.Queues, e.Block = nil, nil
			}
		}
	}
}
