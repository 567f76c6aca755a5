package fakes

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func errorVariations() []Variation {
	return []Variation{
		variation("error-codes", "Server Protocol Sender",
			"errors begin with other words than ERR",
			errorText(func(e *Event) string {
				switch e.about() {
				case AboutJob, AboutWorker:
					return "NOTFOUND"
				case AboutState:
					return "notpermitted: not now"
				}
				return "MALFORMED " + string(e.about())
			})),
		variation("error-empty", "Server Protocol Sender",
			"errors have no text",
			errorText(func(*Event) string { return "" })),
		variation("error-quotes", "Server Protocol Sender",
			"errors contain the refused line, and are not in English",
			errorText(func(e *Event) string {
				return fmt.Sprintf("+OK wäre falsch – 無効な\t{%.1000q}", e.Line)
			})),
	}
}

func errorText(text func(*Event) string) func(*Event) {
	return on(Ran, func(e *Event) {
		if e.Err != nil {
			e.Reply.Text = []byte(text(e))
		}
	})
}

func lineVariations() []Variation {
	return []Variation{
		variation("line-lf-taken", "AMB-07",
			"a line that ends with LF alone is accepted",
			on(LineRead, func(e *Event) {
				if e.about() == AboutLineEnd && bytes.IndexByte(e.Line, '\r') < 0 {
					e.Err = nil
				}
			})).AdvisedAgainst("FWP-FRAME-08"),
		statefulVariation("line-lf-unseen", "AMB-07", "only CRLF ends a line, so that an LF alone is a part of it", unseen),
		variation("line-utf8-replaced", "AMB-13",
			"bytes that are not UTF-8 become U+FFFD",
			on(LineRead, func(e *Event) {
				if e.about() == AboutUTF8 {
					e.Err, e.Line = nil, bytes.ToValidUTF8(e.Line, []byte("\uFFFD"))
				}
			})),
		variation("line-utf8-ignored", "AMB-13",
			"bytes that are not UTF-8 are delivered unchanged",
			on(LineRead, func(e *Event) {
				if e.about() == AboutUTF8 {
					e.Err = nil
				}
			})),
		setting("line-64-kib", "AMB-14",
			"lines of more than 64 KiB are refused",
			func(c *Config) { c.MaxLine = 64 << 10 }),
	}
}

// unseen replaces each LF without a CR before it with a vertical tab, which no command
// has.
func unseen() func(*Event) {
	var ends notes[int64, bool] // connections whose last byte was a CR
	return on(Received, func(e *Event) {
		cr, _ := ends.take(e.Conn.ID)
		for i, b := range e.Bytes {
			if b == '\n' && !cr {
				e.Bytes[i] = '\v'
			}
			cr = b == '\r'
		}
		ends.put(e.Conn.ID, cr)
	})
}

func commandVariations() []Variation {
	more := map[string]fwp.Reply{
		"BATCH":  integer(1),
		"MUTATE": simple("OK"),
		"PUSHB":  bulk([]byte("{}")),
		"QUEUE":  {Kind: fwp.Array, Array: []fwp.Reply{bulk([]byte("default")), integer(3)}},
		"TRACK":  null(),
	}
	return []Variation{
		variation("command-more-verbs", "Client Commands",
			"there are commands that the protocol does not define",
			on(Ran, func(e *Event) {
				if r, known := more[e.Command.Verb]; known && e.about() == AboutVerb && e.Conn.Identified {
					e.Err, e.Reply = nil, r
				}
			})),
		variation("info-text", "AMB-04",
			"INFO is plain text",
			when(Ran, fwp.INFO, func(e *Event) {
				if e.Err == nil {
					e.Reply = bulk([]byte("# Server\r\nversion: 1.0 (größer)\r\n\r\n$5\r\n+OK\r\n"))
				}
			})),
		variation("info-nothing", "AMB-04",
			"INFO is an empty JSON hash",
			when(Ran, fwp.INFO, func(e *Event) {
				if e.Err == nil {
					e.Reply = bulk([]byte("{}"))
				}
			})),
		statefulVariation("info-late", "AMB-04",
			"the figures of INFO are those of up to 5 s ago", infoLate),
		statefulVariation("flush-forgets-workers", "FLUSH Command",
			"after a FLUSH the workers that are connected are unknown",
			forgetful),
		statefulVariation("flush-forgets-connections-of-workers", "FLUSH Command",
			"after a FLUSH, a BEAT on a connection that was made before is refused",
			forgetfulOfConnections),
	}
}

// infoLate gives the same reply to INFO for 5 s.
func infoLate() func(*Event) {
	var mu sync.Mutex
	var last fwp.Reply
	var made time.Time
	return when(Ran, fwp.INFO, func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Err != nil:
		case time.Since(made) < 5*time.Second:
			e.Reply = last
		default:
			last, made = e.Reply, time.Now()
		}
	})
}

// forgetfulOfConnections refuses each BEAT on a connection whose HELLO was before a FLUSH.
func forgetfulOfConnections() func(*Event) {
	var flushes atomic.Int64
	var at notes[int64, int64]
	return func(e *Event) {
		switch {
		case e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil:
			at.put(e.Conn.ID, flushes.Load())
		case e.Point == Flushed:
			flushes.Add(1)
		case e.Point == Checked && e.Command.Verb == fwp.BEAT:
			if n, known := at.take(e.Conn.ID); known {
				at.put(e.Conn.ID, n)
				if n < flushes.Load() {
					e.decline(AboutWorker, "no HELLO had this wid")
				}
			}
		}
	}
}

// forgetful refuses the BEAT of a worker whose latest HELLO was before a FLUSH.
func forgetful() func(*Event) {
	var mu sync.Mutex
	forgotten := make(map[string]bool) // by wid: there was a FLUSH after its latest HELLO
	return func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil:
			forgotten[e.Conn.Worker] = false
		case e.Point == Flushed:
			for wid := range forgotten {
				forgotten[wid] = true
			}
		case e.Point == Checked && e.Command.Verb == fwp.BEAT && forgotten[e.Object.Text("wid")]:
			e.decline(AboutWorker, "no HELLO had this wid")
		}
	}
}
