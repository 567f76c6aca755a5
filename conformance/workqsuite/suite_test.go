package workqsuite_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

const addr = "127.0.0.1:9922"

type target struct{ nw *memnet.Network }

func (t target) Dial(ctx context.Context) (net.Conn, error) {
	return t.nw.DialContext(ctx, "tcp", addr)
}

// run plays checks on a server with a hook, in virtual time.
func run(
	t *testing.T, hook func(*fakeworkq.Event), checks []conformance.Check, change ...func(*conformance.Runner),
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
	t *testing.T, serve func(net.Listener) (end func()), checks []conformance.Check, change ...func(*conformance.Runner),
) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nw := memnet.New()
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		end := serve(l)
		runner := &conformance.Runner{
			Protocol: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []conformance.Server{{
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
	scripts, err := workqsuite.Protocol().Scripts()
	require.NoError(t, err)
	return conformance.Scripts(scripts...)
}

// TestScriptsAreInOrder: lint finds nothing, they are in the normal form, and their clauses are in the catalogue.
func TestScriptsAreInOrder(t *testing.T) {
	t.Parallel()
	scripts, err := workqsuite.Protocol().Scripts()
	require.NoError(t, err)
	for _, s := range scripts {
		assert.Empty(t, scenarios.Lint(s), s.Name)
		text := ""
		for i, line := range s.Source {
			if i < len(s.Source)-1 {
				text += line + "\n"
			}
		}
		assert.Equal(t, string(scenarios.Format(s)), text, s.Name)
		for m := range s.Marks() {
			_, known := workqsuite.Protocol().ClauseByID(m.Clause)
			assert.True(t, known, "%s: %s", s.Name, m.Clause)
		}
	}
}

var update = flag.Bool("update", false, "rewrite docs/workq-clauses.md and the matrix of faults")

// TestClausesDocument writes docs/workq-clauses.md from the catalogue and the scripts. What binds servers is decided or
// excluded with a reason.
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	by := map[string][]string{}
	for _, c := range checks(t) {
		for _, m := range c.Describe().Clauses() {
			by[m.Clause] = append(by[m.Clause], c.Describe().ID)
		}
	}
	var b strings.Builder
	fmt.Fprint(&b, `# The clauses of Workq

Written by `+"`go test ./conformance/workqsuite -run Document -update`"+`; do not edit. Levels are described in
[verdicts.md](verdicts.md). A reading outranks its statement. A check is the script of that name below
`+"`scenarios/workqdialect/scripts`"+`; a source is a heading of the document and a line of it.

| id | party | level | statement | reading | checks | source |
|---|---|---|---|---|---|---|
`)
	for _, c := range workqsuite.Protocol().Clauses() {
		decided := strings.Join(by[c.ID], ", ")
		assert.NotEqual(t, c.BindsServer() && c.Excluded == "", decided == "", c.ID)
		if c.Excluded != "" {
			decided = "excluded: " + c.Excluded
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join([]string{
			c.ID, c.Party, string(c.Level), c.Statement, c.Reading, decided, c.Sources[0].Heading + " " + c.Sources[0].Units,
		}, " | "))
	}
	golden(t, "../../docs/workq-clauses.md", b.String())
}

// golden compares a text with a file, or writes it.
func golden(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.ReplaceAll(string(old), "\r\n", "\n") != text { // the texts themselves would fill pages
		t.Errorf("%s is stale: FWP_SLOW=1 go test ./conformance/workqsuite -update", path)
	}
}

func TestConformingServer(t *testing.T) {
	t.Parallel()
	report := run(t, nil, checks(t))
	require.Empty(t, report.Internal)
	for _, c := range report.Checks {
		if c.Verdict != reports.Pass {
			t.Errorf("%s: %s %s %+v", c.ID, c.Verdict, c.Why, c.Findings)
			for _, l := range c.Conversation {
				t.Log(l.Conn, l.From, l.Text)
			}
		}
		assert.Empty(t, c.Left, c.ID)
	}
	for _, c := range report.Clauses {
		if !slices.Contains([]reports.Verdict{reports.Pass, reports.NotApplicable, reports.NotSelected}, c.Verdict) {
			t.Errorf("%s: %s %s", c.ID, c.Verdict, c.Why)
		}
	}
}

// A reply that takes as long as the wait-timeout of its command is not late, however short the timeout of the run is.
func TestAWaitTimeoutComesOnTop(t *testing.T) {
	t.Parallel()
	lease := "C: lease $name 5000\n"
	for name, test := range map[string]struct {
		text string
		want reports.Verdict
	}{
		"lease":  {lease + "clause WORKQ-LEASE-04\nS: -TIMEOUT\n", reports.Pass},
		"run":    {"C: run $id $name 9000 5000 * <- x\nclause WORKQ-RUN-04\nS: -TIMEOUT\n", reports.Pass},
		"window": {lease + "clause WORKQ-LEASE-04\nS ..1s: -TIMEOUT\n", reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(workqsuite.Protocol().Dialect, name, []byte("title: t\n\n"+test.text))
			require.NoError(t, err)
			report := run(t, nil, conformance.Scripts(script), func(r *conformance.Runner) { r.Timeout = time.Second })
			assert.Equal(t, test.want, report.Checks[0].Clauses[0].Verdict, report.Checks[0].Why)
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
				red, by := redOf(run(t, f.Hook(), picked))
				assert.Contains(t, red, f.Clauses[0])
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
	golden(t, "../../docs/workq-faults.md", fmt.Sprintf(`# The faults of the embedded Workq server

Written by `+"`FWP_SLOW=1 go test ./conformance/workqsuite -run Faults -update`"+`; do not edit. It has %d faults. What turned
red are the clauses that the checks of the last column found broken, and no others.

| fault | what the server does | turned red | caught by |
|---|---|---|---|
`, len(faults))+strings.Join(rows, ""))
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

// redOf returns the clauses that checks found broken, and these checks.
func redOf(r *reports.Report) (red, by []string) {
	for _, c := range r.Checks {
		for _, cv := range c.Clauses {
			if cv.Verdict.Breach() {
				red, by = append(red, cv.ID), append(by, c.ID)
			}
		}
	}
	slices.Sort(red)
	slices.Sort(by)
	return slices.Compact(red), slices.Compact(by)
}

// Servers that do not speak Workq earn no pass: those that are silent, that close, and that answer every line alike.
func TestNoServers(t *testing.T) {
	t.Parallel()
	const closes = "closes"
	for _, answer := range []string{
		"", closes, "+OK", "+OK 0", "+OK 1", "OK", "-CLIENT-ERROR no", "-SERVER-ERROR no", "-NOT-FOUND", "-TIMEOUT", "HTTP/1.1",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			serve := func(nc net.Conn) {
				defer nc.Close()
				for lines := bufio.NewScanner(nc); answer != closes && lines.Scan(); {
					if answer != "" {
						_, _ = io.WriteString(nc, answer+"\r\n") // the client may be gone
					}
				}
			}
			report := played(t, func(l net.Listener) func() {
				go func() {
					for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
						go serve(nc)
					}
				}()
				return func() { _ = l.Close() }
			}, checks(t))
			assert.NotEmpty(t, report.Clauses)
			for _, c := range report.Clauses {
				assert.NotEqual(t, reports.Pass, c.Verdict, c.ID)
			}
		})
	}
}
