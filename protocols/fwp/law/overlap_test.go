package law_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOverlap: of commands about one job that are under way on two connections either may be carried out first.
func TestOverlap(t *testing.T) {
	t.Parallel()
	const (
		ackOf1, ackOf2 = `1 C: ACK {"jid":"jid-0000000000000001"}`, `2 C: ACK {"jid":"jid-0000000000000001"}`
		same           = `2 C: HELLO {"hostname":"h","wid":"worker-1","pid":1,"labels":[],"v":2}` + "\n2 S: +OK"
	)
	pushOf1, _, _ := strings.Cut(pushWith(""), "\n")
	for name, test := range map[string]struct{ talk, clause string }{
		"two ACKs side by side": {join(hello, same, pushWith(""), take, ackOf1, ackOf2, "1 S: +OK", "2 S: -ERR"), ""},
		"one behind the other":  {join(hello, same, pushWith(""), take, ackOf1, "1 S: -ERR"), "FWP-ACK-01"},
		"a PUSH beside a FLUSH": {join(hello, otherHello, pushOf1, "2 C: FLUSH", "1 S: +OK", "2 S: +OK", fetchNothing), ""},
		"a PUSH behind a FLUSH": {
			join(hello, otherHello, "2 C: FLUSH\n2 S: +OK", pushWith(""), "1 C: FETCH q\n1 S: $-1"), "FWP-PUSH-04",
		},
		"a BEAT beside a signal": {join(hello, `1 C: BEAT {"wid":"worker-1"}`, "signal worker-1 quiet",
			"1 S: +OK"), ""},
		"and its order": {join(hello, `1 C: BEAT {"wid":"worker-1"}`, "signal worker-1 quiet",
			`1 S: ${"state":"quiet"}`), ""},
		"two HELLOs of a worker that differ": {join(`1 C: HELLO {"hostname":"h","wid":"worker-1","pid":1,"labels":[],"v":2}`,
			`2 C: HELLO {"hostname":"g","wid":"worker-1","pid":1,"labels":[],"v":2}`, "1 S: +OK", "2 S: -ERR"), ""},
	} {
		v := talk(t, test.talk)
		if test.clause == "" {
			assert.Nil(t, v, name)
		} else if assert.NotNil(t, v, name) {
			assert.Equal(t, test.clause, v.Clause, name)
		}
	}
}
