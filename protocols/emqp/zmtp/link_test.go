package zmtp

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestALinkThatHasEndedWritesNothing: neither what was queued before nor what is queued behind.
func TestALinkThatHasEndedWritesNothing(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	out := newQueue[[]byte](newStore(1<<10, nil), 10)
	l := newLink(a, NewReader(a, Limits{}), Peer{}, Config{}, out)
	put := func(m string) { require.NoError(t, out.tryPut([]byte(m), len(m))) }
	put("first")
	got, err := l.next()
	require.NoError(t, err)
	assert.Equal(t, "first", string(got))
	put("before")
	l.end(ErrClosed)
	put("behind")
	got, err = l.next()
	require.ErrorIs(t, err, ErrClosed)
	assert.Nil(t, got)
}
