package blockq

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/memnet"
)

// dialogue serves one connection on which all of in is sent, and returns what the
// server sends until nothing more comes.
func dialogue(t *testing.T, server *Server, in string) string {
	t.Helper()
	var out strings.Builder
	synctest.Test(t, func(t *testing.T) {
		conn := dial(t, server)
		_, err := io.WriteString(conn, in)
		require.NoError(t, err)
		synctest.Wait()
		go func() { _, _ = io.Copy(&out, conn) }() // ends with the connection
		synctest.Wait()
		require.NoError(t, server.Close())
		synctest.Wait()
	})
	return out.String()
}

func dial(t *testing.T, server *Server) net.Conn {
	t.Helper()
	network := memnet.New()
	l, err := network.Listen("blockq:1")
	require.NoError(t, err)
	go func() { assert.NoError(t, server.Serve(l)) }()
	conn, err := network.DialContext(t.Context(), "tcp", "blockq:1")
	require.NoError(t, err)
	return conn
}

func TestServer(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, out string }{
		"life of a job": {
			"join me\r\ncount q\r\nput q a 3\r\n\r\nb\r\nput q b 0\r\n\r\ncount q\r\ntake q\r\ncount q\r\ndone a\r\ntake " +
				"q\r\ntake q\r\n",
			"OK\r\nCOUNT 0\r\nOK\r\nOK\r\nCOUNT 2\r\nJOB a 3\r\n\r\nb\r\nCOUNT 1\r\nOK\r\nJOB b 0\r\n\r\nNONE\r\n",
		},
		"queues": {"join me\r\nput q a 1\r\nx\r\ntake r\r\n", "OK\r\nOK\r\nNONE\r\n"},
		"join first": {"ping\r\nput q a 1\r\nx\r\ntake q\r\njoin me\r\ntake q\r\n", "OK\r\nERR join first\r\nERR join " +
			"first\r\nOK\r\nNONE\r\n"},
		"joined already": {"join me\r\njoin me\r\n", "OK\r\nERR joined already\r\n"},
		"duplicate":      {"join me\r\nput q a 1\r\nx\r\nput r a 1\r\nx\r\n", "OK\r\nOK\r\nERR duplicate\r\n"},
		"duplicate, taken": {"join me\r\nput q a 0\r\n\r\ntake q\r\nput q a 0\r\n\r\n",
			"OK\r\nOK\r\nJOB a 0\r\n\r\nERR duplicate\r\n"},
		"again when done": {"join me\r\nput q a 0\r\n\r\ntake q\r\ndone a\r\nput q a 0\r\n\r\n",
			"OK\r\nOK\r\nJOB a 0\r\n\r\nOK\r\nOK\r\n"},
		"unknown": {"join me\r\ndone a\r\nput q a 1\r\nx\r\ndone a\r\n",
			"OK\r\nERR unknown\r\nOK\r\nERR unknown\r\n"},
		"bye":           {"ping\r\nbye\r\nping\r\n", "OK\r\n"},
		"malformed":     {"hello\r\ntake\r\nping\r\n", "ERR malformed\r\nERR malformed\r\nOK\r\n"},
		"invalid size":  {"put q a -1\r\nping\r\n", "ERR malformed\r\n"},
		"invalid block": {"put q a 1\r\nxyz\r\nping\r\n", "ERR malformed\r\n"},
		"long line":     {strings.Repeat("x", 257) + "\r\nping\r\n", "ERR malformed\r\n"},
		"not yet":       {"put q a 5\r\nx", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.out, dialogue(t, new(Server), test.in))
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const in = "join me\r\nput q a 1\r\nx\r\ntake q\r\ntake q\r\ntake q\r\ndone a\r\n"
	tests := map[Fault]string{
		"":             "OK\r\nOK\r\nJOB a 1\r\nx\r\nNONE\r\nNONE\r\nOK\r\n",
		DeliveredTwice: "OK\r\nOK\r\nJOB a 1\r\nx\r\nJOB a 1\r\nx\r\nNONE\r\nOK\r\n",
		Lost:           "OK\r\nOK\r\nNONE\r\nNONE\r\nNONE\r\nERR unknown\r\n",
		Silent:         "OK\r\nOK\r\nJOB a 1\r\nx\r\nNONE\r\nNONE\r\n",
		Foreign:        "OK\r\nOK\r\nCOUNT 1\r\nNONE\r\nNONE\r\nOK\r\n",
		BlockShort:     "OK\r\nOK\r\nJOB a 2\r\nx\r\nNONE\r\nNONE\r\nOK\r\n",
	}
	for _, fault := range []Fault{"", DeliveredTwice, Lost, Silent, Foreign, BlockShort} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			require.Contains(t, tests, fault)
			assert.Equal(t, tests[fault], dialogue(t, &Server{Fault: fault}, in))
		})
	}
}

// TestTakenOutlivesItsConnection: a job that a client took is still done by its id
// on another connection, and is not handed out again before.
func TestTakenOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var server Server
		defer func() { _ = server.Close() }()
		for _, step := range []struct{ in, out string }{
			{"join one\r\nput q a 1\r\nx\r\ntake q\r\nbye\r\n", "OK\r\nOK\r\nJOB a 1\r\nx\r\n"},
			{"join two\r\ntake q\r\ndone a\r\nbye\r\n", "OK\r\nNONE\r\nOK\r\n"},
		} {
			conn := dial(t, &server)
			_, err := io.WriteString(conn, step.in)
			require.NoError(t, err)
			out, err := io.ReadAll(conn)
			require.NoError(t, err)
			assert.Equal(t, step.out, string(out))
		}
	})
}

func TestClosedServerServesNoClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var server Server
		require.NoError(t, server.Close())
		l, err := memnet.New().Listen("blockq:1")
		require.NoError(t, err)
		require.NoError(t, server.Serve(l))
		_, err = l.Accept()
		assert.ErrorIs(t, err, net.ErrClosed)
	})
}
