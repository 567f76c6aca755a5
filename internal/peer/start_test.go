package peer

import (
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheNetworkOfThisMachineHasHooks(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		accepted := make(chan bool, 9)
		s, err := p.Start(Config{Network: TCP{Wrap: func(nc net.Conn) net.Conn { accepted <- true; return nc }}})
		require.NoError(t, err, p.Name)
		u, err := url.Parse(s.URL)
		require.NoError(t, err, p.Name)
		nc, err := TCP{}.DialContext(t.Context(), "tcp", u.Host)
		require.NoError(t, err, p.Name)
		<-accepted
		_ = nc.Close()
		s.Close()
	}
	errNoticed := errors.New("noticed")
	n := TCP{Notice: func(error) error { return errNoticed }}
	_, err := n.Listen("nowhere")
	require.ErrorIs(t, err, errNoticed)
	_, err = n.DialContext(t.Context(), "tcp", "nowhere")
	assert.ErrorIs(t, err, errNoticed)
}
