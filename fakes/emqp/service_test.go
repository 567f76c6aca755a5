package emqp_test

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	"github.com/fwpsuite/fwp/internal/base/memnet"
)

// A service has a fresh Config at each start, and no listener that is left over when it cannot start.
func TestService(t *testing.T) {
	t.Parallel()
	front, back, starts, errFull := memnet.NewPlace(), memnet.NewPlace(), 0, errors.New("full")
	s := &fakeemqp.Service{
		Config: func() fakeemqp.Config { starts++; return fakeemqp.Config{} }, Front: front.Listen, Back: back.Listen,
	}
	for range 2 {
		require.NoError(t, s.Restart(t.Context()))
		front.MustDial().Close()
		back.MustDial().Close()
	}
	assert.Equal(t, 2, starts)
	s.Back = func() (net.Listener, error) { return nil, errFull }
	require.ErrorIs(t, s.Restart(t.Context()), errFull)
	for _, at := range []memnet.Place{front, back} {
		_, err := at.Dial(t.Context())
		require.Error(t, err)
	}
	s.Close()
}
