package workercheck

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// works launches the program, has it work three jobs, and decides a clause by whether it does.
func works(clause, expected string) func(*bed) {
	return func(b *bed) {
		b.worksElsewhere()
		p, err := b.start(options{})
		if err != nil && b.ctx.Err() == nil {
			b.holds(clause, false, expected, firstLine(err.Error()))
			return
		}
		b.itWorks(p, clause, expected)
	}
}

// worksElsewhere ends the play of a program that does not work jobs without the situation either: what it does in it
// would say nothing.
func (b *bed) worksElsewhere() {
	if b.harness.observed.Works {
		return
	}
	if b.harness.Producer {
		b.giveUp(false, "at the start the program did not push three jobs and end with exit code 0, "+
			"so that nothing else follows from jobs that it does not push")
	}
	b.giveUp(false, "at the start the program did not acknowledge three jobs of type fwp.ok, "+
		"so that nothing else follows from jobs that it does not acknowledge: does it have this job type?")
}

// idlesElsewhere ends the play of a program that ends by itself when there are no jobs: its end in the situation would
// say nothing.
func (b *bed) idlesElsewhere() {
	if !b.harness.observed.Idles && b.harness.observed.First != "" {
		b.giveUp(false, "at the start the program ended by itself when it had no jobs")
	}
}

// itWorks has a process work three jobs, and decides a clause by whether it does.
func (b *bed) itWorks(p *proc, clause, expected string) {
	if b.harness.Producer {
		b.itPushes(p, clause, expected)
		return
	}
	b.worksElsewhere()
	jids := b.pushes(3, "fwp.ok", "[1]")
	missing := b.reported(p, settled, jids...)
	got := fmt.Sprintf("%d of 3 jobs were reported within %v; the worker %s", 3-len(missing), settled, b.ending(p))
	if len(missing) > 0 && !b.exited(p) && len(b.reported(p, resting, missing...)) == 0 {
		b.open(clause, got+", and reported them all later: how often it fetches is the subject of FWP-FETCH-11")
		return
	}
	b.holds(clause, len(missing) == 0, expected, got)
}

// resting is how much longer a worker may take that fetches seldom.
const resting = 45 * time.Second

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSuffix(first, "; the last lines that it printed:")
}

// greetingSituations are about HI, HELLO and where the server is. (Not Identified State; HELLO; URL Configuration)
func greetingSituations() []Situation {
	password := func(password string, iterations int, salt string) func(*fakes.Config) {
		return func(c *fakes.Config) { c.Password, c.Iterations, c.Salt = password, iterations, salt }
	}
	hi := func(id, title, clause, text string) Situation {
		return Situation{ID: "greeting/" + id, Title: title, Clauses: clause, Wait: time.Second, Play: func(b *bed) {
			b.steer(greeting(text))
			works(clause, "a client that greets and works")(b)
		}}
	}
	auth := func(id, title string, server func(*fakes.Config)) Situation {
		return Situation{
			ID: "password/" + id, Title: title, Clauses: "AUTH-01 AUTH-03", Wait: 2 * time.Second, Server: server,
			Play: func(b *bed) { b.greets() },
		}
	}
	return []Situation{
		hi("spaces", "a greeting with white space in its JSON is understood", "HI-09", `HI {  "v" : 2  }`),
		hi("unknown-fields", "unknown fields of the greeting are ignored", "HI-08",
			`HI {"x":[1,{"s":"y"}],"v":2,"server":"fwp"}`),
		{
			ID: "greeting/late", Title: "a client waits for the greeting before it sends HELLO, also after a loss",
			Clauses: "HI-07", Wait: 5 * time.Second,
			Play: func(b *bed) {
				b.steer(func(e *fakes.Event) {
					if e.Point == fakes.Greeting {
						e.Delay = time.Second
					}
				})
				greetsAgain(b)
				b.watchFor(2 * time.Second)
			},
		},
		hi("newer-version", "a server of a newer version is not refused", "HI-06", `HI {"v":3}`),
		auth("one-round", "the password hash is right for one iteration", password("secret", 1, "")),
		auth("many-rounds", "the password hash is right for some thousand iterations", password("secret", 3001, "")),
		auth("leading-zeros", "a password hash that begins with zeros has all its digits",
			password("secret", 23, "salt777")), // it begins with 0001
		auth("odd-salt", "the password hash is right for a salt with unusual characters",
			password("secret", 37, `ünï"salt"\日本%41`)),
		auth("escaped", "a password that is escaped in the URL is unescaped",
			password("p@ss:w/rd %41+ü", 11, "")),
		{
			ID: "password/key-order", Title: "the password hash is right where s comes before i in the greeting",
			Clauses: "AUTH-01 AUTH-03", Wait: 2 * time.Second, Server: password("secret", 23, "salt777"),
			Play: func(b *bed) {
				b.steer(greeting(`HI {"s":"salt777","v":2,"i":23}`))
				b.greets()
			},
		},
		{
			ID: "password/again", Title: "each connection has the password hash of its own salt, also one that replaces another",
			Clauses: "AUTH-01 AUTH-03", Wait: 3 * time.Second, Server: password("secret", 0, ""),
			Play: greetsAgain,
		},
		{
			ID: "url/provider", Title: "FAKTORY_PROVIDER names the variable that has the URL",
			Clauses: "WRK-02", Wait: time.Second, Provider: true,
			Play: works("WRK-02", "a client that connects to the server of that URL"),
		},
		{
			ID: "url/ipv6", Title: "the server may have an address of IPv6",
			Clauses: "WRK-13", Wait: time.Second, IPv6: true,
			Play: works("WRK-13", "a client that connects to [::1]"),
		},
		{
			ID: "url/tls", Title: "the URL may ask for TLS, with a certificate that the program is told to trust",
			Clauses: "WRK-14", Wait: time.Second, TLS: true,
			Play: func(b *bed) {
				if b.harness.Certificate == nil {
					b.giveUp(false, "there is no certificate for a server with TLS")
				}
				works("WRK-14", "a client that connects to tcp+tls://localhost")(b)
			},
		},
	}
}

