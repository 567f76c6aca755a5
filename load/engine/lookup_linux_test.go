package engine

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A name is looked up once for the dials of a second, and again for later ones, whose addresses may be others.
func TestLookupIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		moving, lookups := []string{"127.0.0.1:1", "127.0.0.2:1"}, 0
		k := &lookup{engine: newDriver("test", Config{}), resolve: func(context.Context) ([]netip.AddrPort, error) {
			time.Sleep(10 * time.Millisecond)
			lookups++
			return []netip.AddrPort{netip.MustParseAddrPort(moving[lookups-1])}, nil
		}}
		var mu sync.Mutex
		var later []string
		get := func() (here string) {
			now, known := k.get(func(now found) {
				mu.Lock()
				defer mu.Unlock()
				later = append(later, now.addresses[0].String())
			})
			if known {
				here = now.addresses[0].String()
			}
			return here
		}
		assert.Equal(t, []string{"", "", ""}, []string{get(), get(), get()}, "they wait for the first lookup")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{moving[0], moving[0], moving[0]}, later)
		assert.Equal(t, moving[0], get())
		time.Sleep(sharedFor)
		assert.Empty(t, get(), "the first address is too old")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, moving[1], get())
		assert.Equal(t, 2, lookups)
		k.engine.wg.Wait()
	})
}

// dialer is a session that notes how its dial ended.
type dialer struct {
	Link
	ended chan error
}

func (d *dialer) Step(_ time.Duration, ev Event, _ []byte) ([]byte, Next) {
	d.ended <- ev.Err
	return nil, Next{Close: true}
}

// closedAndOpen returns an address of this machine at which nothing listens, and one at which something does.
func closedAndOpen(t *testing.T) (closed, open netip.AddrPort) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	open = netip.MustParseAddrPort(l.Addr().String())
	return netip.AddrPortFrom(netip.MustParseAddr("127.5.5.5"), open.Port()), open
}

func TestDialsOfNames(t *testing.T) {
	t.Parallel()
	closed, open := closedAndOpen(t)
	unknown := errors.New("no such host")
	tests := map[string]struct {
		addresses []netip.AddrPort
		err       error
		opened    bool
	}{
		"one":                      {addresses: []netip.AddrPort{open}, opened: true},
		"the first of two refuses": {addresses: []netip.AddrPort{closed, open}, opened: true},
		"all refuse":               {addresses: []netip.AddrPort{closed, closed}},
		"unknown":                  {err: unknown},
		"none":                     {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const dials = 50
			answer, lookups := make(chan struct{}), 0
			opened := make(chan netip.AddrPort, dials)
			e, err := NewEpoll(Config{
				Resolve: func(context.Context) ([]netip.AddrPort, error) {
					lookups++
					<-answer
					return test.addresses, test.err
				},
				Opened: func(at netip.AddrPort) { opened <- at },
			})
			require.NoError(t, err)
			ended := make(chan error, dials)
			given := &dialer{ended: make(chan error, 1)}
			e.Do(0, func(time.Duration) {
				for range dials {
					e.Loops()[0].Open(&dialer{ended: ended})
				}
				e.Loops()[0].Open(given)
				e.Loops()[0].Poke(given) // it closes, and gives its dial up
			})
			e.Do(0, func(time.Duration) {}) // the lookup does not keep the loop
			close(answer)
			for range dials {
				err := <-ended
				assert.Equal(t, test.opened, err == nil, "%v", err)
				if test.err != nil {
					require.ErrorIs(t, err, test.err)
				}
			}
			require.NoError(t, e.Close())
			assert.Equal(t, 1, lookups)
			assert.Len(t, given.ended, 1)
			close(opened)
			for at := range opened {
				assert.Equal(t, open, at)
			}
		})
	}
}
