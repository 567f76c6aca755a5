package fwptest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

// TestMain has the short tests run, unless FWP_SLOW=1 asks for everything.
func TestMain(m *testing.M) {
	if !golden.IsSlow() {
		if err := flag.Set("test.short", "true"); err != nil { // before m.Run, which reads the command line
			panic(err)
		}
	}
	m.Run()
}

// newServer starts a fake server that ends with the test and its sub-tests.
func newServer(t *testing.T, config fakes.Config) *fakes.Server {
	t.Helper()
	s := fakes.NewServer(config)
	t.Cleanup(s.Close)
	return s
}

// TestConformance is what a server's author writes.
func TestConformance(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{})
	Run(t, s.URL(), &Options{Checks: []string{"hello/*", "ack/*"}, Shared: true})
}

func TestConformanceWithAPassword(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{Password: "secret"})
	Run(t, s.URL(), &Options{Checks: []string{"auth/*", "hello/hi-protected"}})
}

// notes is a test that only records.
type notes struct {
	dir                 string
	attrs               []string
	logs, errors, skips []string
}

func (n *notes) Helper()                      {}
func (n *notes) Attr(key, value string)       { n.attrs = append(n.attrs, key+"="+value) }
func (n *notes) ArtifactDir() string          { return n.dir }
func (n *notes) Logf(format string, a ...any) { n.logs = append(n.logs, fmt.Sprintf(format, a...)) }
func (n *notes) Errorf(format string, a ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, a...))
}
func (n *notes) Skipf(format string, a ...any) { n.skips = append(n.skips, fmt.Sprintf(format, a...)) }

// playCheck plays one check on a server and returns what its test would have said.
func playCheck(t *testing.T, s *fakes.Server, check string, o Options) *notes {
	t.Helper()
	o.Checks = []string{check}
	r, err := newRun(t.Context(), s.URL(), o)
	require.NoError(t, err)
	r.selection = r.checks
	r.play(t)
	n := &notes{dir: t.TempDir()}
	r.judge(n, check)
	r.reportStale(n)
	return n
}

// bug returns a bug of the catalogue.
func bug(t *testing.T, name string) fakes.Bug {
	t.Helper()
	f, ok := bugs.Lookup(name)
	require.True(t, ok)
	return f
}

func TestAFindingFailsItsTest(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{Hook: bug(t, "push-other-answer").Hook()})
	n := playCheck(t, s, "push/accepted", Options{Seed: 7})
	require.Len(t, n.errors, 1)
	assert.Contains(t, n.errors[0], "FWP-PUSH-01")
	assert.Contains(t, n.errors[0], "expected")
	assert.Contains(t, n.attrs, "clause=FWP-PUSH-01")
	assert.Contains(t, n.attrs, "verdict=fail")
	assert.Empty(t, playCheck(t, s, "hello/hi-version", Options{}).errors, "it is right about HELLO")
}

func TestAWarningFailsOnlyIfStrict(t *testing.T) {
	t.Parallel()
	for strict, errors := range map[bool]int{false: 0, true: 1} {
		n := &notes{}
		r := &suiteRun{options: Options{Strict: strict}, report: &reports.Report{}, byID: map[string]*reports.Check{"a": {
			ID: "a", Verdict: reports.Warn, Clauses: []reports.ClauseVerdict{{ID: "FWP-X-1", Verdict: reports.Warn}},
			Findings: []reports.Finding{{Clause: "FWP-X-1", Verdict: reports.Warn}},
		}}}
		r.judge(n, "a")
		assert.Len(t, n.errors, errors)
		assert.Len(t, n.logs, 1-errors)
		assert.Contains(t, n.attrs, "verdict=warn")
	}
}

func TestWhatTheServerDoesNotOfferIsSkipped(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{})
	n := playCheck(t, s, "flush/ok", Options{})
	assert.Empty(t, n.errors)
	require.Len(t, n.skips, 1)
	assert.Contains(t, n.skips[0], "set Options.Flush")
	assert.Empty(t, playCheck(t, s, "flush/ok", Options{Flush: true}).skips)
}

// go test caches no result whose log is gone.
func TestResultsAreNotCached(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "testlog.txt")
	require.NoError(t, os.WriteFile(log, []byte("# test log\n"), 0o600))
	flags := flag.NewFlagSet("x.test", flag.ContinueOnError)
	flags.String("test.testlogfile", log, "")
	preventCaching(flags.Lookup("test.testlogfile"))
	assert.NoFileExists(t, log)
	preventCaching(nil)
}

func TestInconclusiveFails(t *testing.T) {
	t.Parallel()
	n := &notes{}
	r := &suiteRun{report: &reports.Report{}, byID: map[string]*reports.Check{"a": {
		Verdict: reports.Inconclusive, Clauses: []reports.ClauseVerdict{
			{ID: "FWP-X-1", Verdict: reports.Inconclusive, Cause: "the machine was late", Provide: "try again"},
		},
	}}}
	r.judge(n, "a")
	assert.Equal(t, []string{"inconclusive: the machine was late; try again"}, n.errors)
	r.judge(n, "b")
	assert.Equal(t, "not run: ", n.errors[1])
}

func TestScriptsAreKept(t *testing.T) {
	t.Parallel()
	n := &notes{dir: t.TempDir()}
	r := &suiteRun{report: &reports.Report{}, byID: map[string]*reports.Check{"explore/commands": {
		ID: "explore/commands", Verdict: reports.Fail,
		Findings: []reports.Finding{{Verdict: reports.Fail},
			{Verdict: reports.Fail, Evidence: reports.Evidence{Script: "S: +OK\n"}}},
	}}}
	r.judge(n, "explore/commands")
	text, err := os.ReadFile(filepath.Join(n.dir, "finding-2.fwp"))
	require.NoError(t, err)
	assert.Equal(t, "S: +OK\n", string(text))
}

func TestServersThatCannotBeTested(t *testing.T) {
	t.Parallel()
	s := newServer(t, fakes.Config{Password: "secret"})
	tests := map[string]struct {
		url     string
		options Options
		want    string
	}{
		"no URL":         {url: "localhost:7419", want: "is not a server URL"},
		"wrong password": {url: "tcp://:wrong@" + s.Addr(), want: "refuses the password"},
		"no such check":  {url: s.URL(), options: Options{Checks: []string{"no/such"}}, want: "no/such"},
		"no server":      {url: "tcp://127.0.0.1:1", want: "connection refused"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newRun(t.Context(), test.url, test.options)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "secret")
			assert.NotContains(t, err.Error(), ":wrong@")
		})
	}
}

func TestSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	const password, salt = "hunter2hunter2", "5a17f00d5a17f00d"
	hook := bug(t, "auth-hash-half").Hook()
	s := newServer(t, fakes.Config{Password: password, Salt: salt, Hook: hook})
	for _, show := range []bool{false, true} {
		n := playCheck(t, s, "auth/hash-near-misses", Options{Seed: 7, ShowSecrets: show})
		require.Len(t, n.errors, 1)
		assert.Equal(t, show, strings.Contains(n.errors[0], salt))
		assert.Equal(t, !show, strings.Contains(n.errors[0], "(salt)"))
		assert.Equal(t, show, regexp.MustCompile(`[0-9a-f]{32}`).MatchString(n.errors[0]))
	}
}
