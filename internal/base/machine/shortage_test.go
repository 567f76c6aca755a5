package machine_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for number, want := range map[syscall.Errno]machine.Shortage{
		syscall.EMFILE: machine.Files, syscall.ENFILE: machine.Files, 10024: machine.Files,
		syscall.EADDRNOTAVAIL: machine.Ports, 10048: machine.Ports, 10049: machine.Ports,
		syscall.ENOBUFS: machine.Memory, syscall.ENOMEM: machine.Memory, 10055: machine.Memory,
		syscall.ECONNREFUSED: machine.NoShortage, syscall.ECONNRESET: machine.NoShortage, syscall.ETIMEDOUT: machine.NoShortage,
	} {
		err := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", number)})
		assert.Equal(t, want, machine.ShortageOf(err), number)
		assert.Equal(t, want == machine.NoShortage, machine.Explain(err) == "", number)
	}
	withoutIPv6 := &net.OpError{
		Op: "dial", Addr: &net.TCPAddr{IP: net.IPv6loopback}, Err: os.NewSyscallError("connect", syscall.EADDRNOTAVAIL),
	}
	assert.Equal(t, machine.NoShortage, machine.ShortageOf(withoutIPv6), "a machine without IPv6")
	assert.Equal(t, machine.NoShortage, machine.ShortageOf(nil))
	assert.Equal(t, machine.NoShortage, machine.ShortageOf(io.EOF))
	assert.Equal(t, machine.NoShortage, machine.ShortageOf(errors.New("EMFILE")))
}

func TestExplain(t *testing.T) {
	t.Parallel()
	err := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EADDRNOTAVAIL)}
	assert.Equal(t, "this process is out of local ports (cannot assign requested address): "+
		"widen net.ipv4.ip_local_port_range, or spread the connections over several addresses", machine.Explain(err))
}
