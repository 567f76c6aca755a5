package agents

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A message names the address that did not answer, and no secret.
func TestAddressOf(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"nats://secret@a:4222": "a:4222", "tls://user:p@ss@a:4222,nats://secret@[::1]:1": "a:4222, [::1]:1", "a": "a",
		"secret@a:1": "a:1",
	} {
		assert.Equal(t, want, addressOf(url))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ConnectWithin(ctx, Access{URL: "nats://secret@127.0.0.1:1"}, "a", time.Minute)
	require.EqualError(t, err, "no NATS server answers at 127.0.0.1:1, within 1m0s. Expected is that of a coordinator, "+
		"which must run first: fwpbench run --agents N prints the command for its agents. Check the host and port, and "+
		"whether a firewall is between")
}
