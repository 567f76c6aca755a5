package fakeemqp_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
)

func TestRules(t *testing.T) {
	t.Parallel()
	acts := map[string]bool{}
	// want is what a client gets for two REQUESTs, a DISCONNECT, and another REQUEST.
	for _, test := range []struct{ rule, want string }{
		{"on sent ACK; first 1: drop", "ACK r2, KBAI"},
		{"on sent ACK; first 1 by peer: again 1", "ACK r1, ACK r1, ACK r2, KBAI"},
		{"on sent ACK if id; first 1: delay 1m", "ACK r2, KBAI"},
		{"on sent ACK if not message; each 2: frame 5 other", "ACK r1, ACK other, KBAI"},
		{"on received REQUEST if queue = q and id = r1: drop, disconnect", "EOF"},
		{"on received DISCONNECT; after received REQUEST: stay", "ACK r1, ACK r2, KBAI, ACK r3"},
	} {
		r, err := fakeemqp.Rules().Parse(test.rule)
		require.NoError(t, err)
		_, does, _ := strings.Cut(test.rule, ": ")
		for act := range strings.SplitSeq(does, ", ") {
			acts[strings.Fields(act)[0]] = true
		}
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			config := fakeemqp.Config{Timeout: time.Hour, Interval: time.Hour, Hook: r.Hook()}
			inBubble(t, config, func(t *testing.T, p *place) {
				c, got := p.client(), []string{}
				for i := range 2 {
					c.send(emqp.Request(fmt.Sprint("r", i+1), "q", emqp.Headers{}, "m"))
				}
				_ = c.Send(t.Context(), emqp.Disconnect("end").Frames()...)
				_ = c.Send(t.Context(), emqp.Request("r3", "q", emqp.Headers{}, "m").Frames()...)
				for {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					parts, err := c.Receive(ctx)
					cancel()
					if err != nil {
						if strings.Contains(err.Error(), "EOF") {
							got = append(got, "EOF")
						}
						break
					}
					got = append(got, string(bytes.Join(append(parts[2:3], parts[4:]...), []byte(" "))))
				}
				assert.Equal(t, test.want, strings.Join(got, ", "))
			})
		})
	}
	for _, a := range fakeemqp.Rules().Acts {
		assert.True(t, acts[a.Name], "no rule of the test has the act %s", a.Name)
	}
}
