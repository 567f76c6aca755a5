package clientrules

import (
	"strings"
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

// TestALineIsWhatItWasMeantToBe: its mistakes are reported, and the rules go on with what is in it.
func TestALineIsWhatItWasMeantToBe(t *testing.T) {
	t.Parallel()
	for line, mistakes := range map[string][]Mistake{
		"ack {\"jid\":\"j\"}\n": {MistakeSyntax}, "ACK{\"jid\":\"j\"}\r\n": {MistakeForm},
		"ACK\t{\"jid\":\"j\"}\n": {MistakeForm}, "ACK  {\"jid\":\"j\"} \n": {MistakeForm, MistakeSyntax},
		"ACK\t{\"jid\":\"j\"} x\r\n": {MistakeForm, MistakeSyntax}, "ACK {\"jid\":\"j\"} x\r\n": {MistakeSyntax},
	} {
		e := Event{Kind: Line}
		readLine(&e, []byte(line))
		var found []Mistake
		for _, mistake := range e.Mistakes {
			found = append(found, mistake.Mistake)
		}
		assert.Equal(t, mistakes, found, "%q", line)
		assert.Equal(t, "ACK", e.Verb(), "%q", line)
		assert.Equal(t, "j", e.Text("jid"), "%q", line)
		assert.Equal(t, line, string(e.Raw))
	}
}

// TestWhatIsMaskedIsNotKept: a line that is wrong, and the reply to it, are no occasion on which a rule was kept. The
// end of a line is judged apart.
func TestWhatIsMaskedIsNotKept(t *testing.T) {
	t.Parallel()
	for line, breaches := range map[string]string{
		`BEAT {\"wid\":\"w1\"}\r\n`: "beat-wid line-end line-form", `BEAT {\"wid\":\"w1\"}\n`: "beat-wid line-form",
		`BEAT  {\"wid\":\"w1\"}\r\n`: "line-end", `beat {\"wid\":\"w1\"}\n`: "",
	} {
		passes := func(lines string) map[string]int {
			events, end := streamOf(t, "1 worker w1"+lines)
			n := map[string]int{}
			for _, r := range judgeAll(Config{}, events, end) {
				n[r.Rule.Breach] = r.Occasions - r.Breaches
			}
			return n
		}
		before, after := passes(""), passes("\n1 C: \""+line+"\"\n1 S: +OK")
		for _, breach := range []string{BeatWid, LineEnd, LineForm} {
			assert.Equal(t, strings.Contains(breaches, breach), after[breach] > before[breach], "%s: %s", line, breach)
		}
	}
}
