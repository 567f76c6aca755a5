//go:build !linux

package engine

import "time"

func newPreciseSleeper(time.Time) sleeper { return nil }
