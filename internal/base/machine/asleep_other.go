//go:build !linux

package machine

import "time"

var began = time.Now()

// Asleep is by how much the time of day went further than the monotonic clock, which stands still while the machine
// sleeps, since this process began: a step of the time of day counts as well.
func Asleep() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(began.Round(0)) - now.Sub(began)
}
