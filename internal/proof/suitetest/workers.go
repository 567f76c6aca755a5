package suitetest

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// Dial opens a connection.
type Dial = func(ctx context.Context, network, addr string) (net.Conn, error)

// Worker runs a worker until ctx is done, and returns its exit code.
type Worker func(ctx context.Context, e fwpsituations.Environment, dial Dial) int

// harness returns one for workers on a network of its own.
func harness(side *fwpsituations.OtherProtocol, worker Worker) *fwpsituations.Harness {
	network := memnet.New()
	var count atomic.Int64
	return &fwpsituations.Harness{
		OtherProtocol: side, ListenAgain: network.Listen,
		Launcher: fwpsituations.InProcess(func(e fwpsituations.Environment, _, _ func(string)) fwpsituations.Function {
			return fwpsituations.Function{Run: func(ctx context.Context) int { return worker(ctx, e, network.DialContext) }}
		}),
		Listen: func(bool) (net.Listener, error) { return network.Listen(fmt.Sprintf("fwp%d:7000", count.Add(1))) },
	}
}

// PlayWorker plays situations on a worker in virtual time; no ids: all. The error is that of Identify.
func PlayWorker(
	t *testing.T, side *fwpsituations.OtherProtocol, worker Worker, ids ...string,
) (report *reports.Report, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		h := harness(side, worker)
		if _, err = h.Identify(t.Context()); err != nil {
			return
		}
		checks, _, selectErr := conformance.Selection{Suite: side.Protocol, Checks: ids}.Apply(h.Checks())
		require.NoError(t, selectErr)
		r := &run.Runner{
			Suite: side.Protocol, Servers: []run.Server{{Target: fwpsituations.NoServer{}}}, Checks: checks,
			Parties: []string{"C", "K"}, Virtual: true,
		}
		report = r.Run(t.Context())
		require.Empty(t, report.Internal)
	})
	return report, err
}

// UselessWorker fails the test if a program passes a clause of a side.
func UselessWorker(t *testing.T, side *fwpsituations.OtherProtocol, worker Worker) {
	t.Helper()
	report, err := PlayWorker(t, side, worker)
	if err != nil {
		var target *fwpsituations.NoClientError
		require.ErrorAs(t, err, &target)
		return
	}
	for _, check := range report.Checks {
		for _, cv := range check.Clauses {
			assert.NotEqual(t, reports.Pass, cv.Verdict, "%s: %s: %s", check.ID, cv.ID, cv.Cause)
		}
	}
}
