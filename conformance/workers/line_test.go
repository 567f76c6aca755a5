package workers

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMend: a line is read as what it was meant to be where only its verb's case or its spaces are wrong.
func TestMend(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"INFO": "INFO", "INFO ": "INFO", " INFO": "INFO", "info": "INFO", "PUSH  {}": "PUSH {}", "PUSH   {} ": "PUSH {}",
		"PUSH { } ": "PUSH { }", "PUSH{}": "PUSH {}", "HELLO\t{}": "HELLO {}",
		"Ack {\"jid\":\"a  b\"}": "ACK {\"jid\":\"a  b\"}",
		"FETCH a  b":             "FETCH a b", "FETCH ": "FETCH", "FETCHa": "FETCHa", "ACK_ALL {}": "ACK_ALL {}",
		"MUTATE  {}": "MUTATE  {}",
		"":           "", "  ": "  ", "{}": "{}", "BEAT w": "BEAT w",
	} {
		in := []byte(line)
		assert.Equal(t, want, string(Mend(in)), "%q", line)
		assert.Equal(t, line, string(in), "the line itself is as it was")
	}
}

// TestALineIsWhatItWasMeantToBe: its mistake is reported, and the rules go on with what is in it.
func TestALineIsWhatItWasMeantToBe(t *testing.T) {
	t.Parallel()
	for line, fault := range map[string]Fault{
		"ack {\"jid\":\"j\"}\n": FaultSyntax, "ACK{\"jid\":\"j\"}\r\n": FaultForm, "ACK\t{\"jid\":\"j\"}\n": FaultForm,
		"ACK  {\"jid\":\"j\"} \n": FaultForm,
	} {
		e := Event{Kind: Line}
		readLine(&e, []byte(line))
		assert.Equal(t, fault, e.Wrong.Fault, "%q", line)
		assert.Equal(t, "ACK", e.Verb(), "%q", line)
		assert.Equal(t, "j", e.Text("jid"), "%q", line)
		assert.Equal(t, line, string(e.Raw))
	}
}
