package play_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// framedDialect is FWP with an encoding of its own: the server takes no line without the blank at its end.
type framedDialect struct{ fwpscript.Dialect }

func (framedDialect) Grammar() *scenarios.Grammar {
	g := *fwpscript.Dialect{}.Grammar()
	g.Lines = scenarios.Lines{
		Encode: func(line string) ([]byte, error) { return []byte(line + " \r\n"), nil },
		Decode: func(sent []byte) string { return strings.TrimSpace(string(sent)) },
		Verb: func(line string) string {
			word, _, _ := strings.Cut(line, " ")
			return word
		},
	}
	return &g
}

// Whatever the engine sends by itself goes through the encoding of the dialect: introductions, the questions whether a
// server serves, on a new connection and on the old one, and the clean-up.
func TestTheEngineSendsInTheEncodingOfTheDialect(t *testing.T) {
	t.Parallel()
	const script = "connect as consumer\nC: PUSH $job\nS: +OK\nC: FETCH $queue\nS: -\n"
	s, err := scenarios.Parse(framedDialect{}, "framed", []byte(script))
	require.NoError(t, err)
	var mu sync.Mutex
	counts, unframed := map[string]int{}, []string(nil)
	r := &rogue{talk: func(n int, c net.Conn) {
		conversing(func(line string) (string, bool) {
			mu.Lock()
			defer mu.Unlock()
			verb, _, _ := strings.Cut(line, " ")
			if counts[verb]++; !strings.HasSuffix(line, " ") && verb != "END" { // the farewell is the session's
				unframed = append(unframed, line)
			}
			if n == 1 && (verb == "FETCH" || verb == "BEAT") {
				return "-ERR\r\n", true
			}
			return "+OK\r\n", verb != "END"
		})(n, c)
	}}
	synctest.Test(t, func(t *testing.T) {
		r.serve(t)
		run := (&play.Player{Target: r}).Play(t.Context(), s, "fwp-test-0001")
		assert.Equal(t, "3 matched\n5 matched\nbreach state-lost at 5\n", outcomes(run))
	})
	assert.Empty(t, unframed)
	assert.Equal(t, 4, counts["BEAT"], "twice on the connection, once on one of the same client, and once on another")
	assert.GreaterOrEqual(t, counts["HELLO"], 4)
}
