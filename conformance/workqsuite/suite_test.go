package workqsuite_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

const addr = "127.0.0.1:9922"

type target struct{ nw *memnet.Network }

func (t target) Dial(ctx context.Context) (net.Conn, error) {
	return t.nw.DialContext(ctx, "tcp", addr)
}

// run plays checks on a server with a hook, in virtual time.
func run(t *testing.T, hook func(*fakeworkq.Event), checks []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nw := memnet.New()
		l, err := nw.Listen(addr)
		require.NoError(t, err)
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(l)
		runner := &conformance.Runner{
			Protocol: workqsuite.Protocol(), Checks: checks, Virtual: true,
			Servers: []conformance.Server{{
				Target: target{nw}, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone},
			}},
		}
		report = runner.Run(t.Context())
		server.Close()
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
