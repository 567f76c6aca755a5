package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
