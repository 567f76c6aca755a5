package check

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/zmtp"
)

// A broker serves workers at its second port, and lists the messages that no peer may send.
func TestServeEMQP(t *testing.T) {
	t.Parallel()
	ready, interrupt := serving(t, "--protocol", "emqp")
	at, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(ready, "ready ")))
	require.NoError(t, err)
	dealer := func(identity, port string) *zmtp.Dealer {
		nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
		require.NoError(t, err)
		d, err := zmtp.NewDealer(t.Context(), nc, zmtp.Config{Identity: identity})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		return d
	}
	client, worker := dealer("c", at.Port()), dealer("w", at.Query().Get("backend"))
	send := func(d *zmtp.Dealer, m emqp.Message) { require.NoError(t, d.Send(t.Context(), m.Frames()...)) }
	send(worker, emqp.InformWorker("1", emqp.Queue{Weight: 10, Name: "q"}))
	send(worker, emqp.Ready("2"))
	require.NoError(t, client.Send(t.Context(), []byte(""), []byte("eMQP/9.9"), []byte("READY"), []byte("1")))
	send(client, emqp.Message{Command: emqp.HEARTBEAT, ID: "2", Fields: [][]byte{[]byte("1")}})
	send(client, emqp.Request("3", "q", nil, "text"))
	for command := ""; command != emqp.REQUEST; {
		parts, err := worker.Receive(t.Context())
		require.NoError(t, err)
		command = string(parts[2])
	}
	rest, err := interrupt()
	assert.Error(t, err, "exit code 1")
	assert.Contains(t, rest, "clients sent 5 commands")
	assert.Contains(t, rest, "mistake: eMQP message (version)")
	assert.Contains(t, rest, "mistake: a HEARTBEAT is valid after an INFORM only")
	assert.Equal(t, 2, strings.Count(rest, "mistake: "))
	assert.NotContains(t, rest, ", w: ")
}
