package workq

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Rules returns the words of rules by which the server misbehaves. The hook of a rule is one for [Config.Hook].
func Rules() *rule.Vocabulary[Event] {
	at := func(p Point, name, text string) rule.Point[Event] {
		return rule.Point[Event]{Name: name, Text: text, Match: func(e *Event) bool { return e.Point == p }}
	}
	return &rule.Vocabulary[Event]{
		Points: []rule.Point[Event]{
			at(Accepted, "accepted", "a connection was accepted; skip: it is closed"),
			at(Parsed, "parsed", "a command was read; skip: it has no effect, and is answered with OK"),
			at(Adding, "adding", "a job enters its queue or the schedule; skip: it is lost"),
			at(Leased, "leased", "a job is given to a worker; skip: it stays in its queue, too"),
			at(Expired, "expired", "a lease is over; skip: it goes on"),
			at(ComingDue, "due", "a job leaves the schedule; skip: it is lost"),
			at(Failed, "failed", "a job was reported as failed"),
			at(Finished, "finished", "a job has ended; skip: the report has no effect"),
			at(Evicted, "evicted", "the time to live of a job is over; skip: it stays"),
			at(Ran, "ran", "the command was carried out, and its reply is known; skip: there is none"),
			at(Writing, "writing", "the bytes of the reply are about to be sent; skip: they are not"),
		},
		Verbs: []string{workq.Add, workq.Schedule, workq.Run, workq.Result, workq.Lease, workq.Complete, workq.Fail,
			workq.Delete, workq.Inspect},
		Verb:   func(e *Event) string { verb, _, _ := strings.Cut(e.Command.Verb, " "); return verb },
		Fields: ruleFields,
		Field:  ruleField,
		Tests: []rule.Test[Event]{
			{Name: "refused", Text: "the command is refused", Holds: func(e *Event) bool { return e.Err != nil }},
		},
		Keys: []rule.Key[Event]{
			{Name: "conn", Text: "the connection", Get: func(e *Event) string { return strconv.Itoa(e.Conn) }},
			{Name: "id", Text: "the job", Get: func(e *Event) string { id, _ := ruleField(e, "id"); return id }},
			{Name: "name", Text: "the name of the job",
				Get: func(e *Event) string { name, _ := ruleField(e, "name"); return name }},
		},
		Acts: append(ruleActs(), rule.WriteActs("writing", func(e *Event) *[]byte { return &e.Bytes },
			func(e *Event) *int { return &e.Chunk }, func(e *Event) *time.Duration { return &e.Pause })...),
	}
}

var ruleFields = []rule.Field{
	{Name: "name", Text: "the name of the job"},
	{Name: "id", Text: "its id"},
	{Name: "payload", Text: "its payload, or the result"},
	{Name: "reason", Text: "why the command is refused, in words"},
	{Name: "error", Text: "the error of the reply, such as NOT-FOUND"},
	{Name: "fails", Text: "how often the job has failed"},
	{Name: "wait", Text: "how long a lease, run or result waits, in milliseconds"},
	{Name: "commands", Text: "how many commands the connection has sent"},
}

// ruleField returns what a condition compares.
func ruleField(e *Event, name string) (value string, ok bool) {
	switch name {
	case "reason":
		if e.Err == nil {
			return "", false
		}
		return e.Err.Error(), true
	case "error":
		return e.Reply.Error, e.Reply.Error != ""
	case "fails":
		return strconv.FormatUint(e.Fails, 10), e.Point == Failed
	case "wait":
		return strconv.FormatUint(e.Command.Wait, 10), e.Command.Wait > 0
	case "commands":
		return strconv.Itoa(e.Count), e.Conn > 0
	}
	values := map[string]string{"name": e.Command.Name(), "id": e.Command.ID, "payload": string(e.Command.Block)}
	if e.Job != nil {
		values = map[string]string{"name": e.Job.Name, "id": e.Job.UUID, "payload": string(e.Job.Payload)}
	}
	return values[name], values[name] != ""
}

// ruleActs are what a rule may do.
func ruleActs() []rule.Act[Event] {
	return []rule.Act[Event]{
		rule.Do("skip", "accepted parsed adding leased expired due finished evicted ran writing", "the step does not happen",
			func(e *Event) { e.Skip = true }),
		rule.Value("refuse", "TEXT", "parsed", "the command is refused with CLIENT-ERROR and this text", rule.Text,
			func(e *Event, text string) { e.Err = errors.New(text) }),
		rule.Value("wait", "DURATION", "parsed", "a lease, run or result waits so long", rule.Duration,
			func(e *Event, d time.Duration) { e.Command.Wait = uint64(d.Milliseconds()) }), //nolint:gosec // not negative
		rule.Value("until", "DURATION", "leased due", "the lease ends, or the job is due, after so long", rule.Duration,
			func(e *Event, d time.Duration) { e.Until = time.Now().Add(d) }),
		rule.Do("again", "failed", "the job is tried again", func(e *Event) { e.Retry = true }),
		rule.Values("error", "WORD TEXT", "ran", "the reply is this error", rule.Text, rule.Text,
			func(e *Event, word, text string) { e.Reply = workq.Reply{Error: word, Text: text} }),
		rule.Do("close", "ran writing", "the connection is closed after that", func(e *Event) { e.Close = true }),
	}
}
