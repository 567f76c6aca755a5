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
		targets, lookups := []string{"127.0.0.1:1", "127.0.0.2:1"}, 0
		k := &lookup{engine: newDriver("test", Config{}), resolve: func(context.Context) ([]netip.AddrPort, error) {
			time.Sleep(10 * time.Millisecond)
			lookups++
			return []netip.AddrPort{netip.MustParseAddrPort(targets[lookups-1])}, nil
		}}
		var mu sync.Mutex
		var results []string
		get := func() (address string) {
			result, ok := k.get(func(result lookupResult) {
				mu.Lock()
				defer mu.Unlock()
				results = append(results, result.addresses[0].String())
			})
			if ok {
				address = result.addresses[0].String()
			}
			return address
		}
		assert.Equal(t, []string{"", "", ""}, []string{get(), get(), get()}, "they wait for the first lookup")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{targets[0], targets[0], targets[0]}, results)
		assert.Equal(t, targets[0], get())
		time.Sleep(shareTime)
		assert.Empty(t, get(), "the first address is too old")
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, targets[1], get())
		assert.Equal(t, 2, lookups)
		k.engine.wg.Wait()
	})
}

// dialer is a session that notes how its dial ended.
type dialer struct {
	Link
	errs chan error
}

func (d *dialer) Step(_ time.Duration, ev Event, _ []byte) ([]byte, Next) {
	d.errs <- ev.Err
	return nil, Next{Close: true}
}

// closedAndOpen returns an address of this machine at which nothing listens, and one at which something does.
func closedAndOpen(t *testing.T) (closedAddr, openAddr netip.AddrPort) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	openAddr = netip.MustParseAddrPort(l.Addr().String())
	return netip.AddrPortFrom(netip.MustParseAddr("127.5.5.5"), openAddr.Port()), openAddr
}

func TestDialsOfNames(t *testing.T) {
	t.Parallel()
	closedAddr, openAddr := closedAndOpen(t)
	lookupErr := errors.New("no such host")
	tests := map[string]struct {
		addresses []netip.AddrPort
		err       error
		wantOpen  bool
	}{
		"one":                      {addresses: []netip.AddrPort{openAddr}, wantOpen: true},
		"the first of two refuses": {addresses: []netip.AddrPort{closedAddr, openAddr}, wantOpen: true},
		"all refuse":               {addresses: []netip.AddrPort{closedAddr, closedAddr}},
		"unknown":                  {err: lookupErr},
		"none":                     {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const dials = 50
			answer, lookups := make(chan struct{}), 0
			dialed := make(chan netip.AddrPort, dials)
			e, err := NewEpoll(Config{
				Resolve: func(context.Context) ([]netip.AddrPort, error) {
					lookups++
					<-answer
					return test.addresses, test.err
				},
				OnOpen: func(at netip.AddrPort) { dialed <- at },
			})
			require.NoError(t, err)
			errs := make(chan error, dials)
			closer := &dialer{errs: make(chan error, 1)}
			e.Do(0, func(time.Duration) {
				for range dials {
					e.Loops()[0].Open(&dialer{errs: errs})
				}
				e.Loops()[0].Open(closer)
				e.Loops()[0].Poke(closer) // it closes, and gives its dial up
			})
			e.Do(0, func(time.Duration) {}) // the lookup does not keep the loop
			close(answer)
			for range dials {
				err := <-errs
				assert.Equal(t, test.wantOpen, err == nil, "%v", err)
				if test.err != nil {
					require.ErrorIs(t, err, test.err)
				}
			}
			require.NoError(t, e.Close())
			assert.Equal(t, 1, lookups)
			assert.Len(t, closer.errs, 1)
			close(dialed)
			for at := range dialed {
				assert.Equal(t, openAddr, at)
			}
		})
	}
}
