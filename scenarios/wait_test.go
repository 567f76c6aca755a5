package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWait(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		want   time.Duration
	}{
		"nothing":          {"S: +HI {}\n", 0},
		"silences":         {"connect as consumer\nsilence 300ms\nsilence 1s\n", 1300 * time.Millisecond},
		"a lower bound":    {"C: FETCH $queue\nS 1.5s..2.5s: $-1 | -\n", 2 * time.Second},
		"an upper bound":   {"C: INFO\nS ..2s: $\n", 0},
		"an empty queue":   {"C: FETCH $queue\nS: $-1\n", 2 * time.Second},
		"maybe an empty":   {"C: FETCH $queue\nS: $ | $-1\n", 0},
		"null of no FETCH": {"C: INFO\nS: $-1\n", 0},
		"they overlap":     {"C: FETCH $queue\nsilence 700ms\nS: $-1\nsilence 1s\n", 3 * time.Second},
		"two connections":  {"C[a]: FETCH $queue\nC[b]: FETCH $queue\nS[a]: $-1\nS[b]: $-1\n", 2 * time.Second},
		"unordered": {"C[a]: FETCH $queue\nC[b]: FETCH $queue\nunordered\nS[a]: $-1\nS[b]: $-1\nend\n",
			2 * time.Second},
		"one after another": {"C: FETCH $queue\nS: $-1\nC: FETCH $queue\nS: $-1\n", 4 * time.Second},
		"side by side": {"parallel\nC[a]: FETCH $queue\nS[a]: $-1\nC[b]: FETCH $queue\nS[b] 3s..: $-1\nend\n",
			3 * time.Second},
		"a barrier": {"parallel\nC[a]: FETCH $queue\nS[a]: $-1\nsilence 1s on b\nbarrier\nC[b]: FETCH $queue\nS[b]: " +
			"$-1\nend\n", 4 * time.Second},
		"an awaited job": {"connect as consumer\nC: PUSH $job{\"at\":\"$now+4s\"}\nS: +OK\neventually\nC: FETCH " +
			"$queue\nS: ${}\nend\n", 4 * time.Second},
		"spelled out": {"connect as consumer\nC: PUSH {\"jid\":\"$jid\",\"at\": \"$now+3s@-08:00\"}\nS: " +
			"+OK\neventually\nC: FETCH $queue\nS: ${}\nend\n", 3 * time.Second},
		"not awaited": {"connect as consumer\nC: PUSH $job{\"at\":\"$now+4s\"}\nS: +OK\n", 0},
		"for a job that is not due": {"connect as consumer\nC: PUSH $job{\"at\":\"$now+24h\"}\nS: +OK\neventually\n" +
			"C: FETCH $queue\nS: ${}\nend\n", 0},
		"another field": {"connect as consumer\nC: PUSH $job{\"created_at\":\"$now+4s\"}\nS: +OK\neventually\nC: FETCH " +
			"$queue\nS: ${}\nend\n", 0},
		"not before":        {"connect as consumer\neventually 5s..60s\nC: INFO\nS: $\nend\n", 5 * time.Second},
		"repeated":          {"connect as consumer\nrepeat 3\nsilence 1s\nend\n", 3 * time.Second},
		"repeated by many":  {"repeat 5 by 2 consumers\nC: FETCH $queue\nS: $-1\nend\n", 6 * time.Second},
		"rows":              {"table\nC[a]: FETCH $queue\nS[a]: $-1\nC[b]: FETCH $queue\nS[b]: $-1\nend\n", 4 * time.Second},
		"what nobody sees":  {"waits: 15s\nS: +HI {}\n", 15 * time.Second},
		"more than is said": {"waits: 1s\nconnect as consumer\nsilence 2s\n", 2 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Parse(likeFWP{}, "x", []byte(test.script))
			require.NoError(t, err)
			assert.Equal(t, test.want, s.Wait())
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{
		"S: +HI {}\n":                          2,
		"connect as consumer\nC: INFO\nS: $\n": 2,
		"connect a as consumer\nconnect b as consumer\nC[c]: INFO\nS[c]: -\n": 4,
		"connect a as consumer\nconnect a as consumer\n":                      3,
		"connect boss as producer\nrepeat 400 by 20 consumers\nC: INFO\nS: $\nend\nrepeat 9 by 3 producers\nC: INFO\nS: " +
			"$\nend\n": 22,
		"repeat 5\nconnect as consumer\nend\nC: INFO\nS: $\n":  6,
		"connect a as consumer\nsilence 1s on a\nsilence 1s\n": 2,
	} {
		s, err := Parse(likeFWP{}, "x", []byte(script))
		require.NoError(t, err)
		assert.Equal(t, want, s.Connections(), script)
	}
}

func TestSends(t *testing.T) {
	t.Parallel()
	s, err := Parse(likeFWP{}, "x", []byte("C: FE<|>TCH $queue\nS: -\nC bad: INFO x\nS: -\nC: <close>\n"))
	require.NoError(t, err)
	assert.True(t, s.Sends("INFO"))
	assert.False(t, s.Sends("PUSH"))
}

func TestWaitsHeader(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "soon", "-2s", "0s", "5"} {
		_, err := Parse(likeFWP{}, "x", []byte("waits: "+value+"\nS: +HI {}\n"))
		assert.ErrorContains(t, err, "is not a valid duration", value)
	}
}
