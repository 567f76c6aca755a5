package workercheck

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// ProducerSituations returns all situations of producers.
func ProducerSituations() []Situation {
	return slices.Concat(pushSituations(), refusalSituations(), poolSituations(), pushLossSituations(),
		producerLifeSituations(), greetingSituations(), segmentSituations())
}

// alwaysOfProducers are the clauses that every run of a producer is about.
const alwaysOfProducers = "FRAME-01 FRAME-02 FRAME-04 FRAME-07 FRAME-09 HELLO-01 HELLO-02 HI-07 STATE-02 STATE-15 " +
	"END-03 WU-01 WU-02 WU-03 WU-18 WU-19 RESP-08"

// pushSituations are about jobs that the server takes. (Work units; PUSH)
func pushSituations() []Situation {
	given := func(id, title, more string, jobs []job) Situation {
		return Situation{
			ID: "push/" + id, Title: title, Clauses: "WU-03 WU-19 RESP-08 FRAME-04" + more, Wait: time.Second,
			Play: func(b *bed) {
				var all []handed
				for _, j := range jobs {
					all = append(all, hand(j))
				}
				all = append(all, ordinary(1)...) // the connections are in step afterwards
				b.asGiven(b.produce(options{}, all, false))
			},
		}
	}
	return []Situation{
		{
			ID: "push/plain", Title: "each job is pushed once, as it was given",
			Clauses: alwaysOfProducers + " WU-15 WRK-01 HELLO-17", Wait: time.Second,
			Play: func(b *bed) {
				p := b.produce(options{}, ordinary(12), false)
				b.holds("WRK-01", true, "", "")
				b.asGiven(p)
				b.onlyPushes(p)
			},
		},
		given("jids", "a jid is pushed as it was given, whatever is in it", "", []job{
			{jid: `quote"quote"quote"quote`},
			{jid: `back\slash\\back\slash`},
			{jid: "ünïcødé-日本語-🦆-" + strings.Repeat("x", 12)},
			{jid: "space in the middle of it"},
			{jid: strings.Repeat("long-jid-", 20)},
			{jid: "</script>&amp;<!-- 1234567890"},
			{jid: "123456789012345678901234"},
			{jid: "  spaces at both ends of it  "},
			{jid: "UPPER-case-AND-lower-case"},
		}),
		given("arguments", "arguments of any kind are pushed as they were given", " FRAME-09", []job{
			{args: `["héllo wörld","日本語","🦆🦆","\u0000\u2028"]`},
			{args: `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`},
			{args: `[9007199254740991,-9007199254740991,1e21,0.1,1.5e-9,0,-1]`},
			{args: `["line\r\nbreak","\tPUSH {}\r\n",""]`},
			{args: `["` + strings.Repeat("é", 40_000) + `"]`},
			{args: `[{},[],null,true,false,{"":{"a b":[null]}}]`},
			{args: `[]`},
			{args: `["2024-01-02T03:04:05+02:00","007","1e3",1.5,[[1,2]],{"key":"value"},null]`},
			{args: `[[1,2]]`},
			{jobtype: "Module::Type.name", args: `[3,1,2,1,1]`},
			{jobtype: "typ-ä 🦆", args: `["\"quotes\" and \\ back\nslashes"]`},
		}),
		given("fields", "the optional fields are pushed as they were given", " WU-17", []job{
			{more: `,"custom":{"locale":"de","fwp":[1,null,{"ü":"🦆"}]}`},
			{more: `,"retry":0`}, {more: `,"retry":-1`}, {more: `,"retry":3`},
			{more: `,"reserve_for":60`}, {more: `,"reserve_for":7200`},
			{more: `,"backtrace":10`},
			{more: `,"at":"2100-01-02T03:04:05.678Z"`}, {more: `,"at":"2100-01-02T03:04:05+01:00"`},
			{more: `,"created_at":"2024-01-02T03:04:05.678Z"`},
			{queue: "fwp-low"}, {queue: "queue_with.dots-1"}, {queue: "Queue-In-CAPITALS"},
			{more: `,"retry":7,"reserve_for":600,"backtrace":5,"custom":{"all":true},"at":"2100-01-02T03:04:05Z"`},
		}),
		{
			ID: "push/big-integers", Title: "integers beyond 2^53 keep all their digits",
			Clauses: "WU-20", Wait: time.Second,
			Play: func(b *bed) {
				p := b.produce(options{}, []handed{hand(job{args: `[9007199254740993,-9223372036854775807]`})}, false)
				b.finish(p)
				push := b.find(pushOf(p.given[0].jid))
				if push == nil {
					b.giveUp(true, "the job was not pushed; the program ended with %s", p.How())
				}
				b.holds("WU-20", sameValue(p.given[0].unit["args"], push.Object["args"]), brief(p.given[0].unit["args"]),
					"the arguments are "+brief(push.Object["args"]))
				b.at(push)
			},
		},
		{
			ID: "push/no-jid", Title: "jobs that are given no jid get one that no other job has, in any process",
			Clauses: "WU-15 WU-01", Wait: time.Second, Play: playWithoutJIDs,
		},
		{
			ID: "push/many", Title: "many jobs are pushed on few connections",
			Clauses: "WRK-09 WU-19", Wait: time.Second,
			Play: func(b *bed) {
				p := b.produce(options{concurrency: 1}, ordinary(40), false)
				b.asGiven(p)
				b.brief(p)
			},
		},
	}
}

