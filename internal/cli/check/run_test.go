package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/upgrade"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// A flag is repeated by the command that shows a finding again, or it says here why not.
func TestEachFlagIsRepeatedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	targetFlags := "url start from-environment embedded protocol extension" // subject.Flags has them
	resultFlags := "subject server-log format output details verbose color no-progress show-secrets save expect update-expect"
	otherFlags := "check clause level quick require strict fail-fast " + // the command names one check
		"seed parallel start-timeout config" // it has the seed; the pace of this machine; what was read is repeated
	names := strings.Fields(strings.Join(append(reproduceFlags, targetFlags, resultFlags, otherFlags), " "))
	flags := newRun(process{}).Flags()
	flags.VisitAll(func(f *pflag.Flag) {
		assert.Contains(t, names, f.Name, "add --%s to decisive, or here with the reason", f.Name)
	})
	for i, name := range names {
		assert.NotContains(t, names[:i], name)
	}
}

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
		args   []string
		env    map[string]string
		script string // a script of the user's instead of a check
		want   string
	}{
		"embedded":   {want: "fwpcheck run --check push/lost --seed 7"},
		"own script": {script: "my bug's.fwp", want: `fwpcheck run 'my bug'\''s.fwp' --seed 7`},
		"embedded, and the environment names another": {
			args: []string{"--embedded"}, env: map[string]string{"FAKTORY_URL": "tcp://localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --embedded",
		},
		"embedded, by a flag that is not needed": {
			args: []string{"--embedded"}, want: "fwpcheck run --check push/lost --seed 7",
		},
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
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 # fill in the password, or " +
				"set FAKTORY_URL and replace --url by --from-environment",
		},
		"password of a variable": {
			args: []string{"--from-environment"},
			env:  map[string]string{"FAKTORY_PROVIDER": "MINE", "MINE": "tcp://:hunter2@localhost"},
			want: "fwpcheck run --check push/lost --seed 7 --url tcp://:PASSWORD@localhost:7419 # fill in the password, or " +
				"replace --url by --from-environment while MINE is set",
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
			if test.script != "" {
				check = test.script
			}
			assert.Equal(t, test.want, o.commands(s, test.script != "").run(check))
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
		{args: []string{"--exclusive"}, want: []scenarios.Need{scenarios.NeedAlone}},
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
		scenarios.NeedKill, scenarios.NeedAlone, scenarios.NeedFlush,
	} {
		assert.NotEmpty(t, provide(s)[need], need)
	}
}

