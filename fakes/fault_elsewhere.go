package fakes

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// elsewhereFaults are about what a server does right in the plainest case and wrong beside it.
func elsewhereFaults() []Fault { //nolint:funlen,gocognit // a table, a function in each row
	return []Fault{
		statefulFault("hi-bulk-busy", "HI-02", "while a FETCH waits, HI is a bulk string", bulkWhileBusy),
		statefulFault("hi-salt-number", "HI-05",
			"every 10th greeting of a protected server has a number as its salt",
			every(10, Greeting, func(e *Event) {
				if e.Conn.Iterations > 0 {
					e.Conn.Salt = "12345678"
					e.Reply = e.Conn.hi()
					e.Reply.Text = bytes.ReplaceAll(e.Reply.Text, []byte(`"12345678"`), []byte(`12345678`))
				}
			})),
		fault("hello-last-comma", "HELLO-06",
			"a comma behind the last field of a HELLO is ignored",
			when(Parsed, fwp.HELLO, func(e *Event) {
				e.Command.Args = bytes.ReplaceAll(e.Command.Args, []byte(",}"), []byte("}"))
			})),
		statefulFault("hello-again-deaf", "HELLO-08",
			"after a second HELLO the FETCHes of its connection find nothing", deafAfterHello),
		fault("hello-pid-fraction", "HELLO-14",
			"a HELLO whose pid is a fraction is accepted",
			when(Checked, fwp.HELLO, func(e *Event) {
				if e.about() == "pid" && bytes.IndexByte(e.Object.Get("pid"), '.') > 0 {
					e.accept()
				}
			})),
		statefulFault("auth-salts-few", "AUTH-05", "the salts and iterations of greetings are four, in turn", fewSalts),
		fault("auth-hash-nested", "AUTH-07",
			"the HELLO of a consumer is accepted if its pwdhash is an array or a hash",
			when(Checked, fwp.HELLO, func(e *Event) {
				raw := e.Object.Get("pwdhash")
				if e.Object.Get("wid") != nil && e.about() == "pwdhash" && len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') {
					e.accept()
				}
			})),
		fault("reply-error-lf", "RESP-01",
			"the error to a verb that does not exist ends with LF alone",
			on(Writing, func(e *Event) {
				if e.about() == AboutVerb {
					e.Bytes = bytes.ReplaceAll(e.Bytes, []byte("\r\n"), []byte("\n"))
				}
			})),
		fault("reply-null-again", "RESP-05",
			"a worker that found no job is sent the null again after 3 s",
			when(Writing, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.NullBulk {
					e.Later = &Later{After: 3 * time.Second, Bytes: []byte("$-1\r\n")}
				}
			})),
		fault("reply-escape", "RESP-07",
			"the error to a BEAT of an unknown worker has its wid, with what the escapes in it stand for",
			when(Writing, fwp.BEAT, func(e *Event) {
				if e.about() == AboutWorker {
					e.Bytes = fmt.Appendf(nil, "-ERR no worker %s\r\n", e.Object.Text("wid"))
				}
			})),
		fault("push-queue-ends", "WU-16 PUSH-04",
			"a space before or behind the name of a queue is accepted and belongs to the name",
			when(Checked, fwp.PUSH, func(e *Event) {
				name := e.Object.Text("queue")
				if bare := strings.TrimSpace(name); e.about() == "queue" && bare != "" && !strings.Contains(bare, " ") {
					e.accept()
				}
			})),
		statefulFault("retry-counted-apart", "RETRY-03 RETRY-05",
			"the failures of a job are counted apart for each worker", countedApart),
		statefulFault("flush-refused-clears-retries", "FLUSH-03",
			"FLUSH with an argument is refused, and discards the jobs that are to be retried", refusedClearsRetries),
		statefulFault("flush-forgets-producers", "FLUSH-04",
			"after a FLUSH the connections of other producers are un-identified", forgetsProducers),
		statefulFault("end-returns-late", "END-05 STATE-05",
			"the jobs that a connection held are back in their queues 20 s after its END",
			inHand(func(h *hands, e *Event) {
				if ended(e) {
					by, jids := &Event{Conn: e.Conn}, h.on(e)
					time.AfterFunc(20*time.Second, func() { giveBack(by, jids) })
				}
			})),
		fault("job-jobtype-scheduled", "WU-02",
			"the jobtype of a job that is scheduled may be missing or of any type",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.about() == "jobtype" && e.Object.Get("at") != nil {
					e.accept()
				}
			})),
		fault("schedule-default-lost", "WU-04",
			"a scheduled job without queue goes to another queue than default",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err == nil && e.Object.Text("at") != "" && e.Object.Get("queue") == nil {
					e.Object.SetText("queue", "standard")
				}
			})),
		fault("job-at-zoneless", "WU-06b",
			"an at without a zone is accepted",
			when(Checked, fwp.PUSH, func(e *Event) {
				if at := e.Object.Text("at"); e.about() == "at" && len(at) == len("2030-01-01T00:00:00") {
					e.Object.SetText("at", at+"Z")
					e.accept()
				}
			})),
	}
}

