package engine

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

const (
	// sharedFor is how long the addresses of one lookup serve for dials.
	sharedFor = time.Second
	// lookupLimit bounds one lookup.
	lookupLimit = 30 * time.Second
)

// lookup resolves the name of a server outside the loops, once for all dials of the same moment: a name may move while
// a load goes on, and thousands of connections may be opened at once.
type lookup struct {
	engine  *driver
	resolve Resolve

	mu      sync.Mutex
	latest  found
	at      time.Time     // of latest
	waiting []func(found) // the dials that wait for the lookup under way; none: there is none
}

// found is what a lookup has found.
type found struct {
	addresses []netip.AddrPort
	err       error
}

// get returns the addresses if they were looked up a moment ago. Else it has later called with them, by a goroutine
// outside the loops. It is called inside a loop.
func (k *lookup) get(later func(found)) (now found, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.at) < sharedFor {
		return k.latest, true
	}
	k.waiting = append(k.waiting, later)
	if len(k.waiting) == 1 {
		k.engine.wg.Go(k.look)
	}
	return found{}, false
}

// look looks the name up, and hands the result to all who wait for it.
func (k *lookup) look() {
	ctx, cancel := context.WithTimeout(k.engine.ctx, lookupLimit)
	defer cancel()
	addresses, err := k.resolve(ctx)
	now := found{addresses, err}
	k.mu.Lock()
	waiting := k.waiting
	k.latest, k.at, k.waiting = now, time.Now(), nil
	k.mu.Unlock()
	for _, later := range waiting {
		later(now)
	}
}
