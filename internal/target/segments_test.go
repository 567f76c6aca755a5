//go:build unix

package target

import (
	"context"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSmallSegments: the server sends small segments on a connection of a target, so that its kernel takes a part of a
// long reply at once.
func TestSmallSegments(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	host, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for small, dial := range map[bool]func(context.Context) (net.Conn, error){
		true: (&Server{Address: Address{Host: host, Port: port}}).Dial,
		false: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
		},
	} {
		c, err := dial(t.Context())
		require.NoError(t, err)
		defer c.Close()
		s, err := l.Accept()
		require.NoError(t, err)
		defer s.Close()
		raw, err := s.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		octets, failed := 0, error(nil)
		require.NoError(t, raw.Control(func(fd uintptr) {
			octets, failed = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
		}))
		require.NoError(t, failed)
		assert.Equal(t, small, octets <= 536, "%d octets", octets)
	}
}