// onlyPushes notes whether a producer presents itself as a worker.
func (b *bed) onlyPushes(p *proc) {
	hello := b.find(p.of(func(e *monitor.Event) bool {
		return e.Kind == monitor.Line && e.Command.Verb == fwp.HELLO && e.Object["wid"] != nil
	}))
	b.holds("HELLO-17", hello == nil, "a HELLO without a wid", "the HELLO has a wid")
	if hello != nil {
		b.at(hello)
	}
}

// playWithoutJIDs hands two processes jobs without a jid.
func playWithoutJIDs(b *bed) {
	const each = 100
	var lines []string
	for i := range each {
		lines = append(lines, fmt.Sprintf(`{"jobtype":"fwp.ok","args":[%d],"queue":"fwp-high"}`, i))
	}
	seen, pushes := map[any]bool{}, 0
	for range 2 {
		input := newFeed(lines...)
		input.end()
		p := b.launch(options{input: input})
		b.finish(p)
		all := b.all(p.of(func(e *monitor.Event) bool {
			return e.Kind == monitor.Line && e.Command.Verb == fwp.PUSH && e.Object != nil
		}))
		if len(all) == 0 {
			b.giveUp(false, "no PUSH of a job without a jid could be read; the program ended with %s", p.How())
		}
		pushes += len(all)
		for _, e := range all {
			seen[e.Object["jid"]] = true
		}
	}
	b.holds("WU-15", len(seen) == pushes, fmt.Sprintf("%d different jids", pushes),
		fmt.Sprintf("%d PUSHes have %d different jids", pushes, len(seen)))
}

// refusalSituations are about error replies. (Server Protocol Sender and Client Protocol Receiver)
func refusalSituations() []Situation {
	refuse := func(text func(jid string) string, which ...int) func(*bed) {
		return func(b *bed) {
			jobs, refused := ordinary(10), map[string]bool{}
			for _, i := range which {
				refused[jobs[i].jid] = true
			}
			b.steer(refuseThese(refused, text))
			p := b.produce(options{}, jobs, false)
			b.finish(p)
			b.toldRight(p, refused)
		}
	}
	return []Situation{
		{
			ID: "errors/push", Title: "a PUSH that is refused is an error to the caller, and the others are not",
			Clauses: "RESP-09", Wait: time.Second,
			Play: refuse(func(string) string { return "ERR it was not possible" }, 2, 7),
		},
		{
			ID: "errors/last", Title: "a last PUSH that is refused is an error to the caller",
			Clauses: "RESP-09", Wait: time.Second,
			Play: refuse(func(string) string { return "ERR it was not possible" }, 9),
		},
		{
			ID: "errors/texts", Title: "an error reply is an error whatever its text is",
			Clauses: "RESP-09 RESP-08", Wait: time.Second,
			Play: func(b *bed) {
				texts := []string{"OK", "ERR " + strings.Repeat("long ", 400), "ünï 🦆", "MALFORMED OK", "ERR"}
				n := 0
				refuse(func(string) string {
					n++
					return texts[n%len(texts)]
				}, 1, 2, 3, 4, 5)(b)
				b.holds("RESP-08", true, "", "")
			},
		},
		{
			ID: "hello/declined", Title: "a HELLO that is declined is an error to the caller, and no PUSH follows",
			Clauses: "RESP-09", Wait: time.Second,
			Play: func(b *bed) {
				b.steer(refuseFirst(1<<40, fwp.HELLO, "Invalid password"))
				p := b.produce(options{}, ordinary(2), false)
				if !b.ends(p, declinedPatience) {
					b.giveUp(false, "the program does not end: it goes on trying")
				}
				b.holds("RESP-09", p.Code() != 0, "another exit code than 0, since every HELLO was declined",
					"the program ended with exit code 0")
			},
		},
	}
}