// greets launches the program, and waits until it has greeted.
func (b *bed) greets() {
	p := b.launch(options{})
	if b.find(p.of(line(fwp.HELLO))) == nil {
		b.giveUp(true, "the program sent no HELLO")
	}
	b.await(2*time.Second, func(e *monitor.Event) bool { return e.Kind == monitor.Reply && e.To == fwp.HELLO })
	b.watchUntilEnd(p, time.Second) // its other connections greet, too
}

// greetsAgain closes the first connection of a program, so that it opens another one, whose salt is another.
func greetsAgain(b *bed) {
	first := fwp.FETCH
	if b.harness.Producer {
		first = fwp.PUSH
	}
	b.steer(nth(2, fakes.Ran, first, hangUp))
	p := b.launch(options{concurrency: 1})
	hellos := p.of(line(fwp.HELLO))
	closed := p.of(func(e *monitor.Event) bool { return e.Kind == monitor.Closed && e.By == monitor.Server })
	b.until(settled, func() bool {
		c := b.find(closed)
		return b.exited(p) || c != nil && b.find(since(c.At, hellos)) != nil
	})
	b.watchUntilEnd(p, time.Second)
	if b.count(hellos) < 2 {
		b.remark("the program opened no other connection")
	}
}

// declinedSituations are about a HELLO that the server declines.
func declinedSituations() []Situation {
	return []Situation{{
		ID: "greeting/declined", Title: "no other command follows a HELLO that the server has declined",
		Clauses: "STATE-02", Wait: 3 * time.Second,
		Play: func(b *bed) {
			b.steer(refuseFirst(2, fwp.HELLO, "no more connections are possible now"))
			p := b.launch(options{})
			declined := func(e *monitor.Event) bool {
				return e.Kind == monitor.Reply && e.To == fwp.HELLO && e.Reply.Kind == fwp.ErrorReply
			}
			if !b.await(settled, declined) {
				b.giveUp(true, "no HELLO was declined")
			}
			b.watchUntilEnd(p, grace)
			b.holds("STATE-02", true, "", "") // unless a monitor has found a command
		},
	}}
}

// replySituations are about replies that a worker has to understand. (Server Protocol Sender and Client Protocol
// Receiver)
func replySituations() []Situation {
	refused := func(verb string) Situation {
		return Situation{
			ID: "errors/" + strings.ToLower(verb), Title: "an error reply to " + verb + " fails that command only",
			Clauses: "RESP-09 FETCH-10", Wait: 3 * time.Second,
			Play: func(b *bed) {
				b.steer(refuseFirst(2, verb, "it was not possible"))
				p := b.launch(options{})
				jids := b.pushes(2, "fwp.ok", "[1]")
				if verb == fwp.FAIL {
					jids = append(jids, b.pushes(2, "fwp.fail", `["x"]`)...)
				}
				b.reported(p, settled, jids...)
				refusals := b.count(func(e *monitor.Event) bool {
					return e.Kind == monitor.Reply && e.To == verb && e.Reply.Kind == fwp.ErrorReply
				})
				if refusals == 0 {
					b.giveUp(true, "the worker sent no %s", verb)
				}
				b.itWorks(p, "RESP-09", "a worker that goes on fetching and reporting")
			},
		}
	}
	return append(segmentSituations(), []Situation{
		{
			ID: "replies/null", Title: "a null reply to FETCH is no failure",
			Clauses: "RESP-08", Wait: 5 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				null := func(e *monitor.Event) bool {
					return e.Kind == monitor.Reply && e.To == fwp.FETCH && e.Reply.Kind == fwp.NullBulk
				}
				if !b.until(settled, func() bool { return b.count(null) >= 2 || b.exited(p) }) || b.count(null) == 0 {
					b.giveUp(true, "no FETCH was answered with null within %v", settled)
				}
				b.itWorks(p, "RESP-08", "a worker that fetches again")
			},
		},
		refused(fwp.FETCH), refused(fwp.ACK), refused(fwp.FAIL),
	}...)
}

