package fakeworkq

import (
	"bytes"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// Fault is a way in which a server breaks the document. Its hook is the [Config.Hook] of a server.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name.
func Faults() []Fault {
	return catalogue.SortFaults(
		jobFaults(), payloadFaults(), timeFaults(), scheduleFaults(), leaseFaults(), reportFaults(), waitFaults(),
		inspectFaults(), refusalFaults(), lineFaults(), stateFaults(), flagFaults(),
	)
}

// fault returns one whose hook has no state. The clauses are separated by blanks and lack the prefix that they share.
func fault(name, clauses, summary string, hook func(*Event)) Fault {
	return statefulFault(name, clauses, summary, func() func(*Event) { return hook })
}

func statefulFault(name, clauses, summary string, hook func() func(*Event)) Fault {
	return catalogue.NewFault(name, "WORKQ-", clauses, summary, hook)
}

// at returns a hook that acts at one point of some commands, of all if no verb is named.
func at(p Point, act func(*Event), verbs ...string) func(*Event) {
	return func(e *Event) {
		if e.Point == p && (len(verbs) == 0 || slices.Contains(verbs, e.Command.Verb)) {
			act(e)
		}
	}
}

// answers returns a hook that replaces the replies with an error; an empty word stands for success.
func answers(verb, instead string, with workq.Reply) func(*Event) {
	return at(Ran, func(e *Event) {
		if e.Err == nil && e.Reply.Error == instead {
			e.Reply = with
		}
	}, verb)
}

// record returns a hook that changes the first record of a reply.
func record(verb string, change func(*workq.Record)) func(*Event) {
	return at(Ran, func(e *Event) {
		if len(e.Reply.Records) > 0 {
			change(&e.Reply.Records[0])
		}
	}, verb)
}

// key returns a hook that changes a key of what inspect shows.
func key(verb, name string, change func(string) string) func(*Event) {
	return at(Inspected, func(e *Event) {
		for _, r := range e.Records {
			for i := range r.Keys {
				if r.Keys[i].Name == name {
					r.Keys[i].Value = change(r.Keys[i].Value)
				}
			}
		}
	}, verb)
}

func zero(string) string { return "0" }

// once is a set of words that a hook remembers.
type once struct {
	mu   sync.Mutex
	seen map[string]int
}

// first stores a value for a word, and returns the one that was stored first.
func (o *once) first(word string, value int) (was int, there bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if was, there = o.seen[word]; !there {
		if o.seen == nil {
			o.seen = map[string]int{}
		}
		o.seen[word] = value
	}
	return was, there
}

func (o *once) forget(word string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.seen, word)
}

// has reports whether something is stored for a word.
func (o *once) has(word string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, there := o.seen[word]
	return there
}

// lineFaults are about the bytes of replies.
func lineFaults() []Fault {
	text := func(old, with string) func(*Event) {
		return at(Writing, func(e *Event) { e.Bytes = bytes.Replace(e.Bytes, []byte(old), []byte(with), 1) })
	}
	return []Fault{
		fault("line-bare-ok", "LINE-03", "the reply to add is OK without its sign",
			at(Ran, func(e *Event) { e.Reply.Bare = true }, workq.Add)),
		fault("line-error-word", "LINE-04", "malformed commands are answered with -ERROR", text("-CLIENT-ERROR", "-ERROR")),
		fault("line-lf", "LINE-05", "the first line of a reply ends with LF alone", text("\r\n", "\n")),
		fault("line-lower", "LINE-03", "a success begins with +ok", text("+OK", "+ok")),
		fault("line-reply-twice", "LINE-07", "every reply to delete is sent twice",
			at(Writing, func(e *Event) { e.Bytes = append(e.Bytes, e.Bytes...) }, workq.Delete)),
		fault("line-size-less", "LINE-06",
			"a leased payload is announced with one byte too few", record(workq.Lease, func(r *workq.Record) {
				if len(r.Block) > 0 {
					r.Head[3] = itoa(len(r.Block) - 1)
				}
			})),
		fault("line-timeout-text", "LINE-04 LEASE-04", "a timeout has a description", text("-TIMEOUT", "-TIMEOUT no job")),
		fault("line-refused-closes", "LINE-10",
			"the connection is closed behind a client error", at(Writing, func(e *Event) {
				e.Close = e.Reply.Error == workq.ClientError
			})),
	}
}