// declinedPatience is how long a producer may try to greet.
const declinedPatience = 20 * time.Second

// poolSituations are about several callers at a time.
func poolSituations() []Situation {
	return []Situation{{
		ID: "pool/replies", Title: "of many callers at a time each gets the reply to its own PUSH",
		Clauses: "RESP-09 FRAME-07", Wait: 2 * time.Second,
		Play: func(b *bed) {
			const callers = 4
			jobs, refused, delay := ordinary(60), map[string]bool{}, map[string]time.Duration{}
			for i, j := range jobs {
				refused[j.jid] = i%5 == 2
				delay[j.jid] = time.Duration(20+i%7*10) * time.Millisecond
			}
			b.steer(refuseThese(refused, func(jid string) string { return "ERR refused " + jid }))
			b.steer(func(e *fakes.Event) {
				if e.Point == fakes.Ran && e.Command.Verb == fwp.PUSH && e.Object != nil {
					e.Delay = delay[e.Object.Text("jid")]
				}
			})
			p := b.produce(options{concurrency: callers}, jobs, false)
			b.finish(p)
			b.toldRight(p, refused)
			if most := b.atOnce(p); most < 2 {
				b.open("RESP-09", "it pushed one job at a time: it does not seem to take {n} or FWP_CONCURRENCY")
			}
		},
	}}
}

// pushLossSituations are about connections that are lost. (worker architecture: Connection; End State)
func pushLossSituations() []Situation {
	closed := func(id, title string, hook func() func(*fakes.Event)) Situation {
		return Situation{
			ID: "loss/" + id, Title: title, Clauses: "WU-19 WRK-06", Wait: 2 * time.Second,
			Play: func(b *bed) {
				b.steer(hook())
				p := b.produce(options{concurrency: 1}, ordinary(6), false)
				b.finish(p)
				b.notLost(p)
			},
		}
	}
	return []Situation{
		closed("push-unread", "a PUSH whose connection ends before it was carried out is not taken for done",
			func() func(*fakes.Event) { return unread(3, fwp.PUSH) }),
		closed("push-unanswered", "a client goes on whose connection ends before the reply to a PUSH",
			func() func(*fakes.Event) { return nth(3, fakes.Ran, fwp.PUSH, hangUp) }),
		closed("in-a-reply", "half a reply to a PUSH that was not carried out is not taken for OK",
			func() func(*fakes.Event) {
				third := nth(3, fakes.Checked, fwp.PUSH, func(e *fakes.Event) { e.Skip = true })
				half := nth(3, fakes.Writing, fwp.PUSH, func(e *fakes.Event) { e.Bytes, e.Close = []byte("+"), true })
				return func(e *fakes.Event) { third(e); half(e) }
			}),
		{
			ID: "loss/idle", Title: "a client whose idle connection the server closes loses no job in silence",
			Clauses: "WU-19", Wait: 2 * time.Second,
			Play: func(b *bed) {
				var over atomic.Bool
				b.steer(func(e *fakes.Event) {
					if e.Point == fakes.Writing && e.Command.Verb == fwp.PUSH && !over.Load() {
						e.Later = &fakes.Later{After: time.Second, Close: true}
					}
				})
				p := b.produce(options{}, ordinary(3), true)
				b.mustPush(p)
				closes := func(e *monitor.Event) bool { return e.Kind == monitor.Closed && e.By == monitor.Server }
				if !b.awaitOrEnd(p, settled, closes) {
					b.giveUp(true, "the producer had no idle connection that the server could close")
				}
				over.Store(true)
				b.watchUntilEnd(p, time.Second)
				b.handMore(p, ordinary(3))
				b.finish(p)
				b.notLost(p)
			},
		},
	}
}