// The extension of a server is found by its INFO and only records; what the server does not have is left out.
func TestExtensiond(t *testing.T) {
	t.Parallel()
	refuseQueue := func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == "QUEUE" {
			e.Accept()
			e.Decline(fakes.AboutVerb, `unknown command "QUEUE"`)
		}
	}
	extension, err := registry.Default().WithExtension("faktory")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		config     fakes.Config
		entry      *registry.Entry
		options    runOptions
		checks     []string // some of those that are chosen then
		absence    string   // of one that is not
		isRecorded bool
	}{
		"known by its INFO": {
			config: fakes.Config{Extension: fakes.Faktory, Hook: refuseQueue}, entry: registry.Default(),
			checks: []string{"pushb/accepted", "mutate/kill"}, absence: "queue/pause", isRecorded: true,
		},
		"another server": {entry: registry.Default()},
		"something selects": {
			config: fakes.Config{Extension: fakes.Faktory}, entry: registry.Default(),
			options: runOptions{selection: conformance.Selection{Clauses: []string{"FWP-*"}}},
		},
		"named, and nothing of it is there": {entry: extension, absence: "mutate/kill"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := fakes.NewServer(test.config)
			t.Cleanup(server.Close)
			s := testTarget{Endpoint: shared.Endpoint{Entry: test.entry}}
			all, err := test.entry.Checks()
			require.NoError(t, err)
			picks := selection{checks: all}
			test.options.timeout = time.Minute
			runServer := registry.OfferFWP(server, nil)
			runServer.StartServer = func() (run.Server, func(), error) { return registry.OfferFWP(server, nil), func() {}, nil }
			test.options.applyExtension(t.Context(), &s, testbed{servers: []run.Server{runServer}}, &picks)
			for _, check := range test.checks {
				assert.Contains(t, namesOf(picks.checks), check)
			}
			assert.Equal(t, test.isRecorded, picks.observedIDs != nil)
			assert.Equal(t, test.entry == extension, slices.Contains(s.Flags(), "--extension"), "one that was detected is not given")
			if test.absence != "" {
				assert.NotContains(t, namesOf(picks.checks), test.absence)
				assert.Contains(t, namesOf(picks.allChecks()), test.absence)
			}
			if test.checks == nil && test.absence == "" {
				assert.Len(t, picks.checks, len(all))
				assert.Same(t, test.entry, s.Entry)
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
	selection{observedIDs: []string{"ours"}}.markObserved(r)
	assert.Empty(t, r.Checks[0].Findings)
	assert.Equal(t, reports.Observed, r.Checks[0].Verdict)
	assert.Equal(t, "expected +OK, got -", r.Checks[0].Clauses[0].Cause)
	assert.Equal(t, reports.NotSelected, r.Checks[0].Clauses[1].Verdict)
	assert.Equal(t, reports.Pass, r.Checks[0].Clauses[2].Verdict)
	assert.Equal(t, check("other"), r.Checks[1])
	assert.Equal(t, reports.Observed, r.Clauses[0].Verdict)
	assert.Equal(t, reports.Inconclusive, r.Clauses[1].Verdict, "another check decides it, too")
}

// What was found up to a moment at which the server went away is not all that is known of it.
func TestUpdatesAreAboutServersThatServe(t *testing.T) {
	t.Parallel()
	newReport := func(change func(*reports.Report)) *reports.Report {
		r := &reports.Report{Checks: []reports.Check{{
			ID: "push/accepted", Verdict: reports.Fail,
			Clauses: []reports.ClauseVerdict{{ID: "FWP-PUSH-01", Verdict: reports.Fail}},
			Findings: []reports.Finding{{Clause: "FWP-PUSH-01", Verdict: reports.Fail,
				Evidence: reports.Evidence{Actual: "-ERR"}}},
		}}}
		change(r)
		return r
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for want, r := range map[string]*reports.Report{
		"added push/accepted": newReport(func(*reports.Report) {}),
		"the server no longer served: ": newReport(func(r *reports.Report) {
			r.Checks = append(r.Checks, reports.Check{ID: "ack/accepted", Verdict: reports.Inconclusive,
				Clauses: []reports.ClauseVerdict{{ID: "FWP-ACK-01", Verdict: reports.Inconclusive,
					Reason: reports.ReasonNotServing}}})
		}),
		"the target could not be reached: ": newReport(func(r *reports.Report) { r.Unreachable = "refused" }),
		"not all could be played: ":         newReport(func(r *reports.Report) { r.Internal = "no files" }),
		"interrupted: ":                     newReport(func(*reports.Report) {}),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			e, err := (&expectFlags{name: filepath.Join(t.TempDir(), "known.expect"), updates: true}).read(selection{},
				"push/accepted", "ack/accepted")
			require.NoError(t, err)
			p := process{shared.Process{Err: &log, LookupEnv: func(string) (string, bool) { return "", false }}}
			ctx := t.Context()
			if want == "interrupted: " {
				ctx = interrupted
			}
			e.apply(ctx, p, r, selection{}, func([]conformance.Check) []reports.Check { return nil })
			assert.Contains(t, log.String(), want)
			if want == "added push/accepted" {
				assert.FileExists(t, e.file.Name)
			} else {
				assert.NoFileExists(t, e.file.Name)
			}
		})
	}
}

// A check that this machine was too late for is played again, alone, before a gate is red: what is decided then counts.
func TestALateCheckIsTriedAgainAlone(t *testing.T) {
	t.Parallel()
	newCheck := func(v reports.Verdict, reason reports.ReasonCode) reports.Check {
		return reports.Check{ID: "push/accepted", Verdict: v, Clauses: []reports.ClauseVerdict{
			{ID: "FWP-PUSH-01", Verdict: v, Reason: reason},
		}}
	}
	lateCheck, passCheck := newCheck(reports.Inconclusive, reports.ReasonLag), newCheck(reports.Pass, "")
	for name, test := range map[string]struct {
		first, second reports.Check
		replays, code int
	}{
		"late, then well":    {lateCheck, passCheck, 1, reports.ExitWell},
		"no time, then well": {newCheck(reports.NotRun, reports.ReasonTime), passCheck, 1, reports.ExitWell},
		"late twice":         {lateCheck, lateCheck, 1, reports.ExitInconclusive},
		"another reason":     {newCheck(reports.Inconclusive, reports.ReasonSetUp), passCheck, 0, reports.ExitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picks := selection{checks: []conformance.Check{conformance.Property{Name: "push/accepted"}}}
			file := filepath.Join(t.TempDir(), "known.expect")
			require.NoError(t, os.WriteFile(file, nil, 0o600))
			e, err := (&expectFlags{name: file}).read(picks)
			require.NoError(t, err)
			p := process{shared.Process{Err: new(bytes.Buffer), LookupEnv: func(string) (string, bool) { return "", false }}}
			replays, r := 0, &reports.Report{Checks: []reports.Check{test.first}, Clauses: []reports.Clause{
				{ID: "FWP-PUSH-01", Verdict: test.first.Verdict, Checks: []string{"push/accepted"}},
			}}
			result := e.apply(t.Context(), p, r, picks, func(checks []conformance.Check) []reports.Check {
				replays += len(checks)
				return []reports.Check{test.second}
			})
			code, words := result.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.code, code, words)
			assert.Equal(t, test.replays, replays)
		})
	}
}

