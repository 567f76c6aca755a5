package play_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios/play"
)

// A job of another queue decides nothing for the clauses of the line that gets it.
func TestAJobOfAnotherQueue(t *testing.T) {
	t.Parallel()
	job := func(queue string) *peer {
		text := `{"jid":"x","queue":"` + queue + `"}`
		return &peer{answers: map[string]string{"FETCH": fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)}}
	}
	for name, test := range map[string]struct {
		fetch, queue, want string
	}{
		"of the queue":         {"FETCH one two", "two", "4 mismatched\n"},
		"of another":           {"FETCH one two", "other", "4 unsure\nbreach wrong-queue at 4\n"},
		"of the default queue": {"FETCH", "default", "4 mismatched\n"},
		"of another instead":   {"FETCH", "other", "4 unsure\nbreach wrong-default-queue at 4\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := consumer + "clause FWP-WU-03\nC: " + test.fetch + "\nS: ${\"jid\":\"mine\"}\n"
			playScript(t, job(test.queue), script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, outcomes(r))
			})
		})
	}
}

// A worker that a server has forgotten is not one whose refused command changed its state.
func TestTheQuestionItselfIsRefused(t *testing.T) {
	t.Parallel()
	s := &rogue{talk: func(n int, c net.Conn) {
		conversing(func(line string) (string, bool) {
			if n == 1 && strings.HasPrefix(line, "BEAT") {
				return "-ERR unknown worker\r\n", true
			}
			return "+OK\r\n", line != "END"
		})(n, c)
	}}
	script := consumer + "C: BEAT {\"wid\":\"$wid\"}\nS: +OK | -\nC: FLUSH\nS: +OK\n"
	playOn(t, s, script, func(t *testing.T, r *play.Run) {
		assert.Equal(t, "3 matched\n5 matched\n", outcomes(r))
	})
}

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
			playOn(t, from(test.first), test.script, func(t *testing.T, r *play.Run) {
				assert.Equal(t, test.want, strings.ReplaceAll(outcomes(r), "dead\n", ""))
				assert.Equal(t, test.first == 2, r.Refused != nil && r.Refused.Own == 1)
			})
		})
	}
}
