package memnet

import (
	"sync"
	"time"
)

// deadline is the read or the write deadline of one end. Its fields are guarded
// by the mutex of the link that it was set with.
type deadline struct {
	timer   *time.Timer
	expired bool
}

// set replaces the deadline and wakes all goroutines that wait on changed, now (they may
// wait for the old one) and at t. The zero t means none. The caller holds changed.L.
func (d *deadline) set(t time.Time, changed *sync.Cond) {
	d.stop()
	d.expired = false
	switch wait := time.Until(t); {
	case t.IsZero():
	case wait <= 0:
		d.expired = true
	default:
		// The timer is compared, not the time: a timer that fired while it was
		// replaced must not expire the next one.
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			changed.L.Lock()
			defer changed.L.Unlock()
			if d.timer == timer {
				d.expired = true
				changed.Broadcast()
			}
		})
		d.timer = timer
	}
	changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
