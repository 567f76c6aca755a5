package store_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
)

// Close ends what is served, and waits for it; the listener does not accept any more.
func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g store.Group
		place, count := memnet.NewPlace(), 0
		l := place.MustListen()
		errs := make(chan error, 1)
		go func() {
			errs <- g.Serve(l, func(conn net.Conn) {
				_, _ = io.Copy(io.Discard, conn)
				count++
			})
		}()
		conn := place.MustDial()
		synctest.Wait()
		g.Close()
		assert.Equal(t, 1, count)
		assert.NoError(t, <-errs)
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF)
		_, err = place.Dial(t.Context())
		assert.Error(t, err)
	})
}

// A connection is closed when its server has returned.
func TestAServedConnectionIsClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g store.Group
		place := memnet.NewPlace()
		l := place.MustListen()
		go func() { _ = g.Serve(l, func(net.Conn) {}) }()
		defer g.Close()
		conn := place.MustDial()
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF)
	})
}

type brokenListener struct{ net.Listener }

var errBroken = errors.New("broken")

func (brokenListener) Accept() (net.Conn, error) { return nil, errBroken }
func (brokenListener) Close() error              { return nil }

func TestServeReturnsTheErrorOfItsListener(t *testing.T) {
	t.Parallel()
	var g store.Group
	assert.ErrorIs(t, g.Serve(brokenListener{}, nil), errBroken)
	g.Close()
	assert.NoError(t, g.Serve(brokenListener{}, nil), "a closed one accepts nothing")
}
