package run

import (
	"fmt"
	"time"
)

// QuickRun is how long a quick run begins checks, for each repetition. With a limit of
// checks at a time their waits are added.
const QuickRun = 2 * time.Minute

// tooLate returns why a quick run begins no more checks, or "" if it still does.
func (s *runState) tooLate() string {
	limit := QuickRun
	if s.runner.Parallel > 0 {
		for _, check := range s.described {
			limit += check.Wait / time.Duration(s.runner.Parallel)
		}
	}
	limit = limit.Truncate(time.Second) * time.Duration(s.repeat)
	if !s.runner.Quick || time.Since(s.start) < limit {
		return ""
	}
	return fmt.Sprintf("a quick run begins no more checks after %v", limit)
}
