package run_test

import (
	"testing"

	"github.com/fwpsuite/fwp/reports"
)

// BenchmarkQuickRun is a quick run against embedded servers on real sockets; it
// shall take at most 3 s.
func BenchmarkQuickRun(b *testing.B) {
	all := suite(b, true)
	for b.Loop() {
		pool := &serverPool{}
		r := pool.runner(all).Run(b.Context())
		pool.close()
		if code := r.ExitCode(reports.ExitOptions{}); code != reports.ExitWell {
			_, words := r.Outcome(reports.ExitOptions{}).Values()
			b.Fatalf("exit code %d: %s", code, words)
		}
	}
}