func bulkWhileBusy() func(*Event) {
	var mu sync.Mutex
	waiting := map[int64]bool{}
	return func(e *Event) {
		if e.Point != Greeting && (e.Point != Checked && e.Point != Ran || e.Command.Verb != fwp.FETCH) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Checked:
			waiting[e.Conn.ID] = true
		case e.Point == Ran:
			delete(waiting, e.Conn.ID)
		case len(waiting) > 0:
			e.Reply.Kind = fwp.BulkString
		}
	}
}

func deafAfterHello() func(*Event) {
	var again notes[int64, bool]
	return on(Checked, func(e *Event) {
		switch is, _ := again.take(e.Conn.ID); {
		case e.Command.Verb == fwp.HELLO && e.Conn.Identified:
			again.put(e.Conn.ID, true)
		case is:
			again.put(e.Conn.ID, true)
			if e.Command.Verb == fwp.FETCH {
				e.Queues, e.Block = nil, nil
			}
		}
	})
}

func fewSalts() func(*Event) {
	var mu sync.Mutex
	n := 0
	return on(Greeting, func(e *Event) {
		if e.Conn.Iterations > 0 {
			mu.Lock()
			defer mu.Unlock()
			e.Conn.Salt, e.Conn.Iterations = fmt.Sprintf("0f3c5d7a9b1e246%d", n%4), 4242+n%4
			e.Reply = e.Conn.hi()
			n++
		}
	})
}

func countedApart() func(*Event) {
	type failing struct{ jid, worker string }
	var failed notes[failing, int64]
	return on(Failed, func(e *Event) {
		if e.Conn == nil {
			return
		}
		key := failing{e.Object.Text("jid"), e.Conn.Worker}
		n, _ := failed.take(key)
		failed.put(key, n+1)
		if limit, ok := e.Object.Int("retry"); ok && n < limit && e.Set != "retries" {
			e.Set, e.Until = "retries", time.Now().Add(20*time.Second)
		}
	})
}

func refusedClearsRetries() func(*Event) {
	var mu sync.Mutex
	failed := map[string]bool{}
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Failed && e.Set == "retries":
			failed[e.Object.Text("jid")] = true
		case e.Point == Checked && e.Command.Verb == fwp.FLUSH && e.about() == AboutArguments && e.Conn.Identified:
			for jid := range failed {
				failed[jid] = false
			}
		case e.Point == Due && e.Set == "retries":
			kept, known := failed[e.Object.Text("jid")]
			e.Skip = known && !kept
		}
	}
}

func forgetsProducers() func(*Event) {
	var mu sync.Mutex
	identified := map[int64]bool{}
	return on(Parsed, func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch keep, known := identified[e.Conn.ID]; {
		case e.Command.Verb == fwp.FLUSH && e.Conn.Identified:
			for id := range identified {
				identified[id] = id == e.Conn.ID
			}
		case known && !keep && e.Conn.isProducer():
			e.Conn.Identified = false
			delete(identified, e.Conn.ID)
		case e.Conn.isProducer():
			identified[e.Conn.ID] = true
		}
	})
}
