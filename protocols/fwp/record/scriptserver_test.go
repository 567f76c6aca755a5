package record

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// playServer plays the server's side of a script to the clients of a conversation. It returns what they received.
func playServer(t *testing.T, script, conversation string) (received string, differences, unplayed []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		parsed, err := scenarios.Parse(fwpscript.Dialect{}, "test", []byte(script))
		require.NoError(t, err)
		server, err := NewScriptServer(parsed)
		require.NoError(t, err)
		events, err := transcript.Parse(conversation)
		require.NoError(t, err)
		place := memnet.NewPlace()
		ctx, cancel := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		ln := place.MustListen()
		serving.Go(func() { server.Serve(ctx, ln) })
		k := transcript.Clients{Log: transcript.NewLog(), Dial: place.MustDial, Wait: synctest.Wait}
		k.Hold(events)
		if len(server.UnplayedConns()) > 0 {
			cancel()
		}
		received = transcript.Text(slices.DeleteFunc(k.Events(), func(e transcript.Event) bool {
			return e.Kind != transcript.Server
		}))
		serving.Wait()
		cancel()
		k.Close()
		differences, unplayed = server.Differences(), server.UnplayedConns()
	})
	return received, differences, unplayed
}

const pushAndFetch = `
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
	const hello = `a C: HELLO {"v":2,"wid":"mine","hostname":"other","pid":1,"labels":["x"]}` + "\n"
	received, differences, unplayed := playServer(t, pushAndFetch, hello+`a C: BEAT {"wid":"mine"}`+"\na C: FETCH high")
	assert.Regexp(t, `^0.000 s a S: \+HI {"v":2}
0.000 s a S: \+OK
0.000 s a S: \+OK
0.000 s a S: \$\d+\\r\\n\{"args":\[1\],"jid":"fwp-script-\w+","jobtype":"t"\}\n$`, received, "a BEAT at another time is answered")
	assert.Empty(t, differences)
	assert.Equal(t, []string{"c1 was played up to line 11"}, unplayed)

	received, differences, _ = playServer(t, pushAndFetch, hello+`
		a C: FETCH high
		a C: ACK {"jid":"another"}
		a C: BEAT {"wid":"mine"}
		a C: END`)
	assert.Contains(t, received, `
0.000 s a S: -ERR as the script has it
0.000 s a S: +{"state":"quiet"}
0.000 s a S: +OK
`)
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
	received, differences, unplayed := playServer(t, script, `
		x C: HELLO {"v":2}
		x C: PUSH {"jid":"j17","jobtype":"t","args":[],"queue":"q"}
		+1s
		y C: HELLO {"v":2}
		y C: FETCH q`)
	assert.Equal(t, `0.000 s x S: +HI {"v":2}
0.000 s x S: +OK
0.000 s x S: +OK
1.000 s y S: +HI {"v":2}
1.000 s y S: +OK
1.000 s y S: $13\r\n{"jid":"j17"}
`, received)
	assert.Empty(t, differences)
	assert.Empty(t, unplayed)
}

func TestAScriptAndAnotherLine(t *testing.T) {
	t.Parallel()
	const script = "connect as producer\nC: PUSH $job\nS: +OK\n"
	received, differences, unplayed := playServer(t, script, `x C: HELLO {"v":2}`+"\nx C: FLUSH\nx C: END")
	assert.Equal(t, `0.000 s x S: +HI {"v":2}
0.000 s x S: +OK
0.000 s x S: -ERR the script does not have this line here
0.000 s x S: +OK
`, received)
	assert.Len(t, differences, 2)
	assert.Len(t, unplayed, 1)
}

func TestAScriptThatCannotAnswer(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"connect as producer\nrestart\n", "repeat 3\n  C: INFO\n  S: $\nend\n"} {
		parsed, err := scenarios.Parse(fwpscript.Dialect{}, "test", []byte(script))
		require.NoError(t, err)
		_, err = NewScriptServer(parsed)
		assert.ErrorContains(t, err, "a server that plays a script cannot play")
	}
}
