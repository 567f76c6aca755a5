package golden

import (
	"os"
	"runtime/debug"
	"testing"
)

// The heap of these tests is so small, and what they allocate so much, that the collector would run hundreds of times a
// second and take a third of their time. Beyond the limit it runs as often as it has to, because several packages are
// tested at a time. GOGC overrides both.
func init() {
	const limit = 1 << 30
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(limit)
	}
}

// IsSlow reports whether FWP_SLOW=1 asks for everything.
func IsSlow() bool { return os.Getenv("FWP_SLOW") == "1" }

// Sample returns all with FWP_SLOW=1, and quick otherwise.
func Sample[T any](quick, all T) T {
	if IsSlow() {
		return all
	}
	return quick
}

// OnlySlow skips a test that runs with FWP_SLOW=1 alone.
func OnlySlow(tb testing.TB) {
	tb.Helper()
	if !IsSlow() {
		tb.Skip("takes long; FWP_SLOW=1 runs it")
	}
}

// NotRacing skips a test that takes long where the race detector watches, mostly of one goroutine in virtual time: it
// makes it some ten times as long, and sees the same code in shorter tests.
func NotRacing(tb testing.TB) {
	tb.Helper()
	if Racing {
		tb.Skip("takes long under the race detector")
	}
}
