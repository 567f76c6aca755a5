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
	l := Few(place.MustListen())
	var open []net.Conn
	accept := func() {
		go func() {
			nc, err := place.Dial(context.Background())
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
	require.NoError(t, l.Close())
	_, err := l.Accept()
	require.Error(t, err)
	assert.Empty(t, l.(few).open) //nolint:forcetypeassert // it is one
}
