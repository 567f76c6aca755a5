package emqp_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// unchanged is what a client gets for two REQUESTs, a DISCONNECT, and another REQUEST, beside a worker that waits; the
// others are what it gets with a rule.
const unchanged = "ACK r1, ACK r2, KBAI"

var ruleTests = []struct{ rule, want string }{
	{"on sent ACK if queue = r1: drop", "ACK r2, KBAI"},
	{"on sent ACK if queue ~ r; first 1 by peer: again 1", "ACK r1, ACK r1, ACK r2, KBAI"},
	{"on sent ACK if queue = r1 and client: delay 1m", "ACK r2, KBAI"},
	{"on sent ACK if id and not message; each 2: frame 5 other", "ACK other, ACK r2, KBAI"},
	{"on sent ACK if not headers and not scheduler; from 3: cut 4", "ACK r1, ACK, KBAI"},
	{"on received REQUEST if queue = q and id = r1: drop, disconnect", "closed"},
	{"on received REQUEST if headers ~ reply; after received READY if worker: drop", "KBAI"},
	{"on received DISCONNECT; after received REQUEST: stay", "ACK r1, ACK r2, KBAI, ACK r3"},
}

func TestRules(t *testing.T) {
	t.Parallel()
	assert.Equal(t, unchanged, playRule(t, nil))
	acts := map[string]bool{}
	for _, test := range ruleTests {
		assert.NotEqual(t, unchanged, test.want, test.rule)
		r, err := fakeemqp.Rules().Parse(test.rule)
		require.NoError(t, err)
		_, effects, _ := strings.Cut(test.rule, ": ")
		for act := range strings.SplitSeq(effects, ", ") {
			acts[strings.Fields(act)[0]] = true
		}
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, playRule(t, r.Hook()))
		})
	}
	for _, a := range fakeemqp.Rules().Acts {
		assert.True(t, acts[a.Name], "no rule of the test has the act %s", a.Name)
	}
}

// playRule returns what the client gets from a broker with a hook.
func playRule(t *testing.T, hook func(*fakeemqp.Event)) string {
	t.Helper()
	var got []string
	config := fakeemqp.Config{Timeout: time.Hour, Interval: time.Hour, Hook: hook}
	inBubble(t, config, func(t *testing.T, p *place) {
		p.worker("w", 1, queue(1, "other"))
		c := p.client()
		reply := emqp.Headers{{Name: emqp.ReplyRequested}}
		for _, m := range []emqp.Message{
			emqp.Request("r1", "q", reply, "m"), emqp.Request("r2", "q", reply, "m"), emqp.Disconnect("end"),
			emqp.Request("r3", "q", emqp.Headers{}, "m"),
		} {
			_ = c.Send(t.Context(), m.Frames()...) // a rule may have closed the connection already
		}
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			parts, err := c.Receive(ctx)
			cancel()
			if err != nil {
				if !errors.Is(err, context.DeadlineExceeded) { // a read or a write has found that it is closed
					got = append(got, "closed")
				}
				break
			}
			got = append(got, string(bytes.Join(append(parts[2:3], parts[min(4, len(parts)):]...), []byte(" "))))
		}
	})
	return strings.Join(got, ", ")
}
