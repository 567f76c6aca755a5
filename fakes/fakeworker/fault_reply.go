package fakeworker

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// replyFaults are replies that are not understood. (Server Protocol Sender and Client Protocol Receiver)
func replyFaults() []Fault {
	isError := func(e *Event) bool { return e.Reply.Kind == fwp.ErrorReply }
	exitAt := func(verb string, kind fwp.Kind) func(*Event) {
		return replied(verb, func(e *Event) { e.Exit = e.Reply.Kind == kind })
	}
	job := func(name, summary string, has func(unit map[string]any) bool) Fault {
		return fault(name, "FETCH-09 RESP-08", summary, on(Delivered, func(e *Event) {
			var unit map[string]any
			_ = json.Unmarshal(e.Job.Text, &unit) // it was read before
			e.Skip = has(unit)
		}))
	}
	return []Fault{
		setting("resp-whole-reads", "RESP-08 FETCH-09 STATE-15", "It takes what one read returns for a whole reply.",
			func(c *Config) {
				c.Wrap = func(nc net.Conn) net.Conn { return wholeReads{nc} }
			}),
		setting("resp-decodes-reads", "RESP-08 FETCH-09 WRK-03 STATE-21 END-04",
			"It takes what one read returns for whole characters.",
			func(c *Config) {
				c.Wrap = func(nc net.Conn) net.Conn { return decodedReads{nc} }
			}),
		fault("resp-bulk-by-line", "FETCH-09 RESP-08 STATE-15", "It takes a bulk string for one line.",
			replied(fwp.FETCH, func(e *Event) {
				e.Close = e.Reply.Kind == fwp.BulkString && bytes.ContainsAny(e.Reply.Text, "\r\n")
			})),
		fault("resp-counts-characters", "FETCH-09 RESP-08 STATE-15", "It counts the length of a bulk string in characters.",
			replied(fwp.FETCH, func(e *Event) {
				e.Close = e.Reply.Kind == fwp.BulkString && len(e.Reply.Text) != len(bytes.Runes(e.Reply.Text))
			})),
		fault("null-ends", "RESP-08 FETCH-11 STATE-15 FETCH-09", "It ends when a FETCH finds no job.",
			exitAt(fwp.FETCH, fwp.NullBulk)),
		fault("fetch-error-ends", "RESP-09 FETCH-11 STATE-15", "It ends when a FETCH is answered with an error.",
			exitAt(fwp.FETCH, fwp.ErrorReply)),
		fault("ack-error-ends", "RESP-09 FETCH-11 STATE-15", "It ends when an ACK is answered with an error.",
			exitAt(fwp.ACK, fwp.ErrorReply)),
		fault("beat-error-ends", "RESP-09 BEAT-06 STATE-15", "It ends when a BEAT is answered with an error.",
			exitAt(fwp.BEAT, fwp.ErrorReply)),
		statefulFault("beat-error-stops", "BEAT-06 RESP-09 WRK-12",
			"It sends no BEAT any more when one was answered with an error.",
			func() func(*Event) {
				var failed atomic.Bool
				return both(
					replied(fwp.BEAT, func(e *Event) {
						if isError(e) {
							failed.Store(true)
							e.Reply = fwp.Reply{Kind: fwp.SimpleString}
						}
					}),
					on(Beating, func(e *Event) { e.Skip = failed.Load() }))
			}),
		statefulFault("fetch-error-stops", "RESP-09 FETCH-11", "It fetches no more when a FETCH was answered with an error.",
			func() func(*Event) {
				var failed atomic.Bool
				return both(
					replied(fwp.FETCH, func(e *Event) { failed.CompareAndSwap(false, isError(e)) }),
					on(Fetching, func(e *Event) {
						if failed.Load() && !e.Skip {
							e.Skip, e.Delay = true, time.Second
						}
					}))
			}),
		fault("state-bulk-ignored", "BEAT-13 STATE-24 STATE-21 STATE-19 STATE-17 STATE-20 STATE-22",
			"It does not understand a state that is a bulk string.", ignoreStates(fwp.BulkString)),
		fault("state-simple-ignored", "BEAT-13 STATE-24 STATE-21 STATE-17 STATE-20 STATE-22",
			"It does not understand a state that is a simple string.", ignoreStates(fwp.SimpleString)),
		job("job-unknown-field-dropped", "It ignores a job that has a field that it does not know.",
			func(unit map[string]any) bool { return unit["fwp_unknown"] != nil }),
		job("job-null-custom-dropped", "It ignores a job whose custom is null.", func(unit map[string]any) bool {
			custom, has := unit["custom"]
			return has && custom == nil
		}),
		job("job-without-args-dropped", "It ignores a job whose args are empty.", func(unit map[string]any) bool {
			args, _ := unit["args"].([]any)
			return len(args) == 0
		}),
		job("job-nested-dropped", "It ignores a job with deeply nested arguments.", func(unit map[string]any) bool {
			text, _ := json.Marshal(unit["args"]) // it was read from JSON
			return bytes.Contains(text, []byte("[[[[[[[[[["))
		}),
	}
}