// lossSituations are about connections that are lost. (worker architecture: Connection, Lost jobs?)
func lossSituations() []Situation {
	closed := func(id, title string, hook func() func(*fakes.Event)) Situation {
		return Situation{
			ID: "loss/" + id, Title: title, Clauses: "FETCH-11 ACK-05", Wait: 4 * time.Second,
			Play: func(b *bed) {
				b.steer(hook())
				p := b.launch(options{})
				b.pushes(6, "fwp.ok", "[1]")
				if !b.await(settled, func(e *monitor.Event) bool { return e.Kind == monitor.Closed && e.By == monitor.Server }) {
					b.giveUp(true, "the worker did not get as far as the loss of a connection")
				}
				b.comesBack(p)
			},
		}
	}
	return []Situation{
		closed("ack-unanswered", "a worker goes on whose connection ends before the reply to an ACK",
			func() func(*fakes.Event) {
				return nth(3, fakes.Ran, fwp.ACK, hangUp)
			}),
		closed("ack-unread", "a worker goes on whose connection ends before its ACK was carried out",
			func() func(*fakes.Event) { return unread(3, fwp.ACK) }),
		closed("in-a-bulk-string", "a worker goes on whose connection ends in the middle of a job",
			func() func(*fakes.Event) {
				var count atomic.Int64
				return func(e *fakes.Event) {
					if e.Point == fakes.Writing && e.Reply.Kind == fwp.BulkString && e.Command.Verb == fwp.FETCH && count.Add(1) == 2 {
						e.Bytes, e.Close = e.Bytes[:len(e.Bytes)/2], true
					}
				}
			}),
		{
			ID: "loss/restart", Title: "a worker goes on after a restart of the server",
			Clauses: "FETCH-11", Wait: 4 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.mustFetchAtAll(p)
				b.remark("the server is restarted")
				b.restart(p)
				b.comesBack(p)
			},
		},
		{
			ID: "loss/beats", Title: "a worker beats on after a restart of the server, under the same worker id",
			Clauses: "BEAT-06 BEAT-07 BEAT-10 HELLO-09 HELLO-12", Wait: 70 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.mustBeat(p, 1)
				b.remark("the server is restarted")
				from := b.restart(p)
				beats := since(from, p.of(line(fwp.BEAT)))
				b.awaitOrEnd(p, back+orderPatience, beats)
				b.watchUntilEnd(p, twoBeats) // the heartbeat of the old connections may go on beside that of the new ones
				hello := b.find(since(from, p.of(line(fwp.HELLO))))
				if b.exited(p) || hello == nil {
					b.giveUp(true, "the worker did not come back: it %s", b.ending(p))
				}
				b.holds("BEAT-06", b.find(beats) != nil, "BEATs on the new connections",
					fmt.Sprintf("no BEAT within %v of the loss of its connections", back+orderPatience))
				b.at(hello)
			},
		},
		{
			ID: "loss/outage", Title: "a worker goes on after the server was away for 10 s",
			Clauses: "FETCH-11 WRK-05", Wait: 15 * time.Second,
			Play: func(b *bed) {
				var away atomic.Bool
				b.steer(func(e *fakes.Event) {
					if e.Point == fakes.Accepted && away.Load() {
						e.Skip = true
					}
				})
				p := b.launch(options{})
				b.mustFetchAtAll(p)
				away.Store(true)
				b.remark("the server closes every connection, for 10 s")
				if err := p.server.Kill(); err != nil {
					b.giveUp(true, "%v", err) // another process may have taken the port
				}
				from := b.now()
				b.watchUntilEnd(p, 10*time.Second)
				away.Store(false)
				b.remark("the server accepts connections again")
				dials := b.count(since(from, func(e *monitor.Event) bool { return e.Kind == monitor.Opened }))
				b.holds("WRK-05", true, "", fmt.Sprintf("in 10 s without a server it opened %d connections", dials))
				b.comesBack(p)
			},
		},
	}
}

// twoBeats is how long two pauses between BEATs are.
const twoBeats = 33 * time.Second

// back is how long a worker may take until it works again after a loss. The text has no bound.
const back = 60 * time.Second

// comesBack decides whether a worker fetches and reports jobs again. One that has ended is left open: a supervisor
// may have to start it again.
func (b *bed) comesBack(p *proc) {
	b.worksElsewhere()
	jids := b.pushes(3, "fwp.ok", "[1]")
	missing := b.reported(p, back, jids...)
	switch {
	case len(missing) == 0:
		b.holds("FETCH-11", true, "", "")
	case b.exited(p):
		b.holds("FETCH-11", false, "a worker that connects again",
			"the worker ended ("+p.How()+") when it lost its connection")
	default:
		b.holds("FETCH-11", false, fmt.Sprintf("a worker that works again within %v", back),
			fmt.Sprintf("%d of 3 jobs were not worked within %v after the loss", len(missing), back))
	}
	b.watchUntilEnd(p, 2*time.Second) // for what its other connections report
}
