//go:build !unix && !windows

package validity

import "time"

// processTimes returns the CPU time of this process.
func processTimes() (user, system time.Duration, ok bool) { return 0, 0, false }
