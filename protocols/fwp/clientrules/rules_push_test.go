package clientrules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// pushed is a stream of a producer that pushes these work units, each of which is accepted.
func pushed(units ...string) string {
	s := "1 producer"
	for _, u := range units {
		s += "\n1 C: PUSH " + u + "\n1 S: +OK"
	}
	return s
}

func pushTests() []ruleTest {
	const plain = `{"jid":"j1","jobtype":"t","args":[]}`
	return []ruleTest{
		{breach: PushJID, name: "plain", stream: pushed(plain)},
		{breach: PushJID, name: "short", stream: pushed(`{"jid":"1","jobtype":"t","args":[]}`)},
		{breach: PushJID, name: "missing", wrong: true, stream: pushed(`{"jobtype":"t","args":[]}`)},
		{breach: PushJID, name: "a number", wrong: true, stream: pushed(`{"jid":1,"jobtype":"t","args":[]}`)},

		{breach: PushJobtype, name: "plain", stream: pushed(plain)},
		{breach: PushJobtype, name: "not ASCII", stream: pushed(`{"jid":"j1","jobtype":"ü","args":[]}`)},
		{breach: PushJobtype, name: "missing", wrong: true, stream: pushed(`{"jid":"j1","args":[]}`)},
		{breach: PushJobtype, name: "in other letters", wrong: true, stream: pushed(`{"jid":"j1","jobType":"t","args":[]}`)},

		{breach: PushArgs, name: "empty", stream: pushed(plain)},
		{breach: PushArgs, name: "nested", stream: pushed(`{"jid":"j1","jobtype":"t","args":[[{"a":null}],1e3,"x"]}`)},
		{breach: PushArgs, name: "an object", wrong: true, stream: pushed(`{"jid":"j1","jobtype":"t","args":{}}`)},
		{breach: PushArgs, name: "null", wrong: true, stream: pushed(`{"jid":"j1","jobtype":"t","args":null}`)},

		{breach: PushOptional, name: "all of them", stream: pushed(`{"jid":"j1","jobtype":"t","args":[],"queue":"q",` +
			`"reserve_for":60,"at":"2026-01-02T03:04:05Z","retry":-1,"backtrace":20,` +
			`"created_at":"2026-01-02T03:04:05.678+01:00","custom":{"a":1}}`)},
		{breach: PushOptional, name: "null is omitted, and a field of its own", stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"queue":"q","custom":null,"at":"","bid":7}`)},
		{breach: PushOptional, name: "a reservation of 59 s", wrong: true, stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"reserve_for":59}`)},
		{breach: PushOptional, name: "a time in milliseconds", wrong: true, stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"at":1700000000000}`)},
		{breach: PushOptional, name: "retry as a string", wrong: true, stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"retry":"25"}`)},

		{breach: PushReadOnly, name: "plain", stream: pushed(plain)},
		{breach: PushReadOnly, name: "null", stream: pushed(`{"jid":"j1","jobtype":"t","args":[],"failure":null}`)},
		{breach: PushReadOnly, name: "enqueued_at", wrong: true, stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"enqueued_at":"2026-01-02T03:04:05Z"}`)},
		{breach: PushReadOnly, name: "failure", wrong: true, stream: pushed(
			`{"jid":"j1","jobtype":"t","args":[],"failure":{"retry_count":1}}`)},

		{breach: PushJIDReused, name: "two jids", stream: pushed(plain, `{"jid":"j2","jobtype":"t","args":[]}`)},
		{breach: PushJIDReused, name: "again after an error", stream: `
			1 producer
			1 C: PUSH {"jid":"j0","jobtype":"t","args":[]}
			1 S: +OK
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: -ERR full
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: +OK`},
		{breach: PushJIDReused, name: "by a producer that lost another push", wrong: true, stream: pushed(plain) + `
			1 C: PUSH {"jid":"j2","jobtype":"t","args":[]}
			1 S: <reset>
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}`},
		{breach: PushJIDReused, name: "twice", wrong: true, stream: pushed(plain, plain)},
		{breach: PushJIDReused, name: "an empty one twice", wrong: true, stream: pushed(
			`{"jid":"","jobtype":"t","args":[]}`, `{"jid":"","jobtype":"t","args":[]}`)},
		{breach: PushJIDReused, name: "by another client", wrong: true, stream: pushed(plain) + `
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"other","args":[1]}`},

		{breach: PushRepeated, name: "not again", stream: `
			1 producer
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: <close>
			2 producer
			2 C: PUSH {"jid":"j2","jobtype":"t","args":[]}
			2 S: +OK`},
		{breach: PushRepeated, name: "after an answered one", stream: `
			1 producer
			1 C: PUSH {"jid":"j0","jobtype":"t","args":[]}
			1 S: +OK
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: <reset>`},
		{breach: PushRepeated, name: "again", wrong: true, stream: `
			1 producer
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: <close>
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			2 S: +OK`},
		{breach: PushRepeated, name: "after a reset", wrong: true, stream: `
			1 worker w1
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: <reset>
			+1s
			2 worker w1
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}`},
	}
}

// A job of which a push has failed may be run again, and then pushes again what it has pushed before.
func TestJobsThatRunAgainPushAgain(t *testing.T) {
	t.Parallel()
	const before, failing = "\n2 producer\n2 C: PUSH {\"jid\":\"j1\"}\n2 S: +OK", "\n2 C: PUSH {\"jid\":\"j2\"}\n2 S: "
	const again = "\n3 producer\n3 C: PUSH {\"jid\":\"j1\"}"
	for failure, want := range map[string]State{
		"": Broke, failing + "+OK": Broke, failing + "-ERR full": Held, failing + "<reset>": Held,
	} {
		events, end := streamOf(t, "1 worker w1"+before+failure+again)
		assert.Equal(t, want, states(judgeAll(Config{}, events, end))[PushJIDReused], "%q", failure)
	}
}