// mustPush waits until the server has taken all jobs of a process, and ends the play otherwise.
func (b *bed) mustPush(p *proc) {
	if !b.until(settled, func() bool { return len(b.notAccepted(p)) == 0 || b.exited(p) }) || b.exited(p) {
		b.giveUp(true, "%d of %d jobs were pushed within %v, while the standard input was still open",
			len(p.given)-len(b.notAccepted(p)), len(p.given), settled)
	}
}

// notLost decides whether each job of a process is on the server, or its caller could tell that one may not be.
func (b *bed) notLost(p *proc) {
	missing := b.notAccepted(p)
	b.holds("WU-19", len(missing) == 0 || p.Code() != 0, "each job on the server, or another exit code than 0",
		"the server has not taken "+listed(missing)+", and the program ended with exit code 0")
	if len(missing) > 0 {
		if push := b.find(pushOf(missing[0])); push != nil {
			b.at(push)
		}
	}
}

// producerLifeSituations are about how long a producer lives. (Client Lifecycle; END)
func producerLifeSituations() []Situation {
	return []Situation{
		{
			ID: "idle/no-beat", Title: "a producer that has nothing to push for a minute sends no BEAT, and goes on then",
			Clauses: "BEAT-09 WU-19", Wait: 66 * time.Second,
			Play: func(b *bed) {
				p := b.produce(options{}, ordinary(2), true)
				b.mustPush(p)
				b.watchUntilEnd(p, 65*time.Second)
				b.holds("BEAT-09", b.find(p.of(line(fwp.BEAT))) == nil, "no BEAT", "the producer sent a BEAT")
				if beat := b.find(p.of(line(fwp.BEAT))); beat != nil {
					b.at(beat)
				}
				b.handMore(p, ordinary(2))
				b.asGiven(p)
			},
		},
		{
			ID: "end/without-reply", Title: "a producer ends in order where the server closes after END without a reply",
			Clauses: "END-03 STATE-15", Wait: time.Second,
			Server: func(c *fakes.Config) { c.EndWithoutOK = true },
			Play:   works("END-03", "a producer that ends with exit code 0"),
		},
	}
}

// segmentSituations are about replies in pieces.
func segmentSituations() []Situation {
	return []Situation{{
		ID: "replies/segments", Title: "replies that arrive byte by byte are understood",
		Clauses: "RESP-08", Wait: 3 * time.Second,
		Play: func(b *bed) {
			b.steer(segmented)
			works("RESP-08", "a client that puts the bytes together")(b)
			if !b.harness.Producer && len(b.procs) > 0 {
				b.charactersInPieces(b.procs[0])
			}
		},
	}}
}

// charactersInPieces has a worker report jobs whose characters do not arrive whole.
func (b *bed) charactersInPieces(p *proc) {
	var jids []string
	for range usualConcurrency {
		jid := "ünïcødé-日本語-🦆-" + strings.ToLower(rand.Text())
		jids = append(jids, b.push(job{jid: jid, jobtype: "fwp.ok", args: `["é","日本","🦆"]`}))
	}
	missing := b.reported(p, settled, jids...)
	b.holds("RESP-08", len(missing) == 0, "a report of each job whose jid has characters of several bytes",
		fmt.Sprintf("no report on %s, whose bytes arrived one by one; the worker %s", listed(missing), b.ending(p)))
	b.showMissing(b.onlyDelivered(missing))
}
