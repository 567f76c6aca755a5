package fakeworkq

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// Variation is a way in which a server differs from others and conforms. Its reading names the part of the document
// that allows it.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation { return catalogue.SortVariations(replyVariations, inspectVariations) }

// variation returns one that a hook makes, or a function that makes a hook for each server because it remembers
// something.
func variation[H catalogue.Hook[Event]](name, reading, summary string, hook H) Variation {
	maker := catalogue.Maker[Event](hook)
	return setting(name, reading, summary, func(c *Config) { c.Hook = catalogue.Both(c.Hook, maker()) })
}

// setting returns a variation of the configuration.
func setting(name, reading, summary string, configure func(*Config)) Variation {
	return Variation{Name: name, Summary: summary, Reading: reading, Configure: configure}
}

// slightly is how late a server is that looks at the times once a second. The document gives them without a tolerance:
// such a server is not wrong.
const slightly = 800 * time.Millisecond

// replyVariations are about replies, times, and what the document leaves open.
var replyVariations = []Variation{
	variation("add-again-ok", "WQ-AMB-02", "a second add with the same id is answered with +OK, and adds no job",
		on(Ran, func(e *Event) {
			if e.Err == nil && e.Reply.Error == workq.ClientError {
				e.Reply = workq.OK()
			}
		}, workq.Add, workq.Schedule)),
	variation("add-again-server-error", "WQ-AMB-02: no reply is given",
		"a second add with the same id fails on the server", on(Ran, func(e *Event) {
			if e.Err == nil && e.Reply.Error == workq.ClientError {
				e.Reply.Error = workq.ServerError
			}
		}, workq.Add, workq.Schedule)),
	variation("error-long-text", "Errors: <error-description> has no limit", "an error has a description of 2,000 bytes",
		says(strings.Repeat("not so ", 285))),
	variation("error-other-text", "Errors: <error-description> is any text", "an error is described in other words",
		says(`wrong: "é", -TIMEOUT and +OK 1`)),
	variation("eviction-late", "add, ttl: no tolerance is given", "a job is deleted up to a second late",
		on(Evicted, func(*Event) { time.Sleep(slightly) })),
	variation("expiry-late", "add, ttr: no tolerance is given", "a lease ends up to a second late",
		on(Leased, func(e *Event) { e.Until = e.Until.Add(slightly) })),
	variation("fail-bare-ok", "fail, Reply: OK", "fail is answered with OK without a sign", on(Ran, bare, workq.Fail)),
	variation("finish-again-ok", "complete: an end that comes twice is not described",
		"complete and fail of a job that has ended are answered with +OK", finishedTwice(workq.OK())),
	variation("finish-again-refused", "complete: an end that comes twice is not described",
		"complete and fail of a job that has ended are refused",
		finishedTwice(workq.Reply{Error: workq.ClientError, Text: "the job has ended"})),
	setting("line-by-line", "WORKQ-LINE-10: where the next command begins behind a malformed one is open",
		"what follows a malformed line is read as a command", func(c *Config) { c.LineByLine = true }),
	variation("malformed-closes-large", "Errors: what happens behind a payload that is too large is open",
		"the connection is closed behind a payload that is too large",
		on(Ran, func(e *Event) { e.Close = e.Close || e.Err != nil && strings.Contains(e.Err.Error(), "valid size") })),
	setting("queue-last-first", "Glossary, Priority: no order is given within a priority",
		"of jobs of one priority the last one is leased first", func(c *Config) { c.LastFirst = true }),
	variation("reply-in-pieces", "Protocol: replies come over TCP",
		"a reply comes in two pieces, with a pause between them",
		on(Writing, func(e *Event) { e.Chunk, e.Pause = (len(e.Bytes)+1)/2, 50*time.Millisecond })),
	variation("reply-in-small-pieces", "Protocol: replies come over TCP", "a reply comes in pieces of 1,000 bytes",
		on(Writing, func(e *Event) { e.Chunk, e.Pause = 1000, time.Microsecond })),
	variation("reply-late", "Protocol: no time is given within which a command is answered", "a reply comes 150 ms late",
		on(Writing, func(*Event) { time.Sleep(150 * time.Millisecond) })),
	variation("schedule-late-a-little", "schedule, time: no tolerance is given",
		"a scheduled job comes up to a second late", catalogue.KeepBy(jobOf, at(Due), func(had *bool, e *Event) {
			if !*had {
				e.Until, *had = time.Now().Add(slightly), true
			}
		})),
	variation("timeout-late", "lease, wait-timeout: no tolerance is given", "a wait ends 400 ms late",
		on(Parsed, func(e *Event) { e.Command.Wait += 400 }, workq.Lease, workq.Result, workq.Run)),
}

// says returns a hook that describes client errors in other words.
func says(words string) func(*Event) {
	return on(Ran, func(e *Event) {
		if e.Reply.Error == workq.ClientError {
			e.Reply.Text = words
		}
	})
}

// bare writes a success without its sign.
func bare(e *Event) { e.Reply.Bare = e.Reply.Error == "" }

// finishedTwice returns hooks with an answer of their own to the end of a job that has ended before.
func finishedTwice(reply workq.Reply) func() func(*Event) {
	watched := at(Ran, workq.Complete, workq.Fail, workq.Delete)
	return catalogue.KeepBy(jobOf, watched, func(ended *bool, e *Event) {
		switch {
		case e.Err != nil:
		case e.Command.Verb == workq.Delete:
			*ended = false
		case e.Reply.Error == "":
			*ended = true
		case *ended:
			e.Reply = reply
		}
	})
}
