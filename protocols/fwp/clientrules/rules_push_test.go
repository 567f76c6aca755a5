package clientrules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// pushStream is a stream of a producer that pushes these work units, each of which is accepted.
func pushStream(units ...string) string {
	s := "1 producer"
	for _, u := range units {
		s += "\n1 C: PUSH " + u + "\n1 S: +OK"
	}
	return s
}

func pushTests() []ruleTest {
	const plain = `{"jid":"j1","jobtype":"t","args":[]}`
	return []ruleTest{
		{breach: PushJID, name: "plain", stream: pushStream(plain)},
		{breach: PushJID, name: "short", stream: pushStream(`{"jid":"1","jobtype":"t","args":[]}`)},
		{breach: PushJID, name: "missing", isWrong: true, stream: pushStream(`{"jobtype":"t","args":[]}`)},
		{breach: PushJID, name: "a number", isWrong: true, stream: pushStream(`{"jid":1,"jobtype":"t","args":[]}`)},

		{breach: PushJobtype, name: "plain", stream: pushStream(plain)},
		{breach: PushJobtype, name: "not ASCII", stream: pushStream(`{"jid":"j1","jobtype":"ü","args":[]}`)},
		{breach: PushJobtype, name: "missing", isWrong: true, stream: pushStream(`{"jid":"j1","args":[]}`)},
		{breach: PushJobtype, name: "in other letters", isWrong: true, stream: pushStream(`{"jid":"j1","jobType":"t","args":[]}`)},

		{breach: PushArgs, name: "empty", stream: pushStream(plain)},
		{breach: PushArgs, name: "nested", stream: pushStream(`{"jid":"j1","jobtype":"t","args":[[{"a":null}],1e3,"x"]}`)},
		{breach: PushArgs, name: "an object", isWrong: true, stream: pushStream(`{"jid":"j1","jobtype":"t","args":{}}`)},
		{breach: PushArgs, name: "null", isWrong: true, stream: pushStream(`{"jid":"j1","jobtype":"t","args":null}`)},

		{breach: PushOptional, name: "all of them", stream: pushStream(`{"jid":"j1","jobtype":"t","args":[],"queue":"q",` +
			`"reserve_for":60,"at":"2026-01-02T03:04:05Z","retry":-1,"backtrace":20,` +
			`"created_at":"2026-01-02T03:04:05.678+01:00","custom":{"a":1}}`)},
		{breach: PushOptional, name: "null is omitted, and a field of its own", stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"queue":"q","custom":null,"at":"","bid":7}`)},
		{breach: PushOptional, name: "a reservation of 59 s", isWrong: true, stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"reserve_for":59}`)},
		{breach: PushOptional, name: "a time in milliseconds", isWrong: true, stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"at":1700000000000}`)},
		{breach: PushOptional, name: "retry as a string", isWrong: true, stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"retry":"25"}`)},

		{breach: PushReadOnly, name: "plain", stream: pushStream(plain)},
		{breach: PushReadOnly, name: "null", stream: pushStream(`{"jid":"j1","jobtype":"t","args":[],"failure":null}`)},
		{breach: PushReadOnly, name: "enqueued_at", isWrong: true, stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"enqueued_at":"2026-01-02T03:04:05Z"}`)},
		{breach: PushReadOnly, name: "failure", isWrong: true, stream: pushStream(
			`{"jid":"j1","jobtype":"t","args":[],"failure":{"retry_count":1}}`)},

		{breach: PushJIDReused, name: "two jids", stream: pushStream(plain, `{"jid":"j2","jobtype":"t","args":[]}`)},
		{breach: PushJIDReused, name: "again after an error", stream: `
			1 producer
			1 C: PUSH {"jid":"j0","jobtype":"t","args":[]}
			1 S: +OK
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: -ERR full
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: +OK`},
		{breach: PushJIDReused, name: "by a producer that lost another push", isWrong: true, stream: pushStream(plain) + `
			1 C: PUSH {"jid":"j2","jobtype":"t","args":[]}
			1 S: <reset>
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}`},
		{breach: PushJIDReused, name: "twice", isWrong: true, stream: pushStream(plain, plain)},
		{breach: PushJIDReused, name: "an empty one twice", isWrong: true, stream: pushStream(
			`{"jid":"","jobtype":"t","args":[]}`, `{"jid":"","jobtype":"t","args":[]}`)},
		{breach: PushJIDReused, name: "by another client", isWrong: true, stream: pushStream(plain) + `
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
		{breach: PushRepeated, name: "again", isWrong: true, stream: `
			1 producer
			1 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			1 S: <close>
			2 producer
			2 C: PUSH {"jid":"j1","jobtype":"t","args":[]}
			2 S: +OK`},
		{breach: PushRepeated, name: "after a reset", isWrong: true, stream: `
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
	const firstPush, secondPush = "\n2 producer\n2 C: PUSH {\"jid\":\"j1\"}\n2 S: +OK", "\n2 C: PUSH {\"jid\":\"j2\"}\n2 S: "
	const repeat = "\n3 producer\n3 C: PUSH {\"jid\":\"j1\"}"
	for failure, want := range map[string]State{
		"": StateBroken, secondPush + "+OK": StateBroken, secondPush + "-ERR full": StateHeld, secondPush + "<reset>": StateHeld,
	} {
		events, end := streamOf(t, "1 worker w1"+firstPush+failure+repeat)
		assert.Equal(t, want, states(judgeAll(Config{}, events, end))[PushJIDReused], "%q", failure)
	}
}
