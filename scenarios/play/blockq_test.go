package play_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/blockq/blockqdialect"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// blockqTarget is a server of the second protocol.
type blockqTarget struct{ nw *memnet.Network }

func (b blockqTarget) Dial(ctx context.Context) (net.Conn, error) {
	return b.nw.DialContext(ctx, "tcp", addr)
}

// playBlockq plays a script on a server with a fault; then look, in which $queue is the
// same, on the same server.
func playBlockq(t *testing.T, fault blockq.Fault, texts ...string) (runs []*play.Run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nw, server := memnet.New(), &blockq.Server{Fault: fault}
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		go func() { _ = server.Serve(l) }()
		player := &play.Player{Target: blockqTarget{nw}}
		for _, text := range texts {
			s, err := scenarios.Parse(blockqdialect.Dialect{}, "test.blockq", []byte(text))
			require.NoError(t, err)
			require.Empty(t, scenarios.Lint(s))
			assert.Equal(t, text, string(scenarios.Format(s)))
			runs = append(runs, player.Play(t.Context(), s, "test"))
		}
		_ = server.Close()
		synctest.Wait()
	})
	return runs
}

// delivered is a job that comes back as it was put.
const delivered = `connect as producer
C: put $queue $id 5
C: hello
S: OK
C: count $queue
S: COUNT 1
C: take $queue
S: JOB $id "hello"
C: done $id
S: OK
C: take $queue
S: NONE
`

// TestASecondProtocol carries another protocol through the language and the engine.
func TestASecondProtocol(t *testing.T) {
	t.Parallel()
	const allMatched = "4 matched\n6 matched\n8 matched\n10 matched\n12 matched\n"
	tests := map[string]struct {
		fault blockq.Fault
		text  string
		want  string
	}{
		"delivered":       {"", delivered, allMatched},
		"delivered twice": {blockq.DeliveredTwice, delivered, "4 matched\n6 matched\n8 matched\n10 matched\n12 mismatched\n"},
		"lost": {blockq.Lost, delivered,
			"4 matched\n6 mismatched\n8 not reached\n10 not reached\n12 not reached\n"},
		"not answered": {blockq.Silent, delivered,
			"4 matched\n6 matched\n8 matched\n10 unsure\n12 not reached\nbreach no-reply at 10\n"},
		"foreign": {blockq.Foreign, delivered,
			"4 matched\n6 matched\n8 unsure\n10 not reached\n12 not reached\nbreach foreign-reply:take at 8\n"},
		"a block that is too short": {blockq.BlockShort, delivered,
			"4 matched\n6 matched\n8 unsure\n10 not reached\n12 not reached\nbreach grammar:grammar at 8\n"},
		"JSON in a part": {"", "connect as producer\nC: put $queue $id 7\nC: {\"a\":1}\nS: OK\nC: take $queue\nS: JOB " +
			"$other {\"a\":int}\nC: done $other\nS: OK\n", "4 matched\n6 matched\n8 matched\n"},
		"another part": {"", "connect as producer\nC: put $queue $id 5\nC: hello\nS: OK\nC: take $queue\nS: JOB $id " +
			"\"bye\" | NONE\n", "4 matched\n6 mismatched\n"},
		"refused, and goes on": {"", "connect as consumer\nC bad: take\nS: ERR\nC: take $queue\nS: ERR /x/ | NONE\n",
			"3 matched\n5 matched\n"},
		"by hand": {"", "C bad: take $queue\nS: ERR join first\nC: join me\nS: OK\nC: bye\nS: <fin>\n",
			"2 matched\n4 matched\n6 matched\n"},
		"a repetition": {"", `repeat 6 by 3 consumers
  C: put $queue $id# 1
  C: x
  S: OK
  C: take $queue
  S: JOB $taken "x"
  C: done $taken
  S: OK
end
`, "4 matched\n6 matched\n8 matched\n"},
		"side by side": {"", `connect a as producer
connect b as consumer
parallel
  C[a]: ping
  S[a]: OK
  C[b]: take $queue
  S[b]: NONE
end
`, "5 matched\n7 matched\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := playBlockq(t, test.fault, test.text)[0]
			assert.Equal(t, test.want, outcomes(run))
			assert.Empty(t, run.NotServing)
			assert.NoError(t, run.Err)
		})
	}
}

func TestASecondProtocolIsCleanedUp(t *testing.T) {
	t.Parallel()
	const two = "connect as producer\nC: put work $id1 1\nC: x\nS: OK\nC: put work $id2 0\nC:\nS: OK\nC: take work\nS: " +
		"JOB $id1 \"x\"\n"
	runs := playBlockq(t, "", two, "connect as producer\nC: count work\nS: COUNT 0\nC: done test-id1-2\nS: ERR unknown\n")
	assert.Equal(t, "4 matched\n7 matched\n9 matched\n", outcomes(runs[0]))
	assert.Empty(t, runs[0].Leftover)
	assert.Equal(t, "3 matched\n5 matched\n", outcomes(runs[1]))
}

// A server that dies in the middle of a script is found dead with the protocol's own question.
func TestASecondProtocolWhoseServerDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nw, server := memnet.New(), &blockq.Server{}
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		go func() { _ = server.Serve(l) }()
		s, err := scenarios.Parse(blockqdialect.Dialect{}, "test", []byte("connect as consumer\nC: ping\nS: OK\nsilence "+
			"1m\nC: ping\nS: OK\n"))
		require.NoError(t, err)
		time.AfterFunc(30*time.Second, func() { _ = server.Close() })
		run := (&play.Player{Target: blockqTarget{nw}}).Play(t.Context(), s, "test")
		assert.NotEmpty(t, run.NotServing)
		assert.Contains(t, outcomes(run), "breach consumer-closed")
	})
}

func TestLintOfASecondProtocol(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"C: take $queue\nS: ERR\n": "1:4: this line breaks the protocol: join first",
		"connect as producer\nC: take\nS: ERR\n": "2:4: this line breaks the protocol: " +
			"byte 0: expected",
		"connect as producer\nC bad: ping\nS: OK\n": "2:8: this line is marked bad, but a " +
			"client may send it",
		"connect as producer\nC: put q i 1\nC: xy\nS: ERR\n": "3:4: this line breaks the protocol: byte",
		"connect as producer\nC: bye\nS: <fin>\nC: ping\n": "4:4: this line breaks the protocol: " +
			"ping may not be sent while the connection is ended",
		"connect as producer\nC: take $queue\nS: JOB $x \"a\"\nC: done $y\nS: OK\n": "4:4: $y has no value here",
	} {
		s, err := scenarios.Parse(blockqdialect.Dialect{}, "x", []byte(text))
		require.NoError(t, err)
		assert.ErrorContains(t, scenarios.Lint(s), want, text)
	}
	_, err := scenarios.Parse(blockqdialect.Dialect{}, "x", []byte("C: join me\nS: +OK\n"))
	require.ErrorContains(t, err, "expected a blockq reply or an ending")
	require.ErrorContains(t, err, `write OK, NONE, JOB $id "text", <close> or <any>`)
	_, err = scenarios.Parse(blockqdialect.Dialect{}, "x", []byte("S: OKAY\n"))
	require.Error(t, err, "a word is the whole word")
}
