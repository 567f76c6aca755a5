package shortage_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/shortage"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for number, want := range map[syscall.Errno]shortage.Kind{
		syscall.EMFILE: shortage.Files, syscall.ENFILE: shortage.Files, 10024: shortage.Files,
		syscall.EADDRNOTAVAIL: shortage.Ports, 10048: shortage.Ports, 10049: shortage.Ports,
		syscall.ENOBUFS: shortage.Memory, syscall.ENOMEM: shortage.Memory, 10055: shortage.Memory,
		syscall.ECONNREFUSED: shortage.None, syscall.ECONNRESET: shortage.None, syscall.ETIMEDOUT: shortage.None,
	} {
		err := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", number)})
		assert.Equal(t, want, shortage.Of(err), number)
		assert.Equal(t, want == shortage.None, shortage.Explain(err) == "", number)
	}
	without := &net.OpError{
		Op: "dial", Addr: &net.TCPAddr{IP: net.IPv6loopback}, Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL),
	}
	assert.Equal(t, shortage.None, shortage.Of(without), "a machine without IPv6")
	assert.Equal(t, shortage.None, shortage.Of(nil))
	assert.Equal(t, shortage.None, shortage.Of(io.EOF))
	assert.Equal(t, shortage.None, shortage.Of(errors.New("EMFILE")))
}

func TestExplain(t *testing.T) {
	t.Parallel()
	err := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EADDRNOTAVAIL)}
	assert.Equal(t, "this process is out of local ports (cannot assign requested address): "+
		"widen net.ipv4.ip_local_port_range, or spread the connections over several addresses", shortage.Explain(err))
}
