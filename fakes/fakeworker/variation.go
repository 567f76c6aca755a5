package fakeworker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// Variation is a way in which a worker differs from others and conforms.
type Variation struct {
	// Name is a slug that never changes.
	Name string

	// Summary describes the worker's behaviour in one sentence.
	Summary string

	// Reading is what allows it: a section of the specification, or the number of a clause or of an ambiguity.
	Reading string

	// Configure adds the variation to a [Config]. Every worker needs a call of its own.
	Configure func(*Config)
}

// Variations returns the catalogue, sorted by name.
func Variations() []Variation {
	all := slices.Concat(helloVariations(), lineVariations(), beatVariations(), endVariations(), workVariations(),
		connectionVariations(), jobVariations(), pulseVariations(), failVariations())
	slices.SortFunc(all, func(a, b Variation) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// variation returns one whose hook has no state.
func variation(name, reading, summary string, hook func(*Event)) Variation {
	return Variation{name, summary, reading, func(c *Config) { c.Hook = hook }}
}

// stateful returns one whose hook has state, with a hook of its own for each worker.
func stateful(name, reading, summary string, hook func() func(*Event)) Variation {
	return Variation{name, summary, reading, func(c *Config) { c.Hook = hook() }}
}

func helloVariations() []Variation {
	return []Variation{
		variation("hello-more-fields", "HELLO-07", "Its HELLO has fields that the specification does not have.",
			on(Introducing, func(e *Event) { e.Fields["app"], e.Fields["rss_kb"] = "fwp", 1 })),
		variation("hello-no-labels", "HELLO", "The list of its labels is empty.",
			on(Introducing, field("labels", []string{}))),
		variation("hello-late", "HELLO", "It sends HELLO a second after it has read HI.",
			sent(fwp.HELLO, func(e *Event) { e.Delay = time.Second })),
		variation("hello-hash-unasked", "HELLO", "Its HELLO to a server without a password has an empty pwdhash.",
			on(Introducing, func(e *Event) {
				if !e.Hi.Protected {
					e.Fields["pwdhash"] = ""
				}
			})),
		variation("hash-upper-case", "AMB-03", "It writes the password hash in capitals.", on(Introducing, func(e *Event) {
			if hash, is := e.Fields["pwdhash"].(string); is {
				e.Fields["pwdhash"] = strings.ToUpper(hash)
			}
		})),
	}
}

func lineVariations() []Variation {
	edit := func(name, reading, summary string, change func([]byte) []byte) Variation {
		return variation(name, reading, summary, sent("", func(e *Event) { e.Line = change(e.Line) }))
	}
	return []Variation{
		edit("json-spaces", "JSON", "White space stands in its JSON.", func(line []byte) []byte {
			line = bytes.Replace(line, []byte(`{"`), []byte(`{ "`), 1)
			return bytes.Replace(line, []byte(`":"`), []byte(`" : "`), 1)
		}),
		edit("json-ascii", "JSON", "It escapes all characters beyond ASCII.", ascii),
		edit("json-slashes", "JSON", "It escapes the slashes in its JSON.", func(line []byte) []byte {
			return bytes.ReplaceAll(line, []byte("/"), []byte(`\/`))
		}),
		{
			Name: "line-in-pieces", Summary: "It writes each line in two segments.", Reading: "LINK-02",
			Configure: func(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return inPieces{nc} } },
		},
		variation("info-between", "FWP-STATE-03", "It sends INFO before each BEAT.", on(Beating, func(e *Event) {
			_, _ = e.conn.ask(context.Background(), fwp.INFO, nil)
		})),
	}
}

// ascii escapes the characters beyond ASCII in a line.
func ascii(line []byte) []byte {
	var out []byte
	for _, r := range string(line) {
		switch {
		case r < 0x80:
			out = append(out, byte(r))
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out
}

// inPieces is a connection that writes in two segments.
type inPieces struct{ net.Conn }

func (c inPieces) Write(p []byte) (int, error) {
	half := len(p) / 2
	n, err := c.Conn.Write(p[:half])
	if err != nil {
		return n, err
	}
	m, err := c.Conn.Write(p[half:])
	return n + m, err
}

func beatVariations() []Variation {
	every := func(name, summary string, d time.Duration) Variation {
		return Variation{name, summary, "Client Lifecycle", func(c *Config) { c.BeatEvery = d }}
	}
	return []Variation{
		every("beat-every-10s", "It sends a BEAT every 10 s.", 10*time.Second),
		every("beat-every-12s", "It sends a BEAT every 12 s.", 12*time.Second),
		stateful("beat-not-at-once", "Client Lifecycle", "It sends its first BEAT after 15 s.", func() func(*Event) {
			var begun atomic.Bool
			return on(Beating, func(e *Event) { e.Skip = !begun.Swap(true) })
		}),
		variation("beat-without-memory", "FWP-BEAT-12", "Its BEATs have no rss_kb.", on(Beating, field("rss_kb", nil))),
		variation("beat-state-empty", "FWP-BEAT-11", "The current_state of its BEATs is empty, unless it has one.",
			on(Beating, func(e *Event) {
				if e.Fields["current_state"] == nil {
					e.Fields["current_state"] = ""
				}
			})),
		variation("beat-without-state", "FWP-BEAT-11", "Its BEATs never have current_state.",
			on(Beating, field("current_state", nil))),
		variation("unknown-worker-ends", "FWP-WRK-12", "It ends when the server does not know it any more.",
			replied(fwp.BEAT, func(e *Event) {
				e.Exit = e.Reply.Kind == fwp.ErrorReply && bytes.Contains(e.Reply.Text, []byte("Unknown"))
			})),
	}
}

func endVariations() []Variation {
	grace := func(name, summary string, d time.Duration) Variation {
		return Variation{name, summary, "Terminating State", func(c *Config) { c.Grace = d }}
	}
	return []Variation{
		grace("terminate-at-once", "It reports running jobs as failed as soon as it has the order to terminate.",
			time.Millisecond),
		grace("terminate-after-29s", "It reports running jobs as failed 29 s after it was told to terminate.",
			29*time.Second),
		variation("end-reply-unread", "AMB-01", "It closes its connections behind END without waiting for a reply.",
			sent(fwp.END, func(e *Event) { e.Worker.hurry(e.Conn) })),
		variation("exit-late", "End State", "Its process ends three seconds after its last connection.",
			on(Exiting, func(e *Event) { e.Delay = 3 * time.Second })),
		variation("quiet-closes", "Quiet State", "A quiet worker ends the connections on which it fetched.",
			on(Fetching, func(e *Event) { e.Close = e.Skip })),
	}
}

func workVariations() []Variation {
	return []Variation{
		stateful("queues-shuffled", "FWP-FETCH-13", "It shuffles its queues for each FETCH.", func() func(*Event) {
			var fetches atomic.Uint64
			return on(Fetching, func(e *Event) {
				random := rand.New(rand.NewPCG(0, fetches.Add(1))) // the same in each run
				e.Queues = slices.Clone(e.Queues)
				random.Shuffle(len(e.Queues), func(i, j int) { e.Queues[i], e.Queues[j] = e.Queues[j], e.Queues[i] })
			})
		}),
		variation("report-not-repeated", "FWP-FETCH-10", "It does not report a job again whose report got no reply.",
			on(Lost, func(e *Event) { e.Again = true })),
		variation("backtrace-empty", "FWP-FAIL-05", "The backtrace of its FAILs is empty.", on(Ran, func(e *Event) {
			if e.Outcome != Succeeded {
				e.Fields["backtrace"] = []string{}
			}
		})),
		variation("loss-long-pause", "FWP-WRK-05", "It waits for 5 s before it opens another connection.",
			on(Lost, func(e *Event) { e.Delay = 5 * time.Second })),
		variation("pushes-jobs", "FWP-PUSH-05", "It pushes a job for each job that succeeds.", on(Ran, func(e *Event) {
			if e.Outcome == Succeeded && !strings.HasPrefix(e.Job.JID, "follow") {
				e.Worker.say(fwp.PUSH, Fields{
					"jid": fmt.Sprintf("follow-%016x", rand.Uint64()), "jobtype": "follow", "args": []int{1}, "queue": "another",
				})
			}
		})),
		variation("signal-quiet-ignored", "FWP-BEAT-11", "It goes on at SIGTSTP.", on(Ordered, func(e *Event) {
			e.Skip = e.Skip || e.Signal == "TSTP"
		})),
		variation("fetch-slowly", "FWP-FETCH-11", "It takes 300 ms between two jobs.", on(Fetching, func(e *Event) {
			if !e.Skip {
				e.Worker.linger(300 * time.Millisecond)
			}
		})),
	}
}
