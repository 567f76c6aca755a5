package shared

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
)

func TestFewConnectionsAtATime(t *testing.T) {
	t.Parallel()
	place := memnet.NewPlace()
	l := LimitListener(place.MustListen())
	var conns []net.Conn
	accept := func() {
		go func() {
			nc, err := place.Dial(context.Background())
			if err == nil {
				_, _ = nc.Read(make([]byte, 1))
			}
		}()
		nc, err := l.Accept()
		require.NoError(t, err)
		conns = append(conns, nc)
	}
	for range maxConnections {
		accept()
	}
	assert.Len(t, l.(limitListener).slots, maxConnections) //nolint:forcetypeassert // it is one
	for range 2 {
		_ = conns[0].Close() // the second one makes no room
	}
	assert.Len(t, l.(limitListener).slots, maxConnections-1) //nolint:forcetypeassert // it is one
	accept()
	for _, nc := range conns {
		_ = nc.Close()
	}
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.Error(t, err)
	assert.Empty(t, l.(limitListener).slots) //nolint:forcetypeassert // it is one
}
