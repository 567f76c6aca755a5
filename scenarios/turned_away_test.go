package scenarios_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

// A server at its limit may find that out only after HELLO: an error behind the OK is no second reply, as long as other
// connections are open.
func TestAnErrorBehindTheAnswerToHello(t *testing.T) {
	t.Parallel()
	from := func(first int) *rogue { // the number of the first connection that is refused
		return &rogue{talk: func(n int, c net.Conn) {
			conversing(func(line string) (string, bool) {
				switch refused := n >= first && strings.HasPrefix(line, "HELLO"); {
				case refused:
					return "+OK\r\n-ERR too many connections\r\n", false
				case line == "INFO":
					return "$2\r\n{}\r\n", true
				}
				return "+OK\r\n", line != "END"
			})(n, c)
		}}
	}
	for name, test := range map[string]struct {
		first        int
		script, want string
	}{
		"a second connection": {2, "connect a as producer\nconnect b as producer\nC[b]: INFO\nS[b]: $\n",
			"3 unsure\n4 not reached\n"},
		"of the script": {2,
			"connect a as producer\nS[b]: +HI {}\nC[b]: HELLO {\"v\":2}\nS[b]: +OK\n", "2 matched\n4 matched\n"},
		"every connection": {1, producer + "C: INFO\nS: $\n", "2 unsure\n3 not reached\nbreach unasked at 2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playOn(t, from(test.first), test.script, func(t *testing.T, r *scenarios.Run) {
				assert.Equal(t, test.want, strings.ReplaceAll(outcomes(r), "dead\n", ""))
				assert.Equal(t, test.first == 2, r.Refused != nil && r.Refused.Own == 1)
			})
		})
	}
}
