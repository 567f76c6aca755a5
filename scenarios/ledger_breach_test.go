package scenarios_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
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
			play(t, job(test.queue), script, func(t *testing.T, r *scenarios.Run) {
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
	playOn(t, s, script, func(t *testing.T, r *scenarios.Run) {
		assert.Equal(t, "3 matched\n5 matched\n", outcomes(r))
	})
}
