package workqsuite_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/internal/suitetest"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

const addr = "127.0.0.1:9922"

type target struct{ nw *memnet.Network }

func (t target) Dial(ctx context.Context) (net.Conn, error) {
	return t.nw.DialContext(ctx, "tcp", addr)
}

// run plays checks on a server with a hook, in virtual time.
func runChecks(
	t *testing.T, hook func(*fakeworkq.Event), checks []conformance.Check, change ...func(*run.Runner),
) *reports.Report {
	t.Helper()
	return played(t, func(l net.Listener) func() {
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(l)
		return server.Close
	}, checks, change...)
}

// played plays checks in virtual time on what serve starts on a listener, and ends it.
func played(
	t *testing.T, serve func(net.Listener) (end func()), checks []conformance.Check, change ...func(*run.Runner),
) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nw := memnet.New()
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		end := serve(l)
		runner := &run.Runner{
			Protocol: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []run.Server{{
				Target: target{nw}, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone},
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
	suitetest.InOrder(t, workqsuite.Protocol())
}

var update = flag.Bool("update", false, "rewrite docs/workq-clauses.md and the matrix of faults")

// TestClausesDocument writes docs/workq-clauses.md.
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	const written = "go test ./conformance/workqsuite -run Document -update"
	suitetest.Golden(t, "../../docs/workq-clauses.md", suitetest.Document(t, workqsuite.Protocol(),
		"Written by `"+written+"`; do not edit. Levels are described in\n"+
			"[verdicts.md](verdicts.md). A reading outranks its statement. A check is the script of that name below\n"+
			"`scenarios/workqdialect/scripts`; a source is a heading of the document and a line of it."), *update, written)
}

func TestConformingServer(t *testing.T) {
	t.Parallel()
	suitetest.Passes(t, runChecks(t, nil, checks(t)))
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
				nw := memnet.New()
				l, err := nw.Listen(addr)
				require.NoError(t, err)
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
				_, err = workqsuite.Protocol().Identify(t.Context(), target{nw}, time.Second)
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
			assert.Equal(t, test.want, report.Checks[0].Clauses[0].Verdict, report.Checks[0].Why)
			assert.Len(t, report.Checks[0].Clauses, 1)
		})
	}
}

// TestFaults plays the scripts that look at a fault against it, all scripts with FWP_SLOW=1: the first clause turns
// red, and no clause that the fault does not declare. docs/workq-faults.md is the matrix.
func TestFaults(t *testing.T) { //nolint:tparallel // the group is over before what it found is looked at
	t.Parallel()
	all, faults := checks(t), fakeworkq.Faults()
	rows := make([]string, len(faults))
	t.Run("all", func(t *testing.T) {
		for i, f := range faults {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				picked := slices.DeleteFunc(slices.Clone(all), func(c conformance.Check) bool {
					return !slow.Enabled() && !looksAt(c.Describe(), f)
				})
				if id := ofLives[f.Name]; id != "" {
					picked = append(picked, property(t, id))
				}
				red, by := suitetest.Red(runChecks(t, f.Hook(), picked))
				assert.Contains(t, red, f.Clauses[0])
				if ofLives[f.Name] != "" { // what else an exploration sees of it depends on chance
					red = slices.DeleteFunc(red, func(id string) bool { return !slices.Contains(f.Clauses, id) })
				}
				for _, id := range red {
					assert.Contains(t, f.Clauses, id, "not declared, and found by %s", by)
				}
				rows[i] = fmt.Sprintf("| %s | %s | %s | %s |\n", f.Name, f.Summary, strings.Join(red, ", "), strings.Join(by, ", "))
			})
		}
	})
	if !slow.Enabled() {
		return
	}
	const written = "FWP_SLOW=1 go test ./conformance/workqsuite -run Faults -update"
	suitetest.Golden(t, "../../docs/workq-faults.md", fmt.Sprintf(`# The faults of the embedded Workq server

Written by `+"`"+written+"`"+`; do not edit. It has %d faults. What turned
red are the clauses that the checks of the last column found broken, and no others.

| fault | what the server does | turned red | caught by |
|---|---|---|---|
`, len(faults))+strings.Join(rows, ""), *update, written)
}

// ofLives are faults that no script finds: they need more than one thing that time does to a job.
var ofLives = map[string]string{
	"lease-expires-once": "explore/lives", "add-ttl-reported": "explore/lives", "lease-again-longer": "explore/long-lives",
}

// property returns the check of a name that generates what it sends.
func property(t *testing.T, id string) conformance.Check {
	t.Helper()
	all := workqsuite.Properties()
	i := slices.IndexFunc(all, func(c conformance.Check) bool { return c.Describe().ID == id })
	require.GreaterOrEqual(t, i, 0)
	return all[i]
}

// looksAt reports whether a check decides one of the first two clauses of a fault, or is about the command in its name.
func looksAt(d conformance.Description, f fakeworkq.Fault) bool {
	family, _, _ := strings.Cut(f.Name, "-")
	if strings.HasPrefix(d.ID, family+"/") && family != "add" {
		return true
	}
	return slices.ContainsFunc(d.Clauses(), func(m scenarios.Mark) bool {
		return slices.Contains(f.Clauses[:min(2, len(f.Clauses))], m.Clause)
	})
}
