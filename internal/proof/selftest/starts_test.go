package selftest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// TestStartsThatFail: a program that does not start in ordinary conditions either breaks nothing; one that does is what
// the situation is about.
func TestStartsThatFail(t *testing.T) {
	t.Parallel()
	const nor = "inconclusive : the program did not start: it opened no connection, nor did it in ordinary conditions"
	afterFirst := func(n int64, _ fwpsituations.Environment) bool { return n > 1 } // but for the first test
	tls := func(n int64, e fwpsituations.Environment) bool { return strings.HasPrefix(e.URL, "tcp+tls") }
	for _, row := range []struct {
		name   string
		fails  func(n int64, e fwpsituations.Environment) bool
		output string
		check  string
		clause string
		want   string
		hasRun bool
	}{
		{"its pid file is there", afterFirst, "pid file /run/w.pid already exists", "greeting/spaces", "FWP-HI-09", nor, true},
		{"it says nothing", afterFirst, "", "greeting/spaces", "FWP-HI-09", nor, true},
		{"it says nothing", afterFirst, "", "url/provider", "FWP-WRK-02", nor, true},
		{"it says nothing", afterFirst, "", "password/one-round", "FWP-AUTH-01", nor, true},
		{"it knows no TLS", tls, "", "url/tls", "FWP-WRK-14", "observed : the command ended (exit status 1)", false},
		{"its port is taken for a moment", tls, "bind: Address already in use", "url/tls", "FWP-WRK-14", nor, true},
		{"it starts", func(int64, fwpsituations.Environment) bool { return false }, "", "greeting/spaces", "FWP-HI-09",
			"pass : ", false},
	} {
		t.Run(row.name+" "+row.check, func(t *testing.T) {
			t.Parallel()
			var h *fwpsituations.Harness
			report := playClient(t, func(harness *fwpsituations.Harness) {
				h = harness
				harness.Launcher = &failLauncher{Launcher: harness.Launcher, fails: row.fails, output: row.output}
			}, nil, row.check)
			got := verdictText(report, row.clause)
			assert.True(t, strings.HasPrefix(got, row.want), got)
			text := strings.Join(h.Observations(), "\n")
			assert.Equal(t, row.hasRun, strings.HasPrefix(text, "it did not start"), text)
			assert.Contains(t, text, row.output)
		})
	}
}

// TestTwoAtATime: what needs two processes is named, where only one can be there, and the rest is decided.
func TestTwoAtATime(t *testing.T) {
	t.Parallel()
	for check, want := range map[string]string{
		"workers/two": "inconclusive : it needs two processes at a time, and the second one did not start",
		"jobs/killed": "pass : ", "fetch/queues": "pass : ",
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			report := playClient(t, func(h *fwpsituations.Harness) {
				l := &failLauncher{Launcher: h.Launcher, output: "port 9090 is already in use"}
				l.fails = func(int64, fwpsituations.Environment) bool { return l.runs() }
				h.Launcher, h.IsSequential = l, true
			}, nil, check)
			clause := map[string]string{"workers/two": "FWP-HELLO-10", "jobs/killed": "FWP-WRK-07", "fetch/queues": "FWP-WRK-11"}
			assert.Equal(t, want, verdictText(report, clause[check]))
		})
	}
}

// failLauncher is a launcher whose program ends at once at some starts, and prints why.
type failLauncher struct {
	fwpsituations.Launcher

	starts atomic.Int64
	fails  func(n int64, e fwpsituations.Environment) bool
	output string

	mu        sync.Mutex
	processes []fwpsituations.Process
}

// runs reports whether a program runs that it has started.
func (l *failLauncher) runs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.processes, func(p fwpsituations.Process) bool {
		select {
		case <-p.Done():
			return false
		default:
			return true
		}
	})
}

func (l *failLauncher) Launch(e fwpsituations.Environment) (fwpsituations.Process, error) {
	if l.fails(l.starts.Add(1), e) {
		return fwpsituations.InProcess(func(_ fwpsituations.Environment, _, logged func(string)) fwpsituations.Function {
			return fwpsituations.Function{Run: func(context.Context) int {
				logged(l.output)
				return 1
			}}
		}).Launch(e)
	}
	p, err := l.Launcher.Launch(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.processes = append(l.processes, p)
	return p, err
}

// TestAProducerThatReadsAllFirst: it is noticed at the first start, and gets all its input at once; what needs jobs that
// come later is left out.
func TestAProducerThatReadsAllFirst(t *testing.T) {
	t.Parallel()
	fixture := fixtureOf(t, "fwp", "producer")
	var report *reports.Report
	var h *fwpsituations.Harness
	synctest.Test(t, func(t *testing.T) {
		var err error
		h, err = fixture.Client.Harness(registry.Config{Network: memnet.New()})
		require.NoError(t, err)
		h.Launcher = readAllLauncher{h.Launcher}
		identity, err := h.Identify(t.Context())
		require.NoError(t, err)
		assert.True(t, identity.Works)
		checks, _, err := conformance.Selection{
			Suite: fixture.Entry.Suite, Checks: []string{"errors/push", "loss/idle", "greeting/spaces"},
		}.Apply(h.Checks())
		require.NoError(t, err)
		report = (&run.Runner{
			Suite: fixture.Entry.Suite, Servers: []run.Server{{Target: fwpsituations.NoServer{}}}, Checks: checks,
			Parties: fixture.Client.Parties, Virtual: true,
		}).Run(t.Context())
	})
	got := map[string]reports.Verdict{}
	for _, c := range report.Checks {
		got[c.ID] = c.Verdict
	}
	assert.Equal(t, map[string]reports.Verdict{
		"errors/push": reports.Pass, "greeting/spaces": reports.Pass, "loss/idle": reports.Skipped,
	}, got)
	assert.Contains(t, strings.Join(h.Observations(), "\n"), "it reads its input to the end before it pushes a job")
}

// readAllLauncher is a launcher of producers that read their input to its end first.
type readAllLauncher struct{ fwpsituations.Launcher }

func (l readAllLauncher) Launch(e fwpsituations.Environment) (fwpsituations.Process, error) {
	e.Input = &bufferedReader{from: e.Input}
	return l.Launcher.Launch(e)
}

type bufferedReader struct {
	from     io.Reader
	readOnce sync.Once
	text     bytes.Buffer
}

func (s *bufferedReader) Read(p []byte) (int, error) {
	s.readOnce.Do(func() { _, _ = s.text.ReadFrom(s.from) })
	return s.text.Read(p)
}
