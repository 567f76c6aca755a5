package emqpsuite_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/suitetest"
	"github.com/fwpsuite/fwp/zmtp"
)

// altered is a broker whose octets are changed on their way to its clients.
type altered struct {
	*suitetest.Broker
	change func([]byte) []byte
}

func (a altered) Dial(ctx context.Context) (net.Conn, error) {
	nc, err := a.Broker.Dial(ctx)
	return &alteredConn{Conn: nc, change: a.change}, err
}

type alteredConn struct {
	net.Conn
	change func([]byte) []byte
	rest   []byte
}

func (c *alteredConn) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		buffer := make([]byte, 4<<10)
		n, err := c.Conn.Read(buffer)
		if err != nil {
			return 0, err
		}
		c.rest = c.change(buffer[:n])
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestSockets: a broker of another socket type, and one that sends what is no ZMTP, are found. The hook of the broker
// sees messages only, so these faults are none of its catalogue.
func TestSockets(t *testing.T) {
	t.Parallel()
	for clause, change := range map[string]func([]byte) []byte{
		"EMQP-SOCK-01": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("ROUTER"), []byte("DEALER")) },
		"EMQP-SOCK-02": func(b []byte) []byte {
			if bytes.Contains(b, []byte(zmtp.READY)) {
				return append(b, 0xff, 0xff)
			}
			return b
		},
	} {
		t.Run(clause, func(t *testing.T) {
			t.Parallel()
			picked := slices.DeleteFunc(checks(t), func(c conformance.Check) bool {
				return c.Describe().ID != "frames/router"
			})
			synctest.Test(t, func(t *testing.T) {
				on := altered{suitetest.NewBroker(conforming, false), change}
				require.NoError(t, on.Restart(t.Context()))
				server, end, err := start(conforming, false)
				require.NoError(t, err)
				end()
				server.Target, server.Fresh = on, nil
				red, _ := suitetest.Red(judge(t, server, picked))
				on.Close()
				assert.Contains(t, red, clause)
			})
		})
	}
}
