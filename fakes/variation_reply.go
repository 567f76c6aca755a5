package fakes

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/fwpsuite/fwp/fwp"
)

func errorVariations() []Variation {
	return []Variation{
		variation("error-codes", "Server Protocol Sender",
			"errors begin with words of their own, not with ERR",
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
			"errors repeat the line that they are about, and are not in English",
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
			"a line that ends with LF alone is taken",
			on(LineRead, func(e *Event) {
				if e.about() == AboutLineEnd && bytes.IndexByte(e.Line, '\r') < 0 {
					e.Err = nil
				}
			})).advisedAgainst("FWP-FRAME-08"),
		varying("line-lf-unseen", "AMB-07", "only CRLF ends a line, so that an LF alone is a part of it", unseen),
		variation("line-utf8-replaced", "AMB-13",
			"bytes that are not UTF-8 become U+FFFD",
			on(LineRead, func(e *Event) {
				if e.about() == AboutUTF8 {
					e.Err, e.Line = nil, bytes.ToValidUTF8(e.Line, []byte("\uFFFD"))
				}
			})),
		variation("line-utf8-ignored", "AMB-13",
			"bytes that are not UTF-8 come back as they are",
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

// unseen makes a vertical tab, which no command has, of each LF that follows no CR.
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
		"BATCH":  {Kind: fwp.Integer, Int: 1},
		"MUTATE": simple("OK"),
		"PUSHB":  bulk([]byte("{}")),
		"QUEUE":  {Kind: fwp.Array, Array: []fwp.Reply{bulk([]byte("default")), {Kind: fwp.Integer, Int: 3}}},
		"TRACK":  {Kind: fwp.NullBulk},
	}
	return []Variation{
		variation("command-more-verbs", "Client Commands",
			"there are commands that the protocol does not name",
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
		varying("flush-forgets-workers", "FLUSH Command",
			"after a FLUSH the server does not know the workers that are connected",
			forgetful),
	}
}

// forgetful refuses the BEAT of a worker that was there before a FLUSH.
func forgetful() func(*Event) {
	var mu sync.Mutex
	forgotten := make(map[string]bool) // every wid, and whether a FLUSH came after its latest HELLO
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
		case e.Point == Judged && e.Command.Verb == fwp.BEAT && forgotten[e.Object.Text("wid")]:
			e.decline(AboutWorker, "no worker with this wid has said HELLO")
		}
	}
}
