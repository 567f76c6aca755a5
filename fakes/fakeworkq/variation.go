package fakeworkq

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// Variation is a way in which a server differs from others and conforms. Its reading names the part of the document
// that allows it.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation {
	return catalogue.SortVariations(
		wordVariations(), keyVariations(), valueVariations(), shownVariations(), lateVariations(), choiceVariations(),
	)
}

// variation returns one whose hook has no state.
func variation(name, reading, summary string, hook func(*Event)) Variation {
	return setting(name, reading, summary, func(c *Config) { c.Hook = catalogue.Both(c.Hook, hook) })
}

// setting returns a variation of the configuration.
func setting(name, reading, summary string, configure func(*Config)) Variation {
	return Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}

// inspects are the verbs of inspect.
var inspects = []string{
	workq.InspectJob, workq.InspectJobs, workq.InspectScheduled,
	workq.InspectQueue, workq.InspectQueues, workq.InspectServer,
}

// wordVariations are about the words of a reply and its pieces.
func wordVariations() []Variation {
	bare := func(e *Event) { e.Reply.Bare = e.Reply.Error == "" }
	text := func(with string) func(*Event) {
		return at(Ran, func(e *Event) {
			if e.Reply.Error == workq.ClientError {
				e.Reply.Text = with
			}
		})
	}
	pieces := func(chunk int, pause time.Duration) func(*Event) {
		return at(Writing, func(e *Event) { e.Chunk, e.Pause = chunk, pause })
	}
	return []Variation{
		variation("error-long-text", "Errors: <error-description> has no limit", "an error has a description of 2,000 bytes",
			text(strings.Repeat("not so ", 285))),
		variation("error-other-text", "Errors: <error-description> is any text", "an error is described in other words",
			text(`wrong: "é", -TIMEOUT and +OK 1`)),
		variation("fail-bare-ok", "fail, Reply: OK", "fail is answered with OK without a sign", at(Ran, bare, workq.Fail)),
		variation("inspect-bare-ok", "inspect, Success Format: OK <reply-count>",
			"inspect is answered with OK without a sign",
			at(Ran, bare, inspects...)),
		variation("reply-in-pieces", "Protocol: replies come over TCP",
			"a reply comes in two pieces, with a pause between them",
			at(Writing, func(e *Event) { e.Chunk, e.Pause = (len(e.Bytes)+1)/2, 50*time.Millisecond })),
		variation("reply-in-small-pieces", "Protocol: replies come over TCP", "a reply comes in pieces of 1,000 bytes",
			pieces(1000, time.Microsecond)),
	}
}

// keys returns a hook that changes the keys of what inspect shows.
func keys(change func([]workq.Key) []workq.Key, verbs ...string) func(*Event) {
	return at(Inspected, func(e *Event) {
		for i, r := range e.Records {
			e.Records[i] = workq.Inspected(r.Head[0], change(slices.Clone(r.Keys))...)
		}
	}, verbs...)
}

// valueVariations are about names and values of keys.
func valueVariations() []Variation {
	jobs := []string{workq.InspectJob, workq.InspectJobs, workq.InspectScheduled}
	fractions := func(v string) string { return strings.Replace(v, "Z", ".123456Z", 1) }
	return []Variation{
		variation("inspect-payload-bytes", "inspect job, Keys: payload-bytes", "the key of a payload is payload-bytes",
			keys(func(k []workq.Key) []workq.Key {
				for i := range k {
					k[i].Name = strings.Replace(k[i].Name, "payload", "payload-bytes", bit(k[i].Name == "payload"))
				}
				return k
			}, jobs...)),
		variation("inspect-time-fractions", "RFC 3339: a time may have fractions of seconds",
			"inspect shows times with fractions of seconds", keys(func(k []workq.Key) []workq.Key {
				for i := range k {
					if slices.Contains([]string{"created", "time", "started"}, k[i].Name) {
						k[i].Value = fractions(k[i].Value)
					}
				}
				return k
			}, inspects...)),
	}
}

// keyVariations are about the keys that inspect shows.
func keyVariations() []Variation {
	jobs := []string{workq.InspectJob, workq.InspectJobs, workq.InspectScheduled}
	return []Variation{
		variation("inspect-keys-more", "inspect job, Reply: keys may be added in the future", "inspect shows keys of its own",
			keys(func(k []workq.Key) []workq.Key {
				return append(append([]workq.Key{{Name: "x-node", Value: "7"}}, k...), workq.Key{Name: "note", Value: "two words"})
			}, inspects...)),
		variation("inspect-keys-reversed", "inspect job, Keys: a list, without an order",
			"inspect shows the keys in another order", keys(func(k []workq.Key) []workq.Key {
				slices.Reverse(k)
				at := slices.IndexFunc(k, func(k workq.Key) bool { return k.Name == "payload-size" })
				if at > 0 { // a client knows where the payload ends by the size in front of it
					k[at-1], k[at] = k[at], k[at-1]
				}
				return k
			}, inspects...)),
		variation("inspect-key-id", "inspect job, Keys: id", "inspect shows the id of a job as a key too",
			at(Inspected, func(e *Event) {
				for i, r := range e.Records {
					e.Records[i] = workq.Inspected(r.Head[0], append([]workq.Key{{Name: "id", Value: r.Head[0]}}, r.Keys...)...)
				}
			}, jobs...)),
		variation("inspect-key-time", "inspect job, Keys: time", "inspect shows a time of jobs that were not scheduled too",
			keys(func(k []workq.Key) []workq.Key {
				if k[len(k)-1].Name == "created" {
					k = append(k, workq.Key{Name: "time", Value: k[len(k)-1].Value})
				}
				return k
			}, jobs...)),
	}
}

