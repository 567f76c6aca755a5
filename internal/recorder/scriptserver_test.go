package recorder

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// served plays the server's side of a script to a client that sends the lines of a transcript: "a: LINE" on a
// connection that is opened at its first line. It returns what was received, with the name of the connection before it.
func served(t *testing.T, script string, lines ...string) (received, differences, left []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		parsed, err := scenarios.Parse(fwpdialect.Dialect{}, "test", []byte(script))
		require.NoError(t, err)
		server, err := NewScriptServer(parsed)
		require.NoError(t, err)
		place := memnet.NewPlace()
		ln := place.MustListen()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			server.Serve(ctx, ln)
		}()
		conns := map[string]*bufio.ReadWriter{}
		for _, line := range lines {
			name, text, _ := strings.Cut(line, ": ")
			c := conns[name]
			if c == nil {
				nc := place.MustDial()
				defer nc.Close()
				c = bufio.NewReadWriter(bufio.NewReader(nc), bufio.NewWriter(nc))
				conns[name] = c
				received = append(received, name+": "+message(t, nc, c.Reader))
			}
			_, _ = fmt.Fprintf(c, "%s\r\n", text)
			require.NoError(t, c.Flush())
			received = append(received, name+": "+message(t, nil, c.Reader))
		}
		if len(server.Left()) > 0 {
			cancel()
		}
		<-done
		cancel()
		differences, left = server.Differences(), server.Left()
	})
	return received, differences, left
}

func message(t *testing.T, _ net.Conn, in *bufio.Reader) string {
	t.Helper()
	line, err := in.ReadString('\n')
	if err != nil {
		return "<close>"
	}
	if strings.HasPrefix(line, "$") && line != "$-1\r\n" {
		text, err := in.ReadString('\n')
		require.NoError(t, err)
		line = text
	}
	return strings.TrimRight(line, "\r\n")
}

const pushedAndFetched = `
connect setup as producer
C[setup]: PUSH $job
S[setup]: +OK
connect c1 as raw
S[c1]: +HI {"v":2}
C[c1]: HELLO {"v":2,"wid":"$wid1","hostname":"h","pid":7,"labels":[]}
S[c1]: +OK
C[c1]: FETCH $queue1
S[c1]: ${"jid":"$jid1","jobtype":"t","args":[1]}
C[c1]: ACK {"jid":"$jid1"}
S[c1]: -
C[c1]: BEAT {"wid":"$wid1"}
S[c1]: +{"state":"quiet"} | ${"state":"quiet"}
C[c1]: END
S[c1]: +OK | <close>
`

func TestAScriptAnswersClients(t *testing.T) {
	t.Parallel()
	const hello = `a: HELLO {"v":2,"wid":"mine","hostname":"other","pid":1,"labels":["x"]}`
	received, differences, left := served(t, pushedAndFetched, hello, `a: BEAT {"wid":"mine"}`, "a: FETCH high")
	require.Len(t, received, 4)
	assert.Equal(t, []string{`a: +HI {"v":2}`, "a: +OK", "a: +OK"}, received[:3], "a BEAT at another time is answered")
	assert.Regexp(t, `^a: \{"args":\[1\],"jid":"fwp-script-\w+","jobtype":"t"\}$`, received[3])
	assert.Empty(t, differences)
	assert.Equal(t, []string{"c1 was played up to line 11"}, left)

	received, differences, _ = served(t, pushedAndFetched, hello, "a: FETCH high", `a: ACK {"jid":"another"}`,
		`a: BEAT {"wid":"mine"}`, "a: END")
	assert.Equal(t, []string{"a: -ERR as the script has it", `a: +{"state":"quiet"}`, "a: +OK"}, received[3:])
	require.Len(t, differences, 1)
	assert.Regexp(t, `^line 11: \$jid1 is another, but was fwp-script-\w+ before$`, differences[0])
}

// A reply waits for what another connection has to send before it, and connections are told apart by their lines.
func TestAScriptWithTwoConnections(t *testing.T) {
	t.Parallel()
	const script = `
connect worker as consumer
connect other as producer
C[other]: PUSH $job
S[other]: +OK
C[worker]: FETCH $queue
S[worker]: ${"jid":"$jid"}
`
	hello := `HELLO {"v":2}`
	received, differences, left := served(t, script, "x: "+hello,
		`x: PUSH {"jid":"j17","jobtype":"t","args":[],"queue":"q"}`, "y: "+hello, "y: FETCH q")
	assert.Equal(t, []string{`x: +HI {"v":2}`, "x: +OK", "x: +OK", `y: +HI {"v":2}`, "y: +OK", `y: {"jid":"j17"}`},
		received)
	assert.Empty(t, differences)
	assert.Empty(t, left)
}

func TestAScriptAndAnotherLine(t *testing.T) {
	t.Parallel()
	const script = "connect as producer\nC: PUSH $job\nS: +OK\n"
	received, differences, left := served(t, script, `x: HELLO {"v":2}`, "x: FLUSH", "x: END")
	assert.Equal(t, []string{"x: +OK", "x: -ERR the script does not have this line here", "x: +OK"}, received[1:])
	assert.Len(t, differences, 2)
	assert.Len(t, left, 1)
}

func TestAScriptThatCannotAnswer(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"connect as producer\nrestart\n", "repeat 3\n  C: INFO\n  S: $\nend\n"} {
		parsed, err := scenarios.Parse(fwpdialect.Dialect{}, "test", []byte(script))
		require.NoError(t, err)
		_, err = NewScriptServer(parsed)
		assert.ErrorContains(t, err, "a server that plays a script cannot play")
	}
}
