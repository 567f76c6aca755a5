package load_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/blockq/blockqspeaker"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/fwpspeaker"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// secondProtocol returns the report of a load on a server of a protocol that is unlike FWP: the client speaks first, a
// job is a counted block, and there is no heartbeat. Each worker has a queue, because a take names one.
func secondProtocol(t *testing.T, fault blockq.Fault, spoken protocol.Protocol) (report *results.Load) {
	t.Helper()
	w := steady()
	w.Rate, w.Queues.Number, w.Work = 100, w.Consumers, workload.Range{Min: 10 * ms, Max: 30 * ms}
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		listener, err := network.Listen("server:7419")
		require.NoError(t, err)
		server := &blockq.Server{Fault: fault}
		go func() { _ = server.Serve(listener) }()
		result := load.Run(t.Context(), load.Config{
			Workload: w, Seed: 1, Run: "test", Coarse: true, Loops: 2, History: true, Protocol: spoken,
			Dial: func(ctx context.Context) (net.Conn, error) { return network.DialContext(ctx, "tcp", "server:7419") },
		})
		report = result.Report
		_ = server.Close()
		if report.Unreachable == "" {
			quiet(report, nil)
		}
	})
	return report
}

// A second protocol goes through a whole run with a speaker of its own, and no change here.
func TestASecondProtocol(t *testing.T) {
	t.Parallel()
	l := secondProtocol(t, "", blockqspeaker.Protocol{})
	outcome(t, l, reports.ExitWell)
	assert.Equal(t, "connect measure drain close", phases(l))
	assert.True(t, l.Jobs.Drained, l.Jobs.NotDrained)
	assert.EqualValues(t, 500, l.Jobs.Pushed)
	assert.EqualValues(t, 500, l.Jobs.Delivered)
	assert.EqualValues(t, 500, l.Jobs.Acked)
	assert.InDelta(t, 100, l.Rate.Achieved, 1)
	assert.Empty(t, l.Findings)
	assert.Empty(t, l.Target.HI)
}

func TestASecondProtocolThatIsBroken(t *testing.T) {
	t.Parallel()
	for fault, kind := range map[blockq.Fault]results.FindingKind{
		blockq.DeliveredTwice: results.FindingReturned, // the second take is after the done
		blockq.Lost:           results.FindingLost,
		blockq.Foreign:        results.FindingReply,
		blockq.BlockShort:     results.FindingGrammar,
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			l := secondProtocol(t, fault, blockqspeaker.Protocol{})
			assert.Contains(t, kinds(l), kind)
			outcome(t, l, reports.ExitLoss)
		})
	}
}

// Neither protocol is taken for the other.
func TestAServerOfAnotherProtocol(t *testing.T) {
	t.Parallel()
	l := secondProtocol(t, "", fwpspeaker.New(""))
	outcome(t, l, reports.ExitUnreachable, "the server kept silent for 10s instead of greeting")
	l = impostor{greeting: hi}.loaded(t, steady(), blockqspeaker.Protocol{})
	outcome(t, l, reports.ExitUnreachable, "ping was answered with")
}