// shownVariations are about what else inspect shows.
func shownVariations() []Variation {
	return []Variation{
		setting("inspect-reversed", "inspect jobs: the order of the results is not given",
			"inspect jobs shows the jobs in another order", func(c *Config) { c.Reversed = true }),
		setting("queues-stay", "inspect queues: all available queues", "queues without jobs are shown too",
			func(c *Config) { c.QueuesStay = true }),
		variation("server-more-clients", "inspect server: active & currently connected clients",
			"a server counts clients of its own",
			key(workq.InspectServer, "active-clients", func(string) string { return "1000" })),
	}
}

func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// lateVariations are about times, which the document gives without a tolerance: a server that looks at them once a
// second is no wrong one.
func lateVariations() []Variation {
	const late = 800 * time.Millisecond
	return []Variation{
		variation("expiry-late", "add, ttr: no tolerance is given", "a lease ends up to a second late",
			at(Leased, func(e *Event) { e.Until = e.Until.Add(late) })),
		variation("eviction-late", "add, ttl: no tolerance is given", "a job is deleted up to a second late",
			at(Evicted, func(*Event) { time.Sleep(late) })),
		setting("schedule-late-a-little", "schedule, time: no tolerance is given",
			"a scheduled job comes up to a second late",
			func(c *Config) {
				var seen once
				c.Hook = catalogue.Both(c.Hook, at(Due, func(e *Event) {
					if _, again := seen.first(e.Job.UUID, 0); !again {
						e.Until = time.Now().Add(late)
					}
				}))
			}),
		variation("reply-late", "Protocol: no time is given within which a command is answered",
			"a reply comes 150 ms late", at(Writing, func(*Event) { time.Sleep(150 * time.Millisecond) })),
		variation("timeout-late", "lease, wait-timeout: no tolerance is given", "a wait ends 400 ms late",
			at(Parsed, func(e *Event) { e.Command.Wait += 400 }, workq.Lease, workq.Result, workq.Run)),
	}
}

// choiceVariations are about what the document leaves open.
func choiceVariations() []Variation {
	return []Variation{
		variation("add-again-ok", "WQ-AMB-02", "a second add with the same id is answered with +OK, and adds no job",
			at(Ran, func(e *Event) {
				if e.Err == nil && e.Reply.Error == workq.ClientError {
					e.Reply = workq.OK()
				}
			}, workq.Add, workq.Schedule)),
		variation("add-again-server-error", "WQ-AMB-02: no reply is given",
			"a second add with the same id fails on the server",
			at(Ran, func(e *Event) {
				if e.Err == nil && e.Reply.Error == workq.ClientError {
					e.Reply.Error = workq.ServerError
				}
			}, workq.Add, workq.Schedule)),
		setting("finish-again-ok", "complete: an end that comes twice is not described",
			"complete and fail of a job that has ended are answered with +OK", finishedTwice(workq.OK())),
		setting("finish-again-refused", "complete: an end that comes twice is not described",
			"complete and fail of a job that has ended are refused",
			finishedTwice(workq.Reply{Error: workq.ClientError, Text: "the job has ended"})),
		setting("line-by-line", "WORKQ-LINE-10: where the next command begins behind a malformed one is open",
			"what follows a malformed line is read as a command", func(c *Config) { c.LineByLine = true }),
		variation("malformed-closes-large", "Errors: what happens behind a payload that is too large is open",
			"the connection is closed behind a payload that is too large", at(Ran, func(e *Event) {
				e.Close = e.Close || e.Err != nil && strings.Contains(e.Err.Error(), "valid size")
			})),
		setting("queue-last-first", "Glossary, Priority: no order is given within a priority",
			"of jobs of one priority the last one is leased first", func(c *Config) { c.LastFirst = true }),
	}
}

// finishedTwice returns a configuration with an answer of its own to the end of a job that has ended before.
func finishedTwice(answer workq.Reply) func(*Config) {
	return func(c *Config) {
		var ended once
		c.Hook = catalogue.Both(c.Hook, at(Ran, func(e *Event) {
			switch {
			case e.Err != nil:
			case e.Command.Verb == workq.Delete:
				ended.forget(e.Command.ID)
			case e.Reply.Error == "":
				ended.first(e.Command.ID, 0)
			case ended.has(e.Command.ID):
				e.Reply = answer
			}
		}, workq.Complete, workq.Fail, workq.Delete))
	}
}
