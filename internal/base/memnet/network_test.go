package memnet_test

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
)

func TestListen(t *testing.T) {
	t.Parallel()
	network := memnet.New()
	first, err := network.Listen("server:7419")
	require.NoError(t, err)
	assert.Equal(t, "server:7419", first.Addr().String())
	assert.Equal(t, "tcp", first.Addr().Network())

	_, err = network.Listen("server:7419")
	require.ErrorIs(t, err, syscall.EADDRINUSE)

	require.NoError(t, first.Close())
	require.ErrorIs(t, first.Close(), net.ErrClosed)
	_, err = first.Accept()
	require.ErrorIs(t, err, net.ErrClosed)

	_, err = network.Listen("server:7419")
	require.NoError(t, err, "the name is free again after Close")
}

func TestListenPicksPort(t *testing.T) {
	t.Parallel()
	network := memnet.New()
	addrs := make(map[string]bool)
	for _, addr := range []string{"[::1]:0", "[::1]:0", "[::1]:"} {
		l, err := network.Listen(addr)
		require.NoError(t, err)
		host, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		assert.Equal(t, "::1", host)
		assert.NotEqual(t, "0", port)
		assert.False(t, addrs[port], "port %s was given away twice", port)
		addrs[port] = true
	}
}

func TestAddressErrors(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"", "server", "server:http", "server:65536", "server:-1", "::1:7419"} {
		t.Run(addr, func(t *testing.T) {
			t.Parallel()
			network := memnet.New()
			_, err := network.Listen(addr)
			var opError *net.OpError
			require.ErrorAs(t, err, &opError)
			assert.Equal(t, "listen", opError.Op)
			_, err = network.DialContext(t.Context(), "tcp", addr)
			require.ErrorAs(t, err, &opError)
			assert.Equal(t, "dial", opError.Op)
		})
	}
}

func TestDialAddresses(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	assert.Equal(t, "server:7419", client.RemoteAddr().String())
	assert.Equal(t, "server:7419", server.LocalAddr().String())
	assert.Equal(t, client.LocalAddr(), server.RemoteAddr())
	assert.NotEqual(t, client.LocalAddr(), client.RemoteAddr())
}

func TestDialRefused(t *testing.T) {
	t.Parallel()
	network := memnet.New()
	_, err := network.DialContext(t.Context(), "tcp", "server:7419")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.ErrorContains(t, err, "dial tcp server:7419: connect: ")

	l, err := network.Listen("server:7419")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	_, err = network.DialContext(t.Context(), "tcp", "server:7419")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)

	_, err = network.DialContext(t.Context(), "udp", "server:7419")
	require.ErrorIs(t, err, net.UnknownNetworkError("udp"))
}

func TestDialWithEndedContext(t *testing.T) {
	t.Parallel()
	network := memnet.New()
	_, err := network.Listen("server:7419")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = network.DialContext(ctx, "tcp", "server:7419")
	require.ErrorIs(t, err, context.Canceled)
}

func TestCloseResetsUnaccepted(t *testing.T) {
	t.Parallel()
	l, client := dialUnaccepted(t)
	require.NoError(t, l.Close())
	_, err := client.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.ECONNRESET)
}

func TestAcceptedOutlivesListener(t *testing.T) {
	t.Parallel()
	l, client := dialUnaccepted(t)
	server, err := l.Accept()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	send(t, client, "PING")
	assert.Equal(t, "PING", receive(t, server, 4))
}

// conn is what the connections can do beside net.Conn.
type conn interface {
	net.Conn
	CloseWrite() error
	SetLinger(sec int) error
}

// dialUnaccepted returns a listener and a connection to it that is not accepted yet.
func dialUnaccepted(t *testing.T) (net.Listener, conn) {
	t.Helper()
	network := memnet.New()
	l, err := network.Listen("server:7419")
	require.NoError(t, err)
	nc, err := network.DialContext(t.Context(), "tcp", "server:7419")
	require.NoError(t, err)
	client, ok := nc.(conn)
	require.True(t, ok)
	return l, client
}

// connect returns the two ends of a new connection.
func connect(t *testing.T) (client, server conn) {
	t.Helper()
	l, client := dialUnaccepted(t)
	defer func() { require.NoError(t, l.Close()) }()
	accepted, err := l.Accept()
	require.NoError(t, err)
	server, ok := accepted.(conn)
	require.True(t, ok)
	return client, server
}

func isTimeout(err error) bool {
	netError, ok := err.(net.Error) //nolint:errorlint // the outermost error must be one, as in package net
	return ok && netError.Timeout() && os.IsTimeout(err)
}
