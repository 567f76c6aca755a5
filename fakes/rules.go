package fakes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Rules returns the words of rules by which the server misbehaves. The hook of a rule is one for [Config.Hook].
func Rules() *rule.Vocabulary[Event] {
	return &rule.Vocabulary[Event]{
		Points: rulePoints(),
		Verbs: slices.Concat(
			[]string{fwp.HELLO, fwp.BEAT, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.INFO, fwp.FLUSH, fwp.END},
			slices.Sorted(maps.Keys(Faktory.verbs()))),
		Verb:   func(e *Event) string { return e.Command.Verb },
		Fields: slices.Concat(ruleFields, ruleMembers()),
		Field:  ruleField,
		Tests: []rule.Test[Event]{
			{Name: "refused", Text: "the command is refused", Holds: func(e *Event) bool { return e.Err != nil }},
			{Name: "skipped", Text: "a step of the command was skipped, such as by a rule on checked",
				Holds: func(e *Event) bool { return e.Err == nil && e.Skip }},
			{Name: "identified", Text: "the connection has had a HELLO that was accepted",
				Holds: func(e *Event) bool { return e.Conn != nil && e.Conn.Identified }},
			{Name: "worker", Text: "the connection is one of a worker",
				Holds: func(e *Event) bool { return e.Conn != nil && e.Conn.Worker != "" }},
			{Name: "quiet", Text: "it is one of a worker that knows that it is to be quiet or to terminate",
				Holds: func(e *Event) bool { return e.Conn != nil && e.Conn.Server().Worker(e.Conn.Worker).IsQuiet() }},
			{Name: "protected", Text: "the server asks for a password",
				Holds: func(e *Event) bool { return e.Conn != nil && e.Conn.Iterations > 0 }},
		},
		Keys: []rule.Key[Event]{
			{Name: "conn", Text: "the connection", Get: func(e *Event) string { return ruleConn(e, "conn") }},
			{Name: "worker", Text: "the wid of the connection, or of its HELLO",
				Get: func(e *Event) string { return cmp.Or(ruleConn(e, "worker"), e.Object.Text("wid")) }},
			{Name: "jid", Text: "the job", Get: func(e *Event) string { return e.Object.Text("jid") }},
			{Name: "queue", Text: "the queue of the job, or the first one of a FETCH", Get: ruleQueue},
		},
		Acts: slices.Concat(ruleSteps(), ruleReplies(), ruleChanges(), rule.WriteActs("writing",
			func(e *Event) *[]byte { return &e.Bytes }, func(e *Event) *int { return &e.Chunk },
			func(e *Event) *time.Duration { return &e.ChunkPause })),
	}
}

// rulePoints returns the steps at which a rule may act.
func rulePoints() (all []rule.Point[Event]) {
	for _, p := range []struct {
		at         Point
		name, text string
	}{
		{Accepted, "accepted", "a connection was accepted; skip: it is closed"},
		{Greeting, "greeting", "the HI is about to be sent"},
		{Parsed, "parsed", "a command was read"},
		{Checked, "checked", "its arguments were checked; skip: it has no effect, and the reply is as if it had"},
		{Defaulted, "pushed", "a job was pushed, and its defaults are filled in; skip: it is lost"},
		{Scheduled, "scheduled", "a job enters the schedule or the retries; skip: it is lost"},
		{ComingDue, "due", "a job leaves the schedule or the retries; skip: it is lost"},
		{Enqueued, "enqueued", "a job enters its queue; skip: it is lost"},
		{Reserved, "reserved", "a job is reserved for a worker; skip: it is not"},
		{Delivered, "delivered", "a job is the reply to a FETCH; skip: the reply is null"},
		{Acked, "acked", "a job is done; skip: it stays reserved"},
		{Failed, "failed", "a job failed; skip: it stays reserved"},
		{Expired, "expired", "a reservation has ended; skip: it has not"},
		{Notified, "notified", "a BEAT is about to be answered; skip: with OK"},
		{Flushed, "flushed", "everything is cleared; skip: it is not"},
		{Ran, "ran", "the command was carried out, and its reply is known"},
		{Writing, "writing", "the bytes of the reply are about to be sent"},
	} {
		all = append(all, rule.Point[Event]{Name: p.name, Text: p.text,
			Match: func(e *Event) bool { return e.Point == p.at }})
	}
	return all
}

