package client

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/measure"
)

func TestKindsOfFailure(t *testing.T) {
	t.Parallel()
	for number, kind := range map[syscall.Errno]measure.ErrorKind{
		syscall.ECONNREFUSED: measure.Refused, wsaRefused: measure.Refused,
		syscall.EMFILE: measure.OutOfFiles, syscall.EADDRNOTAVAIL: measure.OutOfPorts, syscall.ENOMEM: measure.OutOfMemory,
		syscall.ECONNRESET: measure.Reset, wsaReset: measure.Reset, syscall.ENOTCONN: measure.Reset,
		syscall.ETIMEDOUT: measure.Timeout,
	} {
		err := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)})
		assert.Equal(t, kind, opening(err), err)
	}
	assert.Equal(t, measure.Other, opening(errBroken))
}

// What a server sends that the command does not have is reported with the command, the
// name of the breach, and what came.
func TestBreachesNameCommandAndReply(t *testing.T) {
	t.Parallel()
	cases := []struct{ phase, line, verb, breach, what string }{
		{"greeting", "+HI\r\n", "", "foreign-reply:", "greeting: expected a simple string"},
		{"greeting", "HTTP/1.1 400\r\n", "", "grammar:reply type", "the greeting is invalid RESP"},
		{"hello", "+YES\r\n", "HELLO", "foreign-reply:HELLO", `HELLO was answered with the simple string "YES"`},
		{"pushing", "$-1\r\n", "PUSH", "foreign-reply:PUSH", "PUSH was answered with the null bulk string"},
		{"fetching", ok, "FETCH", "foreign-reply:FETCH", `FETCH was answered with the simple string "OK"`},
		{"fetching", "*-1\r\n", "FETCH", "grammar:null", "the reply to FETCH is invalid RESP"},
		{"acknowledges", ":7\r\n", "ACK", "foreign-reply:ACK", "ACK was answered with the integer 7"},
	}
	for _, test := range cases {
		s, c := at(t, test.phase)
		s.data(c, test.line)
		b := s.shard.Breaches()
		require.Len(t, b, 1)
		assert.Equal(t, int64(1), b[0].Count)
		assert.Equal(t, test.verb, b[0].First.Verb)
		assert.Equal(t, test.breach, b[0].First.Breach)
		assert.Contains(t, b[0].First.Error(), test.what)
	}
}
