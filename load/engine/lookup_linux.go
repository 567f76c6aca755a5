package engine

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// shareTime is how long the addresses of one lookup serve for dials.
	shareTime = time.Second
	// lookupLimit bounds one lookup.
	lookupLimit = 30 * time.Second
)

// lookup resolves the name of a server outside the loops, once for all dials of the same moment: a name may move while
// a load goes on, and thousands of connections may be opened at once.
type lookup struct {
	engine  *driver
	resolve Resolve

	mu      sync.Mutex
	latest  lookupResult
	at      time.Time            // of latest
	waiters []func(lookupResult) // the dials that wait for the lookup under way; none: there is none
}

// lookupResult is what a lookup has found.
type lookupResult struct {
	addresses []netip.AddrPort
	err       error
}

// get returns fresh addresses at once; if there are none, callback gets them later, outside the loops. It is called
// inside a loop.
func (k *lookup) get(callback func(lookupResult)) (result lookupResult, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.at) < shareTime {
		return k.latest, true
	}
	k.waiters = append(k.waiters, callback)
	if len(k.waiters) == 1 {
		k.engine.wg.Go(k.run)
	}
	return lookupResult{}, false
}

// run looks the name up, and hands the result to all who wait for it.
func (k *lookup) run() {
	ctx, cancel := context.WithTimeout(k.engine.ctx, lookupLimit)
	defer cancel()
	addresses, err := k.resolve(ctx)
	result := lookupResult{addresses, err}
	k.mu.Lock()
	waiters := k.waiters
	k.latest, k.at, k.waiters = result, time.Now(), nil
	k.mu.Unlock()
	for _, callback := range waiters {
		callback(result)
	}
}