// reasons are those that are not names of fields.
const reasons = "`line end`, `line length`, utf-8, verb, state, arguments, json, object, limit, `unknown job`, " +
	"`unknown worker`"

// ruleFields are what is no member of an object.
var ruleFields = []rule.Field{
	{Name: "reply", Text: "the reply as scripts write it: `+OK`, `-ERR busy`, `:1`, `$-1`, `$text`"},
	{Name: "reason", Text: "why a command is refused: the name of a field, or one of " + reasons},
	{Name: "state", Text: "the state that a BEAT is answered with: quiet, terminate"},
	{Name: "set", Text: "where a job goes: scheduled, retries, dead"},
	{Name: "argument", Text: "all that follows the command"},
	{Name: "queues", Text: "how many queues a FETCH names"},
	{Name: "commands", Text: "how many commands the connection has sent"},
}

// ruleMembers are the members of commands and jobs that a rule may name without quotes.
func ruleMembers() (all []rule.Field) {
	for _, f := range []struct{ names, text string }{
		{"jid jobtype queue args at reserve_for retry backtrace created_at custom", "of a job"},
		{"wid hostname pid labels v pwdhash", "of a HELLO"},
		{"current_state rss_kb", "of a BEAT"},
		{"errtype message", "of a FAIL"},
	} {
		for name := range strings.FieldsSeq(f.names) {
			all = append(all, rule.Field{Name: name, Text: "a member " + f.text})
		}
	}
	return all
}

// ruleField returns what a condition compares.
func ruleField(e *Event, name string) (value string, ok bool) {
	switch name {
	case "reply":
		return replyText(e.Reply), e.Reply.Kind != 0
	case "reason":
		return string(e.About()), e.About() != ""
	case "state":
		return e.State, e.State != ""
	case "set":
		return e.Set, e.Set != ""
	case "argument":
		return string(e.Command.Args), e.Command.Args != nil
	case "queues":
		return strconv.Itoa(len(e.Queues)), e.Command.Verb == fwp.FETCH
	case "commands":
		return ruleConn(e, name), e.Conn != nil
	}
	raw := e.Object.Get(name)
	if isString(raw) {
		return e.Object.Text(name), true
	}
	return string(raw), raw != nil
}

// ruleConn returns what is known of the connection of an event; the clock has none.
func ruleConn(e *Event, property string) string {
	switch {
	case e.Conn == nil:
		return ""
	case property == "worker":
		return e.Conn.Worker
	case property == "commands":
		return strconv.Itoa(e.Conn.Commands)
	default:
		return strconv.FormatInt(e.Conn.ID, 10)
	}
}

func ruleQueue(e *Event) string {
	if len(e.Queues) > 0 && e.Point != Delivered {
		return e.Queues[0]
	}
	return e.Object.Text("queue")
}

// ruleSteps are the acts that change what happens.
func ruleSteps() []rule.Act[Event] {
	const timed = "scheduled due reserved failed expired"
	return []rule.Act[Event]{
		rule.Do("skip", "", "the step does not happen", func(e *Event) { e.Skip = true }),
		rule.Do("again", "delivered acked", "the job is in its queue once more", func(e *Event) { e.Requeue = true }),
		rule.Do("front", "enqueued", "the job is the first of its queue", func(e *Event) { e.Front = true }),
		rule.Do("accept", "checked", "a command that is refused is carried out", (*Event).Accept),
		rule.Do("enact", "checked", "a command that is refused is carried out, and the reply is the error all the same",
			func(e *Event) { e.Skip = false }),
		rule.Value("refuse", "TEXT", "checked", "the command is refused with this text", rule.Text,
			func(e *Event, text string) { e.Err, e.Skip = &Refusal{Text: text}, true }),
		rule.Do("nothing", "checked", "a FETCH finds no job", func(e *Event) { e.Queues, e.WaitQueues = nil, nil }),
		rule.Do("sleep", "checked", "a FETCH that waits is not ended by a job", func(e *Event) { e.WaitQueues = nil }),
		rule.Value("wait", "DURATION", "checked", "a FETCH waits so long for a job", rule.Duration,
			func(e *Event, d time.Duration) { e.Wait = d }),
		rule.Value("until", "DURATION", timed, "the job is due, or its reservation ends, after so long", rule.Duration,
			func(e *Event, d time.Duration) { e.Until = time.Now().Add(d) }),
		rule.Value("early", "DURATION", timed, "the job is due, or its reservation ends, so much earlier", rule.Duration,
			func(e *Event, d time.Duration) { e.Until = e.Until.Add(-d) }),
		rule.Value("late", "DURATION", timed, "the job is due, or its reservation ends, so much later", rule.Duration,
			func(e *Event, d time.Duration) { e.Until = e.Until.Add(d) }),
		rule.Value("to", "SET", "failed expired", "where the job goes: retries, dead, or none", ruleSet,
			func(e *Event, set string) { e.Set = set }),
		rule.Value("state", "WORD", "notified", "the state in the reply to the BEAT", rule.Text,
			func(e *Event, state string) { e.State = state }),
	}
}