// The seed of a gate is the same in each run, unless one is given; every other run draws one.
func TestTheSeedOfAGate(t *testing.T) {
	t.Parallel()
	for args, isFixed := range map[string]bool{"": false, "--expect f": true, "--expect f --seed 7": false,
		"--seed 7": false} {
		o := options(t, strings.Fields(args)...)
		o.setSeed()
		assert.Equal(t, isFixed, o.seed == gateSeed, args)
		assert.Equal(t, isFixed, o.seedNote() != "", args)
	}
}

// A worker that this machine cannot start was not reached: fwpcheck is not to blame.
func TestAMachineThatStartsNoCommand(t *testing.T) {
	t.Parallel()
	trouble := failure(t.Context(), fmt.Errorf("%w: there is no /proc", target.ErrNoSupervisor))
	assert.Equal(t, "cannot run a command: there is no /proc", trouble.Unreachable)
	assert.Empty(t, trouble.Internal)
}

// A server is told from the one before by what it reports, or by a file; if nothing tells it, nothing is decided.
func TestServersOfAnUpgradeDiffer(t *testing.T) {
	t.Parallel()
	file := func(name, sum string) reports.SubjectFile { return reports.SubjectFile{Name: name, SHA256: sum} }
	for name, test := range map[string]struct {
		before, after appearance
		want          []string
	}{
		"versions": {appearance{name: "faktory 1.9.4"}, appearance{name: "faktory 1.10.0"},
			[]string{"what it reports (faktory 1.10.0)"}},
		"files": {
			appearance{files: []reports.SubjectFile{file("server", "0123456789abcdef")}},
			appearance{files: []reports.SubjectFile{file("server2", "fedcba9876543210")}},
			[]string{"its file (server2, SHA-256 fedcba987654; before server, 0123456789ab)"},
		},
		"scripts of one program": {
			appearance{files: []reports.SubjectFile{file("python3", "aa"), file("server.py", "bb")}},
			appearance{files: []reports.SubjectFile{file("python3", "aa"), file("server.py", "cc")}},
			[]string{"its file (server.py, SHA-256 cc; before server.py, bb)"},
		},
		"only one reports a version": {appearance{}, appearance{name: "faktory 1.10.0"}, nil},
		"the same":                   {appearance{name: "faktory 1.9.4"}, appearance{name: "faktory 1.9.4"}, nil},
		"nothing is known":           {appearance{}, appearance{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := appearance{}
			test.before.isKnown, test.after.isKnown = true, true
			_, err := last.next(&upgrade.RunningServer{}, test.before)
			require.NoError(t, err, "the first server need not be told from another one")
			site, err := last.next(&upgrade.RunningServer{}, test.after)
			assert.Equal(t, test.want, site.Differences)
			_, isUnseen := errors.AsType[*target.UnseenError](err)
			assert.Equal(t, test.want == nil, isUnseen)
		})
	}
}
