package fakeworker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// ofAnyClient are the faults of workers that producers can have too.
var ofAnyClient = []string{
	"hello-before-hi", "hello-without-v", "hello-v-text", "hello-v-old", "hi-strict", "hi-exact", "hi-newer-refused",
	"hash-missing", "hash-array", "hash-one-round-more", "hash-one-round", "hash-salt-first", "hash-salt-ignored",
	"hash-of-hex", "hash-password-escaped", "hash-odd-salts", "hash-leading-zeros", "hello-refusal-ignored", "line-lf",
	"end-missing", "end-with-space", "connection-for-each-command", "provider-ignored",
}

// ProducerFaults returns the catalogue for producers, see [Worker.Produce], sorted by name.
func ProducerFaults() []Fault {
	faults := slices.Concat(pushLineFaults(), unitFaults(), outcomeFaults(), producerFaults())
	for _, f := range Faults() {
		if slices.Contains(ofAnyClient, f.Name) {
			faults = append(faults, f)
		}
	}
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return faults
}

// pushLineFaults are wrong lines. (Client Protocol Sender)
func pushLineFaults() []Fault {
	return []Fault{
		fault("push-without-hello", "HELLO-01 STATE-02 RESP-08 RESP-09 WU-19 STATE-15", "It sends PUSH without a HELLO.",
			on(Introducing, skip)),
		fault("push-two-spaces", "FRAME-02 FRAME-04", "Two spaces stand between PUSH and its JSON.",
			sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
		fault("push-latin-1", "FRAME-09 FRAME-04 WU-03 WU-19", "Its PUSHes are written in Latin-1.",
			sent(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
		fault("push-lines-broken", "FRAME-04 FRAME-02 FRAME-01 FRAME-07 HELLO-01 RESP-08 RESP-09 WU-03 WU-19 STATE-15",
			"It writes the line breaks of arguments as they are.", sent(fwp.PUSH, func(e *Event) {
				e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n"))
			})),
		fault("push-ends-twice", "FRAME-01", "A line break stands between the JSON of a PUSH and its CRLF.",
			sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), "\r\n", "\n\r\n", 1)) })),
		fault("push-info-ahead", "FRAME-07", "It sends INFO behind a PUSH, before that is answered.",
			sent(fwp.PUSH, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
		fault("push-after-end", "END-03 FRAME-07", "It sends one more INFO behind its END.",
			sent(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	}
}

// unitFaults are wrong work units. (Work units)
func unitFaults() []Fault {
	unit := func(name, clauses, summary string, act func(*Event)) Fault {
		return fault(name, clauses, summary, on(Pushing, act))
	}
	change := func(name string, to func(v any) any) func(*Event) {
		return func(e *Event) {
			if v := e.Fields[name]; v != nil {
				field(name, to(v))(e)
			}
		}
	}
	text := func(name string, to func(string) string) func(*Event) {
		return change(name, func(v any) any { return to(fmt.Sprint(v)) })
	}
	return []Fault{
		unit("unit-jid-number", "WU-01 WU-19 WU-15", "The jid of its jobs is a number.", field("jid", 17)),
		unit("unit-jid-cut", "WU-19", "It cuts jids to 24 characters.",
			text("jid", func(s string) string { return string([]rune(s)[:min(24, len([]rune(s)))]) })),
		unit("unit-jid-escaped", "WU-19", "It escapes jids as in a URL.",
			text("jid", func(s string) string { return strings.ReplaceAll(s, " ", "%20") })),
		unit("unit-jid-lower-case", "WU-19", "It writes jids in lower case.", text("jid", strings.ToLower)),
		unit("unit-jid-trimmed", "WU-19", "It leaves out the spaces at both ends of a jid.", text("jid", strings.TrimSpace)),
		unit("unit-queue-lower-case", "WU-19", "It writes queues in lower case.", text("queue", strings.ToLower)),
		unit("unit-args-times-rewritten", "WU-03", "It writes a time in the arguments in UTC.",
			change("args", func(v any) any {
				args := slices.Clone(v.([]any))
				for i, a := range args {
					if at, err := time.Parse(time.RFC3339, fmt.Sprint(a)); err == nil {
						args[i] = at.UTC().Format(time.RFC3339)
					}
				}
				return args
			})),
		unit("unit-without-jobtype", "WU-02 WU-19", "Its jobs have no jobtype.", field("jobtype", nil)),
		unit("unit-args-object", "WU-03 WU-19", "The args of its jobs are an object.", field("args", map[string]any{})),
		unit("unit-args-text", "WU-03", "The args of its jobs are strings.", change("args", func(v any) any {
			args := []string{}
			for _, a := range v.([]any) {
				args = append(args, fmt.Sprint(a))
			}
			return args
		})),
		unit("unit-args-ascii", "WU-03", "It replaces what is not ASCII in arguments.",
			change("args", func(v any) any {
				return json.RawMessage(strings.Map(func(r rune) rune {
					if r >= 0x80 {
						return '?'
					}
					return r
				}, string(encodeAny(v))))
			})),
		unit("unit-custom-dropped", "WU-19", "It leaves custom out.", field("custom", nil)),
		unit("unit-retry-fixed", "WU-19", "It sets retry to 25 whatever it was.", field("retry", 25)),
		unit("unit-retry-zero-omitted", "WU-19", "It leaves retry out if it is 0.", change("retry", func(v any) any {
			if fmt.Sprint(v) == "0" {
				return nil
			}
			return v
		})),
		unit("unit-args-empty-null", "WU-03 WU-19 RESP-08", "It writes null for args that are empty.",
			change("args", func(v any) any {
				if args, _ := v.([]any); len(args) == 0 {
					return json.RawMessage("null")
				}
				return v
			})),
		unit("unit-queue-default", "WU-19", "It pushes every job to the queue default.", field("queue", nil)),
		unit("unit-at-now", "WU-19", "It pushes jobs at once that were given a time.", field("at", nil)),
		unit("unit-at-number", "WU-17 WU-19", "It writes the time of a job as a number.",
			change("at", func(any) any { return 1_700_000_000 })),
		unit("unit-reserve-text", "WU-17 WU-19", "It writes reserve_for as a string.",
			change("reserve_for", func(v any) any { return fmt.Sprint(v) })),
		unit("unit-reserve-milliseconds", "WU-17 WU-19", "It takes reserve_for for milliseconds.",
			change("reserve_for", func(any) any { return 1 })),
		unit("unit-enqueued-at", "WU-18", "It sets enqueued_at.", field("enqueued_at", "2026-01-02T03:04:05Z")),
		unit("unit-failure", "WU-18", "Its jobs have a failure.", field("failure", map[string]any{"retry_count": 0})),
		setting("unit-jid-counted", "WU-15", "Its own jids are counted from 1 in each process.", func(c *Config) {
			var n atomic.Int64
			c.Hook = on(Pushing, func(e *Event) {
				if e.Fresh {
					e.Fields["jid"] = fmt.Sprintf("job-%016d", n.Add(1))
				}
			})
		}),
		unit("unit-jid-fixed", "WU-15", "Its own jids are all alike.", func(e *Event) {
			if e.Fresh {
				e.Fields["jid"] = "one-jid-for-all-jobs"
			}
		}),
	}
}

func encodeAny(v any) []byte {
	text := encode(Fields{"v": v})
	return text[len(`{"v":`) : len(text)-1]
}

// outcomeFaults are callers that are told what is not so. (PUSH; Server Protocol Sender and Client Protocol Receiver)
func outcomeFaults() []Fault {
	tellPushed := func(whether func(*Event) bool) func(*Event) {
		return on(Pushed, func(e *Event) {
			if whether(e) {
				e.State = "pushed"
			}
		})
	}
	isError := func(e *Event) bool { return e.Reply.Kind == fwp.ErrorReply }
	everySeventh := func(act func(*Event)) func() func(*Event) {
		return func() func(*Event) {
			var n atomic.Int64
			return on(Pushing, func(e *Event) {
				if n.Add(1)%7 == 0 {
					act(e)
				}
			})
		}
	}
	return []Fault{
		statefulFault("push-dropped-seldom", "WU-19", "It does not push every seventh job.", everySeventh(skip)),
		statefulFault("push-twice-seldom", "WU-15", "It pushes every seventh job twice.",
			everySeventh(func(e *Event) { e.Again = true })),
		fault("error-ignored", "RESP-09", "An error reply is no error to its caller.", tellPushed(isError)),
		fault("error-by-prefix", "RESP-09", "It takes an error reply without ERR at its beginning for OK.",
			tellPushed(func(e *Event) bool { return isError(e) && !strings.HasPrefix(string(e.Reply.Text), "ERR ") })),
		fault("error-holding-ok", "RESP-09", "It takes any reply that holds OK for OK.",
			tellPushed(func(e *Event) bool { return isError(e) && strings.Contains(string(e.Reply.Text), "OK") })),
		fault("error-ends", "RESP-09 STATE-15", "It ends with exit code 0 when a PUSH is refused.",
			on(Pushed, func(e *Event) {
				if isError(e) {
					e.Worker.Exit(0)
				}
			})),
		fault("exit-always-1", "RESP-08", "Its exit code is 1 whatever happened.",
			on(Exiting, func(e *Event) { e.Code = 1 })),
		fault("exit-always-0", "RESP-09 WU-19", "Its exit code is 0 whatever happened.",
			on(Exiting, func(e *Event) { e.Code = 0 })),
		fault("loss-ignored", "WU-19 RESP-09", "It takes a PUSH without a reply for one that was accepted.",
			tellPushed(func(e *Event) bool { return e.Reply.Kind == 0 })),
		statefulFault("replies-mixed", "RESP-09", "Of several callers at a time one gets the reply to another one's PUSH.",
			mixReplies),
	}
}

// mixReplies tells every caller what became of the job before.
func mixReplies() func(*Event) {
	var mu sync.Mutex
	last := "pushed"
	return on(Pushed, func(e *Event) {
		mu.Lock()
		defer mu.Unlock()
		last, e.State = e.State, last
	})
}

// producerFaults are what a producer does not do. (Client Lifecycle)
func producerFaults() []Fault {
	return []Fault{
		setting("beats", "BEAT-09 STATE-15", "It sends BEATs.", func(c *Config) { c.Beats = true }),
		setting("reply-whole-reads", "RESP-08 WU-19 STATE-15", "It takes what one read returns for a whole reply.",
			func(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return wholeReads{nc} } }),
	}
}

// ProducerVariations returns the permitted variations of producers, sorted by name.
func ProducerVariations() []Variation {
	all := []Variation{
		variation("created-at-added", "FWP-WU-17", "It sets created_at.", on(Pushing, func(e *Event) {
			if e.Fields["created_at"] == nil {
				e.Fields["created_at"] = time.Now().Format(time.RFC3339Nano)
			}
		})),
		variation("defaults-added", "FWP-WU-17", "It writes the defaults of fields that were not given.",
			on(Pushing, func(e *Event) {
				for name, v := range map[string]any{"retry": 25, "reserve_for": 1800, "backtrace": 0} {
					if e.Fields[name] == nil {
						e.Fields[name] = v
					}
				}
			})),
		variation("times-in-utc", "FWP-WU-17", "It writes times in UTC, to the millisecond.", on(Pushing, func(e *Event) {
			for _, name := range []string{"at", "created_at"} {
				if t, err := rfc3339.Parse(fmt.Sprint(e.Fields[name])); err == nil {
					e.Fields[name] = t.UTC().Format("2006-01-02T15:04:05.000Z")
				}
			}
		})),
		variation("nulls-added", "FWP-WU-17", "It writes null for custom, if there is none.", on(Pushing, func(e *Event) {
			if e.Fields["custom"] == nil {
				e.Fields["custom"] = json.RawMessage("null")
			}
		})),
		variation("push-repeated", "FWP-WRK-06", "It pushes a job again whose PUSH lost its connection.",
			on(Lost, func(e *Event) { e.Again = true })),
		variation("hello-as-worker", "FWP-HELLO-17", "Its HELLO has the fields of a worker.", on(Introducing, func(e *Event) {
			e.Fields["wid"], e.Fields["pid"] = e.Worker.cfg.WID, e.Worker.cfg.PID
			e.Fields["hostname"], e.Fields["labels"] = e.Worker.cfg.Hostname, e.Worker.cfg.Labels
		})),
		{
			Name: "one-caller", Summary: "It pushes one job at a time.", Reading: "Client Protocol Sender",
			Configure: func(c *Config) { c.Concurrency = 1 },
		},
		variation("digits-lost", "FWP-WU-20", "Its integers beyond 2^53 lose digits.", on(Pushing, func(e *Event) {
			var unit Fields
			if json.Unmarshal(encode(e.Fields), &unit) == nil {
				e.Fields = unit
			}
		})),
		variation("exit-code-3", "docs/judging-workers.md", "Its exit code is 3 if a PUSH was refused.",
			on(Exiting, func(e *Event) { e.Code *= 3 })),
	}
	for _, v := range Variations() {
		if slices.Contains([]string{
			"hello-more-fields", "hello-late", "hash-upper-case", "json-spaces", "json-ascii", "line-in-pieces",
			"end-reply-unread",
		}, v.Name) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b Variation) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
