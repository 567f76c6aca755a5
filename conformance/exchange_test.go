package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios/play"
)

// TestExchanges: a command of two lines is one exchange, and a greeting answers none.
func TestExchanges(t *testing.T) {
	t.Parallel()
	line := func(from, text string, goesOn bool) play.Line {
		return play.Line{Conn: "a", From: from, Text: text, GoesOn: goesOn}
	}
	sent := func(all []Exchange) (pairs []string) {
		for _, x := range all {
			pairs = append(pairs, x.Sent+" -> "+x.Got)
		}
		return pairs
	}
	assert.Equal(t, []string{`add x 4\r\npong -> +OK`, "lease y -> -TIMEOUT"}, sent(Exchanges("", []play.Line{
		line("C", "add x 4", false), line("C", "pong", true), line("S", "+OK", false),
		line("C", "lease y", false), line("S", "-TIMEOUT", false),
	})))
	assert.Equal(t, []string{" -> +HI {}", "INFO -> $2"}, sent(Exchanges("HI", []play.Line{
		line("C", "INFO", false), line("S", "+HI {}", false), line("S", "$2", false),
	})), "a client that did not wait for the greeting")
	began := []play.Line{line("C", "add x 4", false), line("C", "pong", true), line("S", "+OK", false)}
	began[1].At, began[2].At = time.Second, 3*time.Second
	assert.Equal(t, 2*time.Second, Exchanges("", began)[0].Took(), "from the end of the command")
}
