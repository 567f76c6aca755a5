package scenarios_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// embedded is a whole server in memory.
type embedded struct{ nw *memnet.Network }

func (e embedded) Dial(ctx context.Context) (net.Conn, error) {
	return e.nw.DialContext(ctx, "tcp", addr)
}

func TestAPlayRemovesWhatItLeft(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		left   []string
	}{
		"nothing left":    {producer + "C: INFO\nS: $\n", nil},
		"an enqueued job": {producer + "C: PUSH $job\nS: +OK\n", nil},
		"a job in another queue": {producer + "C: PUSH $job{\"queue\":\"$queue7\",\"retry\":3}\nS: +OK\nC: PUSH " +
			"$job{\"jid\":\"$jid2\"}\nS: +OK\n", nil},
		"a job that is held": {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${\"jid\":\"$jid\"}\n", nil},
		"many":               {"repeat 50 by 5 producers\nC: PUSH $job\nS: +OK\nend\n", nil},
		"after a mismatch":   {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: $-1\n", nil},
		"one that was acknowledged": {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${}\nC: ACK " +
			"{\"jid\":\"$jid\"}\nS: +OK\n", nil},
		"one that is dead": {consumer + "C: PUSH $job{\"retry\":-1}\nS: +OK\nC: FETCH $queue\nS: ${}\nC: FAIL " +
			"{\"jid\":\"$jid\",\"errtype\":\"E\",\"message\":\"m\",\"backtrace\":[]}\nS: +OK\n",
			[]string{"fwp-test-0001-jid-2 among the dead jobs"}},
		"one that is scheduled": {producer + "C: PUSH $job{\"at\":\"$now+1h\"}\nS: +OK\n",
			[]string{"fwp-test-0001-jid-1 in queue fwp-test-0001-queue-2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpdialect.Dialect{}, name, []byte(test.script))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				target := embedded{memnet.New()}
				server := fakes.NewServer(fakes.Config{Listen: func() (net.Listener, error) { return target.nw.Listen(addr) }})
				defer server.Close()
				player := &scenarios.Player{Target: target}
				r := player.Play(t.Context(), s, "fwp-test-0001")
				assert.Equal(t, test.left, r.Leftover)

				look, err := scenarios.Parse(fwpdialect.Dialect{}, "look", []byte("connect as consumer\nC: INFO\nS: "+
					"${\"faktory\":{\"sets\":{\"working\":0}}}\n"))
				require.NoError(t, err)
				assert.True(t, player.Play(t.Context(), look, "fwp-look-0001").Complete())
			})
		})
	}
}
