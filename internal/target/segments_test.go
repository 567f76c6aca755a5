//go:build unix

package target

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAPartIsTakenAtOnce: a server that takes one send for the whole of a reply of 1 MiB sends a part, on a connection
// of a target; on another one the kernel would take all of it.
func TestAPartIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	host, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	c, err := (&Server{Address: Address{Host: host, Port: port}}).Dial(t.Context())
	require.NoError(t, err)
	defer c.Close()
	s, err := l.Accept()
	require.NoError(t, err)
	defer s.Close()
	raw, err := s.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	n, failed := 0, error(nil)
	require.NoError(t, raw.Write(func(fd uintptr) bool {
		n, failed = syscall.Write(int(fd), make([]byte, 1<<20))
		return true
	}))
	require.NoError(t, failed)
	assert.Less(t, n, 1<<20) // how much of it depends on the moment
}