// ruleSet reads where a job goes.
func ruleSet(s string) (string, error) {
	if !slices.Contains([]string{"retries", "dead", "none"}, s) {
		return "", fmt.Errorf("expected retries, dead or none, got %q", s)
	}
	return strings.TrimPrefix(s, "none"), nil
}

// ruleReplies are the acts that change the reply.
func ruleReplies() []rule.Act[Event] {
	return []rule.Act[Event]{
		rule.Value("reply", "REPLY", "greeting ran", "the reply, as scripts write it", ParseReply,
			func(e *Event, r fwp.Reply) {
				if e.Reply, e.Err = r, nil; r.Kind == fwp.ErrorReply {
					e.Err = &Refusal{Text: string(r.Text)}
				}
			}),
		rule.Do("silent", "ran", "there is no reply", func(e *Event) { e.Reply, e.Err = fwp.Reply{}, nil }),
		rule.Values("later", "DURATION BYTES", "writing", "these bytes are sent, if the client sends nothing for so long",
			rule.Duration, rule.Bytes, func(e *Event, d time.Duration,
				b []byte) {
				e.DelayedWrite = &DelayedWrite{After: d, Bytes: b}
			}),
		rule.Value("idle", "DURATION", "writing",
			"the connection stays, and is closed if the client sends nothing for so long", rule.Duration,
			func(e *Event, d time.Duration) { e.Close, e.DelayedWrite = false, &DelayedWrite{After: d, Close: true} }),
		rule.Value("delay", "DURATION", "greeting parsed checked delivered ran writing", "a pause before that",
			rule.Duration, func(e *Event, d time.Duration) { e.Delay += d }),
		rule.Do("forget", "ran", "the connection is as before its HELLO", func(e *Event) { e.Conn.Identified = false }),
		rule.Do("close", "ran writing", "the connection is closed after that", func(e *Event) { e.Close = true }),
		rule.Do("reset", "ran writing", "the connection is reset after that",
			func(e *Event) { e.Close, e.ResetsConn = true, true }),
	}
}

// ruleChanges are the acts that change the arguments of a command, or a job.
func ruleChanges() []rule.Act[Event] {
	const objects = "checked pushed scheduled due enqueued delivered failed expired"
	return []rule.Act[Event]{
		rule.Values("set", "MEMBER JSON", objects, "a member of the job or of the arguments gets a value",
			rule.Text, ruleJSON, func(e *Event, name, value string) {
				if e.Object != nil {
					e.Object.Set(name, value)
				}
			}),
		rule.Value("drop", "MEMBER", objects, "a member is left out", rule.Text, func(e *Event, name string) {
			if e.Object != nil {
				e.Object.Delete(name)
			}
		}),
	}
}

// ruleJSON reads a JSON value.
func ruleJSON(s string) (string, error) {
	if _, err := ParseObject([]byte(`{"x":` + s + `}`)); err != nil {
		return "", fmt.Errorf("%q is no JSON value; a string has quotes of its own: '\"text\"'", s)
	}
	return s, nil
}
