package emqp

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Rules returns the words of rules by which the broker misbehaves. The hook of a rule is one for [Config.Hook].
func Rules() *rule.Vocabulary[Event] {
	fields := map[string]func(*Event) string{"id": frame(atID), "queue": frame(atFirst), "headers": frame(atHeaders),
		"message": frame(atMessage), "version": frame(atVersion)}
	return &rule.Vocabulary[Event]{
		Points: []rule.Point[Event]{
			{Name: "received", Text: "a peer has sent a message; drop: it is not handled",
				Match: func(e *Event) bool { return !e.IsFromBroker }},
			{Name: "sent", Text: "the broker is about to send a message; drop: it does not",
				Match: func(e *Event) bool { return e.IsFromBroker }},
		},
		Verbs: []string{emqp.ACK, emqp.REPLY, emqp.HEARTBEAT, emqp.DISCONNECT, emqp.KBAI, emqp.REQUEST, emqp.PUBLISH,
			emqp.SCHEDULE, emqp.UNSCHEDULE, emqp.INFORM, emqp.READY},
		Verb: frame(atCommand),
		Fields: []rule.Field{
			{Name: "id", Text: "the id of the message"}, {Name: "version", Text: "its version"},
			{Name: "queue", Text: "its first frame behind the id, such as the queue of a REQUEST"},
			{Name: "headers", Text: "its second frame behind the id, such as the headers of a REQUEST"},
			{Name: "message", Text: "its last frame, such as the job of a REQUEST"},
		},
		Field: func(e *Event, name string) (string, bool) {
			field, ok := fields[name]
			if !ok {
				return "", false
			}
			return field(e), field(e) != ""
		},
		Tests: ruleTests(),
		Keys: []rule.Key[Event]{
			{Name: "peer", Text: "the peer", Get: peerOf},
			{Name: "id", Text: "the id of the message", Get: fields["id"]},
			{Name: "queue", Text: "the queue", Get: fields["queue"]},
		},
		Acts: ruleActs(),
	}
}

// frame returns the function that returns a frame, or "" if there is none.
func frame(n int) func(*Event) string {
	return func(e *Event) string {
		if n < len(e.Frames) {
			return string(e.Frames[n])
		}
		return ""
	}
}

// ruleTests are what a peer is.
func ruleTests() []rule.Test[Event] {
	isRole := func(r Role) func(*Event) bool { return func(e *Event) bool { return e.Role == r } }
	return []rule.Test[Event]{
		{Name: "client", Text: "the peer is a client, or has not said what it is", Holds: isRole(Client)},
		{Name: "worker", Text: "the peer is a worker", Holds: isRole(Worker)},
		{Name: "scheduler", Text: "the peer is a scheduler", Holds: isRole(Scheduler)},
	}
}

// ruleActs are what a rule may do.
func ruleActs() []rule.Act[Event] {
	return []rule.Act[Event]{
		rule.Do("drop", "", "the message is not handled, or not sent", func(e *Event) { e.Drop = true }),
		rule.Value("again", "N", "", "it is handled, or sent, N times more", rule.Number,
			func(e *Event, n int) { e.Repeats = n }),
		rule.Value("delay", "DURATION", "sent", "it is sent so much later", rule.Duration,
			func(e *Event, d time.Duration) { e.Delay = d }),
		rule.Values("frame", "N BYTES", "", "frame N, from 1, has these bytes", rule.Number, rule.Bytes,
			func(e *Event, n int, b []byte) {
				if n <= len(e.Frames) {
					e.Frames = slices.Clone(e.Frames)
					e.Frames[n-1] = b
				}
			}),
		rule.Value("cut", "N", "", "only the first N frames are left", rule.Number,
			func(e *Event, n int) { e.Frames = e.Frames[:min(n, len(e.Frames))] }),
		rule.Do("disconnect", "", "the connection of the peer is closed afterwards",
			func(e *Event) { e.Disconnect = true }),
		rule.Do("stay", "received", "the broker goes on although it was sent a DISCONNECT",
			func(e *Event) { e.Stay = true }),
	}
}
