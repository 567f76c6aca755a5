package program

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/memnet"
)

func TestFewConnectionsAtATime(t *testing.T) {
	t.Parallel()
	network := memnet.New()
	ln, err := network.Listen("web:80")
	require.NoError(t, err)
	l := Few(ln)
	var open []net.Conn
	accept := func() {
		go func() {
			nc, err := network.DialContext(context.Background(), "tcp", "web:80")
			if err == nil {
				_, _ = nc.Read(make([]byte, 1))
			}
		}()
		nc, err := l.Accept()
		require.NoError(t, err)
		open = append(open, nc)
	}
	for range mostWeb {
		accept()
	}
	assert.Len(t, l.(few).open, mostWeb) //nolint:forcetypeassert // it is one
	for range 2 {
		_ = open[0].Close() // the second one makes no room
	}
	assert.Len(t, l.(few).open, mostWeb-1) //nolint:forcetypeassert // it is one
	accept()
	for _, nc := range open {
		_ = nc.Close()
	}
	require.NoError(t, ln.Close())
	_, err = l.Accept()
	require.Error(t, err)
	assert.Empty(t, l.(few).open) //nolint:forcetypeassert // it is one
}
