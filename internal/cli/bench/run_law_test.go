package bench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/reports"
)

// The first connections of each kind are judged; the others are those of the protocol itself.
func TestSample(t *testing.T) {
	t.Parallel()
	config := load.Config{Protocol: peer.Default().Speaker(peer.SpeakerConfig{})}
	judgeSample(&config, peer.Default(), "")
	for _, worker := range []string{"w", ""} {
		for i := range sampledEach + 2 {
			_, is := config.Protocol.Speaker(worker).(*sampled)
			assert.Equal(t, i < sampledEach, is, "connection %d of %q", i, worker)
		}
	}
	assert.Empty(t, config.Findings())
}

// A fault that the account of the jobs cannot see is a finding of the law, with its clause and the exit code of others.
func TestTheLawJudgesASample(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "", "job-created-at-missing": "FWP-WU-10"} {
		var faults []peer.Fault
		if name != "" {
			fault, err := peer.Default().FaultNamed(name)
			require.NoError(t, err)
			faults = append(faults, fault)
		}
		server, err := peer.Default().Start(peer.Config{Faults: faults})
		require.NoError(t, err)
		code, out := exitOf(t, "run", "--producers", "1", "--consumers", "1", "--rate", "200/s", "--duration", "200ms",
			"--warmup", "0s", "--url", server.URL, "--no-progress")
		server.Close()
		if want == "" {
			assert.NotContains(t, out, "of the law")
			continue
		}
		assert.Equal(t, reports.ExitLoss, code, out)
		assert.Contains(t, out, "of the law ("+want+")")
	}
}
