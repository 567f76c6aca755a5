package memnet_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	p := memnet.NewPlace()
	_, err := p.Dial(t.Context())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.Panics(t, func() { p.MustDial() })
	l := p.MustListen()
	client := p.MustDial()
	server, err := l.Accept()
	require.NoError(t, err)
	assert.Equal(t, p.Addr, client.RemoteAddr().String())
	assert.Equal(t, client.LocalAddr(), server.RemoteAddr())
	_, err = p.Listen()
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	assert.Panics(t, func() { p.MustListen() })
	other := p.Network.At("other:1").MustListen()
	assert.Equal(t, "other:1", other.Addr().String())
}
