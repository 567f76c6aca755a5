package suite_test

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// answerWith makes a server answer a command in another way.
func answerWith(verb, reply string) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == verb {
			e.Bytes = []byte(reply)
		}
	}
}

// peer serves one connection with plain bytes.
type peer func(c net.Conn)

// greeting sends text at once and then reads on.
func greeting(text string) peer {
	return func(c net.Conn) {
		_, _ = c.Write([]byte(text))
		_, _ = bufio.NewReader(c).ReadString(0)
	}
}

// answer makes a peer that waits for a line, and sends text.
func answer(text string) peer {
	return func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = c.Write([]byte(text))
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		peer      peer
		want      conformance.Identity
		complaint string
	}{
		"open": {greeting("+HI {\"v\":2}\r\n"), conformance.Identity{Greeting: `HI {"v":2}`}, ""},
		"protected": {greeting("+HI {\"v\":2,\"i\":9,\"s\":\"x\"}\r\n"),
			conformance.Identity{Greeting: `HI {"v":2,"i":9,"s":"x"}`, Protected: true}, ""},
		"a bugy greeting":    {greeting("$12\r\nHI {\"v\":2.5}\r\n"), conformance.Identity{Greeting: "$12"}, ""},
		"HI after the HELLO": {answer("+HI {\"v\":2}\r\n"), conformance.Identity{}, ""},
		"an error": {greeting("-LOADING the dataset\r\n"), conformance.Identity{},
			"the server greeted with an error: LOADING the dataset"},
		"closes at once": {func(net.Conn) {}, conformance.Identity{}, "closed the connection without a greeting"},
		"says nothing":   {greeting(""), conformance.Identity{}, "no greeting within 10s"},
		"HTTP": {answer("HTTP/1.1 400 Bad Request\r\n\r\n"), conformance.Identity{},
			`answered HELLO with "HTTP/1.1 400 Bad Request"`},
		"SSH": {greeting("SSH-2.0-OpenSSH\r\n"), conformance.Identity{}, `first bytes are "SSH-2.0-OpenSSH`},
		"TLS": {answer("\x15\x03\x01\x00\x02\x02\x16"), conformance.Identity{}, "answered HELLO with"},
		"too many iterations": {greeting("+HI {\"v\":2,\"i\":2000000000,\"s\":\"x\"}\r\n"), conformance.Identity{},
			"the server asks for 2000000000 iterations, outside 1 to 1048576"},
		"no iterations": {greeting("+HI {\"v\":2,\"i\":0,\"s\":\"\"}\r\n"),
			conformance.Identity{Greeting: `HI {"v":2,"i":0,"s":""}`, Protected: true}, ""},
		"no end": {greeting("+HI {\"v\":2,\"x\":\"" + strings.Repeat("x", 100_000)), conformance.Identity{},
			"does not end within 64 KiB"},
		"no end, not RESP": {greeting(strings.Repeat("x", 100_000)), conformance.Identity{}, "does not end within 64 KiB"},
		"redis":            {answer("-ERR unknown command 'HELLO'\r\n"), conformance.Identity{}, "answered HELLO with"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				target := memnet.NewPlace()
				l := target.MustListen()
				go func() {
					if c, err := l.Accept(); err == nil {
						test.peer(c)
						_ = c.Close()
					}
				}()
				id, err := fwpsuite.Protocol().Identify(t.Context(), target, 10*time.Second)
				_ = l.Close()
				if test.complaint != "" {
					require.ErrorContains(t, err, test.complaint)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, test.want, id)
			})
		})
	}
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	singleHash, err := fwp.PasswordHash("secret", "salt", 1)
	require.NoError(t, err)
	protected := fakes.Config{Password: "secret"}
	careless := fakes.Config{Salt: "salt", Iterations: 2, AcceptHash: singleHash} // hashes once too seldom
	unusual, closing := protected, protected
	unusual.Hook = answerWith("HELLO", "+WELCOME\r\n")
	closing.Hook = func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "HELLO" {
			e.Bytes, e.Close = nil, true
		}
	}
	tests := map[string]struct {
		password string
		config   fakes.Config
		ok       bool
	}{
		"right":                         {"secret", protected, true},
		"wrong":                         {"guess", protected, false},
		"right, and the server is bugy": {"secret", careless, true},
		"neither yes nor no":            {"secret", unusual, true},
		"no, by closing":                {"secret", closing, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				target := memnet.NewPlace()
				config := test.config
				config.Listen = target.Listen
				server := fakes.NewServer(config)
				defer server.Close()
				err := fwpsuite.Authenticate(t.Context(), target, test.password, time.Second)
				if test.ok {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, conformance.ErrDeclined)
				}
			})
		})
	}
}
