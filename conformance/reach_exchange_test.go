package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

func TestJIDOfAReply(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		`${"jid":"j1","args":[]}`:               "j1",
		`${ "args" : [ ],	"jid" :	"j 1" }`:      "j 1",
		`${"jid":"j1","args":["0123 … (8405 b`:  "j1",
		`${"args":["0123 … (8405 bytes in all)`: "",
		`$-1`: "",
	} {
		assert.Equal(t, want, exchange{got: got}.jid(), got)
	}
}

// TestExchanges: a command of two lines is one exchange, and a greeting answers none.
func TestExchanges(t *testing.T) {
	t.Parallel()
	line := func(from, text string, goesOn bool) scenarios.Line {
		return scenarios.Line{Conn: "a", From: from, Text: text, GoesOn: goesOn}
	}
	sent := func(all []exchange) (pairs []string) {
		for _, x := range all {
			pairs = append(pairs, x.sent+" -> "+x.got)
		}
		return pairs
	}
	assert.Equal(t, []string{`add x 4\r\npong -> +OK`, "lease y -> -TIMEOUT"}, sent(exchanges("", []scenarios.Line{
		line("C", "add x 4", false), line("C", "pong", true), line("S", "+OK", false),
		line("C", "lease y", false), line("S", "-TIMEOUT", false),
	})))
	assert.Equal(t, []string{" -> +HI {}", "INFO -> $2"}, sent(exchanges("HI", []scenarios.Line{
		line("C", "INFO", false), line("S", "+HI {}", false), line("S", "$2", false),
	})), "a client that did not wait for the greeting")
	began := []scenarios.Line{line("C", "add x 4", false), line("C", "pong", true), line("S", "+OK", false)}
	began[1].At, began[2].At = time.Second, 3*time.Second
	assert.Equal(t, 2*time.Second, exchanges("", began)[0].took(), "from the end of the command")
}
