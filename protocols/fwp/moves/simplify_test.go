package moves

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// TestSimplify accepts every plainer form of a line: each is made from the one before.
func TestSimplify(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, plainest string }{
		{"INFO", "INFO"},
		{"FETCH", "FETCH default"},
		{"FETCH a b", "FETCH a"},
		{"FETCH a", "FETCH a"},
		{"PUSH {", "PUSH {"},
		{`ACK {"jid":1}`, `ACK {"jid":1}`},
		{
			`PUSH {"jid":"j","jobtype":"u","args":[1],"queue":"q"}`,
			`PUSH {"jid":"j","jobtype":"t","args":[],"queue":"q"}`,
		},
		{`PUSH {"jid":"j","at":"$now-2h@+05:30","custom":{}}`, `PUSH {"jid":"j"}`},
		{`PUSH {"jid":"j","retry":7}`, `PUSH {"jid":"j","retry":5}`},
		{`PUSH {"jid":"j","reserve_for":60,"backtrace":1}`, `PUSH {"jid":"j"}`},
		{
			`FAIL {"jid":"j","errtype":"E","message":"m","backtrace":["a","b"]}`,
			`FAIL {"jid":"j","errtype":"E","message":"m","backtrace":[]}`,
		},
		{
			`HELLO {"hostname":"h","wid":"w","pid":1,"labels":[],"extra":1,"v":2}`,
			`HELLO {"hostname":"h","wid":"w","pid":1,"labels":[],"v":2}`,
		},
	} {
		line := test.line
		simplify(line, func(plainer string) bool { line = plainer; return true })
		assert.Equal(t, test.plainest, line)
	}
	simplify("FETCH a b", func(plainer string) bool {
		assert.Contains(t, []string{"FETCH a", "FETCH b"}, plainer)
		return false
	})
}

// TestRound leaves out what the next round does.
func TestRound(t *testing.T) {
	t.Parallel()
	job, fetch, done := push(2, "$jid1", "$queue1", ""), line(2, seedFetch), ack(2, "$jid1")
	for name, test := range map[string]struct{ steps, want []explore.Step }{
		"one FETCH":         {[]explore.Step{job, fetch}, []explore.Step{job, fetch}},
		"two":               {[]explore.Step{job, fetch, fetch}, []explore.Step{job, fetch}},
		"two, and an ACK":   {[]explore.Step{job, fetch, done, fetch}, []explore.Step{job, fetch}},
		"two, an ACK later": {[]explore.Step{job, fetch, fetch, done}, []explore.Step{job, fetch, fetch, done}},
	} {
		assert.Equal(t, test.want, round(test.steps), name)
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"missing", "late", "order", "not-woken", "stalled"} {
		assert.Equal(t, "missing", family(rule))
		assert.NotEmpty(t, seeds(family(rule)), rule)
	}
	for _, rule := range []string{"swapped", "delivered", "field", explore.Concurrent, "foreign", "silent", "refused"} {
		assert.Equal(t, rule, family(rule))
		assert.NotEmpty(t, seeds(rule), rule)
	}
	assert.Empty(t, seeds("greeting"))
	assert.Len(t, OneJob("delivered"), 5, "a job that comes too often is fetched once more")
	assert.Len(t, OneJob("missing"), 4)
	assert.Len(t, OneJob("field"), 3)
}
