package check

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// options are the flags of a command line.
func options(t *testing.T, args ...string) *runOptions {
	t.Helper()
	cmd := &cobra.Command{}
	o := &runOptions{}
	o.declare(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	return o
}

func TestReproduce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  map[string]string
		own  string // a script of the user's instead of a check
		want string
	}{
		"embedded":   {want: "fwpcheck run --check push/lost --seed 7"},
		"own script": {own: "my bug's.fwp", want: `fwpcheck run 'my bug'\''s.fwp' --seed 7`},
		"URL": {
			args: []string{"--url", "tcp://localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://localhost:7419",
		},
		"of the command": {
			args: []string{
				"--check", "push/*", "--level", "MUST", "-v", "--output", "x", "--parallel", "3", "--strict",
			},
			want: "fwpcheck run --check push/lost --seed 7",
		},
		"of the target": {
			args: []string{
				"--url", "tcp+tls://[::1]:1", "--tls-server-name", "my server", "--timeout", "1m0s", "--allow-flush",
				"--restart-cmd", "a | b",
			},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp+tls://[::1]:1 --tls-server-name 'my server' " +
				"--allow-flush --restart-cmd 'a | b' --timeout 1m0s",
		},
		"password": {
			args: []string{"--url", "tcp://:hunter2@localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 " +
				"# fill in the password, or set FAKTORY_URL and leave out --url",
		},
		"password of a variable": {
			env: map[string]string{"FAKTORY_PROVIDER": "MINE", "MINE": "tcp://:hunter2@localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 " +
				"# fill in the password, or leave out --url while MINE is set",
		},
		"password in a command": {
			args: []string{"--url", "tcp://localhost", "--kill-cmd", "ctl tcp://:hunter2@localhost kill"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://localhost:7419 --kill-cmd 'ctl tcp://***@localhost kill'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, append(test.args, "--seed", "7")...)
			s, err := o.subject(func(name string) (string, bool) { value, ok := test.env[name]; return value, ok })
			require.NoError(t, err)
			check := "push/lost"
			if test.own != "" {
				check = test.own
			}
			assert.Equal(t, test.want, o.commands(s, test.own != "").run(check))
		})
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want []scenarios.Need
	}{
		{},
		{args: []string{"--restart-cmd", "x"}, want: []scenarios.Need{scenarios.NeedRestart}},
		{
			args: []string{"--kill-cmd", "x", "--signal-cmd", "y"},
			want: []scenarios.Need{scenarios.NeedSignals, scenarios.NeedKill},
		},
		{
			args: []string{"--control", "x {action}"},
			want: []scenarios.Need{scenarios.NeedSignals, scenarios.NeedRestart, scenarios.NeedKill},
		},
		{args: []string{"--allow-shared"}, want: []scenarios.Need{scenarios.NeedAlone}},
		{args: []string{"--allow-flush"}, want: []scenarios.Need{scenarios.NeedAlone, scenarios.NeedFlush}},
	}
	for _, test := range tests {
		o := options(t, append(test.args, "--url", "tcp://localhost")...)
		s, err := o.subject(func(string) (string, bool) { return "", false })
		require.NoError(t, err)
		want := append([]scenarios.Need{scenarios.NeedOpen}, test.want...)
		assert.ElementsMatch(t, want, s.offers(s.Server, false), test.args)
	}
}

func TestEveryNeedCanBeProvided(t *testing.T) {
	t.Parallel()
	o := options(t, "--url", "tcp://localhost")
	s, err := o.subject(func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	for _, need := range []scenarios.Need{
		scenarios.NeedOpen, scenarios.NeedPassword, scenarios.NeedSignals, scenarios.NeedRestart,
		scenarios.NeedKill, scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedEmbedded,
	} {
		assert.NotEmpty(t, provide(s)[need], need)
	}
}

// The profile of a server's family is found by its INFO and only records; what the server does not have is left out.
func TestProfiled(t *testing.T) {
	t.Parallel()
	withoutQueue := func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == "QUEUE" {
			e.Accept()
			e.Decline(fakes.AboutVerb, `unknown command "QUEUE"`)
		}
	}
	named, err := peer.Default().With("faktory")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		config  fakes.Config
		of      *peer.Peer
		options runOptions
		checks  []string // some of those that are chosen then
		left    string   // of one that is not
		records bool
	}{
		"known by its INFO": {
			config: fakes.Config{Like: fakes.LikeFaktory, Hook: withoutQueue}, of: peer.Default(),
			checks: []string{"pushb/accepted", "mutate/kill"}, left: "queue/pause", records: true,
		},
		"another server": {of: peer.Default()},
		"something selects": {
			config: fakes.Config{Like: fakes.LikeFaktory}, of: peer.Default(),
			options: runOptions{selection: conformance.Selection{Clauses: []string{"FWP-*"}}},
		},
		"named, and nothing of it is there": {of: named, left: "mutate/kill"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakes.NewServer(test.config)
			t.Cleanup(server.Close)
			s := subject{Endpoint: program.Endpoint{Peer: test.of}}
			all, err := test.of.Checks()
			require.NoError(t, err)
			chosen := selection{in: all}
			test.options.timeout = time.Minute
			on := peer.OfferFWP(server, nil)
			on.Fresh = func() (run.Server, func(), error) { return peer.OfferFWP(server, nil), func() {}, nil }
			test.options.profiled(t.Context(), &s, testbed{servers: []run.Server{on}}, &chosen)
			for _, check := range test.checks {
				assert.Contains(t, namesOf(chosen.in), check)
			}
			assert.Equal(t, test.records, chosen.recorded != nil)
			if test.left != "" {
				assert.NotContains(t, namesOf(chosen.in), test.left)
				assert.Contains(t, namesOf(chosen.all()), test.left)
			}
			if test.checks == nil && test.left == "" {
				assert.Len(t, chosen.in, len(all))
				assert.Same(t, test.of, s.Peer)
			}
		})
	}
}

