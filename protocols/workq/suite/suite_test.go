package suite_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/proof/suitetest"
	workqsuite "github.com/fwpsuite/fwp/protocols/workq/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// runChecks plays checks on a server with a hook, in virtual time.
func runChecks(
	t *testing.T, hook func(*fakeworkq.Event), checks []conformance.Check, change ...func(*run.Runner),
) *reports.Report {
	t.Helper()
	return runOn(t, func(l net.Listener) func() {
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(l)
		return server.Close
	}, checks, change...)
}

// runOn plays checks in virtual time on what serve starts on a listener, and ends it.
func runOn(
	t *testing.T, serve func(net.Listener) (end func()), checks []conformance.Check, change ...func(*run.Runner),
) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		end := serve(place.MustListen())
		runner := &run.Runner{
			Suite: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []run.Server{{
				Target: place, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone},
			}},
		}
		for _, c := range change {
			c(runner)
		}
		report = runner.Run(t.Context())
		end()
	})
	return report
}

func checks(t *testing.T) []conformance.Check {
	t.Helper()
	return suitetest.Scripts(t, workqsuite.Protocol())
}

func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	suitetest.CheckOrder(t, workqsuite.Protocol())
}

// TestClausesDocument writes docs/workq-clauses.md.
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	const written = "go test ./protocols/workq/suite -run Document -update"
	golden.Document(t, "../../../docs/workq-clauses.md", suitetest.Document(t, workqsuite.Protocol(),
		"Written by `"+written+"`; do not edit. Levels are described in\n"+
			"[verdicts.md](verdicts.md). A reading outranks its statement. A check is the script of that name below\n"+
			"`protocols/workq/script/scripts`; a source is a heading of the document and a line of it."), written)
}

func TestConformingServer(t *testing.T) {
	t.Parallel()
	report := runChecks(t, nil, checks(t))
	suitetest.CheckPasses(t, report)
	suitetest.CheckTimes(t, report, checks(t))
}

// The first reply of a server may come in any pieces; another protocol is recognized at its first bytes.
func TestIdentify(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pieces []string
		fails  string
	}{
		"at once":       {[]string{"+OK 1\r\n"}, ""},
		"in two pieces": {[]string{"+", "OK 1\r\n"}, ""},
		"byte by byte":  {strings.Split("-CLIENT-ERROR x\r\n", ""), ""},
		"another":       {[]string{"+HI {}\r\n"}, "is not a Workq server: it answers"},
		"half a reply":  {[]string{"+O"}, "is not a Workq server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				place := memnet.NewPlace()
				l := place.MustListen()
				var serving sync.WaitGroup
				serving.Go(func() {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					defer nc.Close()
					for _, piece := range test.pieces {
						_, _ = nc.Write([]byte(piece))
						time.Sleep(time.Millisecond)
					}
				})
				_, err := workqsuite.Protocol().Identify(t.Context(), place, time.Second)
				if test.fails == "" {
					assert.NoError(t, err)
				} else {
					assert.ErrorContains(t, err, test.fails)
				}
				_ = l.Close()
				serving.Wait()
			})
		})
	}
}

// A reply that takes as long as the wait-timeout of its command is not late, however short the timeout of the run is,
// and where the run has less patience, nothing is missing.
func TestAWaitTimeoutComesOnTop(t *testing.T) {
	t.Parallel()
	lease := "C: lease $name 5000\n"
	for name, test := range map[string]struct {
		text string
		want reports.Verdict
	}{
		"lease":                    {lease + "clause WORKQ-LEASE-04\nS: -TIMEOUT\n", reports.Pass},
		"longer than the patience": {"C: lease $name 60000\nclause WORKQ-LEASE-04\nS: -TIMEOUT\n", reports.Inconclusive},
		"run":                      {"C: run $id $name 9000 5000 * <- x\nclause WORKQ-RUN-04\nS: -TIMEOUT\n", reports.Pass},
		"window":                   {lease + "clause WORKQ-LEASE-04\nS ..1s: -TIMEOUT\n", reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(workqsuite.Protocol().Dialect, name, []byte("title: t\n\n"+test.text))
			require.NoError(t, err)
			report := runChecks(t, nil, conformance.Scripts(script), func(r *run.Runner) {
				r.Timeout, r.Patience = time.Second, 10*time.Second
			})
			assert.Equal(t, test.want, report.Checks[0].Clauses[0].Verdict, report.Checks[0].Cause)
			assert.Len(t, report.Checks[0].Clauses, 1)
		})
	}
}