func ignoreStates(kind fwp.Kind) func(*Event) {
	return replied(fwp.BEAT, func(e *Event) {
		if e.Reply.Kind == kind && stateIn(e.Reply) != "" {
			e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
		}
	})
}

// wholeReads is a connection that fails where a read ends inside a line.
type wholeReads struct{ net.Conn }

func (c wholeReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && p[n-1] != '\n' {
		return 0, errors.New("half a reply")
	}
	return n, err
}

// decodedReads is a connection that replaces the bytes of a character that a read does not bring whole.
type decodedReads struct{ net.Conn }

func (c decodedReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for i := 0; i < n; {
		r, size := utf8.DecodeRune(p[i:n])
		if r == utf8.RuneError && size == 1 {
			p[i] = '?'
		}
		i += size
	}
	return n, err
}

// beatFaults are about the heartbeat. (Client Lifecycle; BEAT)
func beatFaults() []Fault {
	every := func(name, clauses, summary string, d time.Duration) Fault {
		return setting(name, clauses, summary, func(c *Config) { c.BeatEvery = d })
	}
	beating := func(name, clauses, summary string, act func(*Event)) Fault {
		return fault(name, clauses, summary, on(Beating, act))
	}
	return []Fault{
		beating("beat-never", "BEAT-06 STATE-19 STATE-22 BEAT-13 BEAT-16 STATE-17 STATE-20", "It sends no BEAT.", skip),
		every("beat-rare", "BEAT-06 STATE-19 BEAT-08 BEAT-16", "It sends a BEAT every 100 s.", 100*time.Second),
		every("beat-often", "BEAT-07 BEAT-08", "It sends a BEAT every second.", time.Second),
		beating("beat-not-while-working", "BEAT-06 BEAT-16", "It sends no BEAT while it runs jobs.",
			func(e *Event) { e.Skip = e.Worker.Running() > 0 }),
		beating("beat-not-while-quiet", "STATE-19 BEAT-16 BEAT-06", "It sends no BEAT when it is quiet.",
			func(e *Event) { e.Skip = e.Worker.state() == "quiet" }),
		beating("beat-not-while-terminating", "BEAT-16", "It sends no BEAT when it terminates.",
			func(e *Event) { e.Skip = e.Worker.state() == "terminate" }),
		beating("beat-foreign-wid", "BEAT-10", "The wid of its BEATs is not that of its HELLO.",
			field("wid", "another-worker")),
		beating("beat-without-wid", "BEAT-10", "Its BEATs have no wid.", field("wid", nil)),
		fault("beat-unknown-worker-ignored", "WRK-12", "It works on when the server does not know it any more.",
			replied(fwp.BEAT, func(e *Event) {
				if e.Reply.Kind == fwp.ErrorReply {
					e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
				}
			})),
	}
}
