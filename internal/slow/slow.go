// Package slow selects how much the tests do. By default they take a sample: each kind of
// fault and of variation, and searches of a few thousand commands. With the environment
// variable FWP_SLOW=1 they take everything: the whole matrix, and the long searches.
// Only tests import it.
package slow

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

// Enabled reports whether FWP_SLOW=1 asks for everything.
func Enabled() bool { return os.Getenv("FWP_SLOW") == "1" }

// Pick returns all with FWP_SLOW=1, and quick otherwise.
func Pick[T any](quick, all T) T {
	if Enabled() {
		return all
	}
	return quick
}

// Only skips a test that runs with FWP_SLOW=1 alone.
func Only(tb testing.TB) {
	tb.Helper()
	if !Enabled() {
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
