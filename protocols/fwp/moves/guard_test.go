package moves

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		bytes               string
		shared, alone, full bool
	}{
		{"FETCH fwp-q1\r\n", false, false, false},
		{"FETCH fwp-q1 fwp-q2\r\n", false, false, false},
		{"FETCH\r\n", true, false, false},
		{"FETCH \r\n", true, false, false},
		{"fetch default\r\n", true, false, false},
		{"FETCH fwp-q1 5\r\n", true, false, false},
		{"INFO\r\nFETCH default\r\n", true, false, false},
		{"ACK {\"jid\":\"FETCH\"}\r\n", false, false, false},
		{"PUSH {\"jid\":\"FETCH\",\"queue\":\"fwp-q1\"}\r\n", false, false, false},
		{"PUSH {\"jid\":\"FETCH\"}\r\n", true, false, false}, // in the queue default
		{"push {\"jid\":\"x\",\"queue\":\"other\"}\r\n", true, false, false},
		{"PUSH {\"jid\":\"x\",\"custom\":{\"queue\":\"fwp-q1\"}}\r\n", true, false, false},
		{"PUSH {\"jid\":\"x\",\"queue\":\"fwp-q1\",\"Queue\":\"y\"}\r\n", true, false, false},
		{"PUSH {\"jid\":\"x\",\"queue\":null}\r\n", true, false, false},
		{"PUSH {\"jid\":\"x\"\r\n,\"args\":[]}\r\n", true, false, false},
		{"PUSH [{\"jid\":\"x\"}]\r\n", true, false, false},
		{"PUSH {\"jid\":\"x\",\"queue\":\"fwp", false, false, false}, // half an object is no job
		{"PUSH {}\r\n", false, false, false},
		{"F\x00ETCH default\r\n", true, false, false},
		{"FETCH fwp-q1\x00FETCH\r\n", true, false, false},
		{"INFO\rfl ush\n", true, true, false},
		{"FLUSH\r\n", true, true, false},
		{"BEAT {}\nFLUSH x\r\n", true, true, false},
		{"", false, false, false},
		{`PUSHB [{"jid":"x","queue":"fwp-q1"},{"jid":"y","queue":"fwp-q2","args":[{"a":1}]}]` + "\r\n", false, false, false},
		{`PUSHB [{"jid":"x","queue":"fwp-q1"},{"jid":"y","args":[]}]` + "\r\n", true, false, false},
		{"QUEUE PAUSE fwp-q1 fwp-q2\r\n", false, false, false},
		{"QUEUE REMOVE fwp-q1 q2\r\n", true, false, false},
		{"queue pause *\r\n", true, false, false},
		{"QUEUE PAUSE\r\n", false, false, false},
		{"MUTATE x\r\n", false, false, false},
		{`MUTATE {"cmd":"kill","target":"dead","filter":{"jids":["fwp-1"]}}` + "\r\n", false, false, false},
		{`MUTATE {"cmd":"kill","target":"dead","filter":{"jids":["fwp-1","x"]}}` + "\r\n", true, true, false},
		{`MUTATE {"cmd":"kill","target":"dead","filter":{"jids":[]}}` + "\r\n", true, true, false},
		{`MUTATE {"cmd":"kill","target":"dead","filter":{"regexp":"*"}}` + "\r\n", true, true, false},
		{`MUTATE {"cmd":"clear","target":"dead"}` + "\r\n", true, true, false},
		{`MUTATE {"cmd":"clear","target":"dead"` + "\r\n", true, true, false},
	}
	for _, test := range tests {
		play := func(alone, flush bool) *fwpLaw {
			l := newLaw(law.Terms{NamePrefix: "fwp", Alone: alone, Flush: flush})
			l.world.HasExtensionVerb = fwpscript.Faktory.Has
			return l
		}
		assert.Equal(t, test.shared, play(false, false).Escapes([]byte(test.bytes)), test.bytes)
		assert.Equal(t, test.alone, play(true, false).Escapes([]byte(test.bytes)), test.bytes)
		assert.Equal(t, test.full, play(true, true).Escapes([]byte(test.bytes)), test.bytes)
	}
}

func TestEscapesOfSegments(t *testing.T) {
	t.Parallel()
	p := newLaw(law.Terms{NamePrefix: "fwp"})
	assert.False(t, p.Escapes([]byte("INFO\r\nFETCH fwp-q1\r\n")))
	assert.True(t, p.Escapes([]byte("INFO\r\nFETCH "), []byte("fwp-q1\r\n")))
	assert.True(t, p.Escapes([]byte("INFO\r\nFE"), []byte("TCH"), []byte(" fwp-q1\r\n")))
	assert.False(t, p.Escapes([]byte(`PUSH {"jid":"x",`), []byte(`"args":[]`), []byte(`,"queue":"fwp-q1"}`)))
}