func TestKeepRecords(t *testing.T) {
	t.Parallel()
	check := func(id string) reports.Check {
		return reports.Check{
			ID: id, Verdict: reports.Fail, Clauses: []reports.ClauseVerdict{
				{ID: "A-01", Verdict: reports.Fail}, {ID: "A-02", Verdict: reports.Inconclusive}, {ID: "A-03", Verdict: reports.Pass},
			},
			Findings: []reports.Finding{{Clause: "A-01", Evidence: reports.Evidence{Expected: "+OK", Actual: "-"}}},
		}
	}
	r := &reports.Report{Checks: []reports.Check{check("ours"), check("other")}, Clauses: []reports.Clause{
		{ID: "A-01", Verdict: reports.Fail, Checks: []string{"ours"}},
		{ID: "A-02", Verdict: reports.Inconclusive, Checks: []string{"ours", "other"}},
	}}
	selection{recorded: []string{"ours"}}.keepRecords(r)
	assert.Empty(t, r.Checks[0].Findings)
	assert.Equal(t, reports.Observed, r.Checks[0].Verdict)
	assert.Equal(t, "expected +OK, got -", r.Checks[0].Clauses[0].Why)
	assert.Equal(t, reports.NotSelected, r.Checks[0].Clauses[1].Verdict)
	assert.Equal(t, reports.Pass, r.Checks[0].Clauses[2].Verdict)
	assert.Equal(t, check("other"), r.Checks[1])
	assert.Equal(t, reports.Observed, r.Clauses[0].Verdict)
	assert.Equal(t, reports.Inconclusive, r.Clauses[1].Verdict, "another check decides it, too")
}

func TestReached(t *testing.T) {
	t.Parallel()
	assert.Equal(t, &reports.Functions{Of: 3, Never: []string{"example.com/s/main.go:9: serve"}}, reached([]byte(
		"example.com/s/main.go:7:\tmain\t\t\t66.7%\nexample.com/s/main.go:9:\tserve\t0.0%\n"+
			"example.com/s/main.go:30:\tanswer\t100.0%\ntotal\t(statements)\t50.0%\n")))
}

func TestCoverDir(t *testing.T) {
	t.Parallel()
	none := coverFlags{}
	require.NoError(t, none.apply(program.Endpoint{}))
	assert.Nil(t, none.functions(t.Context()))
	c := coverFlags{dir: filepath.Join(t.TempDir(), "a", "b")}
	require.ErrorContains(t, c.apply(program.Endpoint{}), "--start")
	e := program.Endpoint{Starter: &target.Starter{}}
	require.NoError(t, c.apply(e))
	assert.Equal(t, []string{"GOCOVERDIR=" + c.dir}, e.Starter.Environment)
	assert.Contains(t, c.functions(t.Context()).Open, "built with -cover")
}
