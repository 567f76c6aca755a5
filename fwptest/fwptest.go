// Package fwptest runs the conformance suite in the tests of a server written in Go: see [Run], its only function. Each
// check is a subtest: `go test -run` selects checks, and a finding is a test failure. [Options] selects checks and says
// what the server allows.
package fwptest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/known"
	"github.com/fwpsuite/fwp/scenarios"
)

// Options selects checks and says what they may do to the server. Nil and the zero value mean a quick run, on a
// server that others may use at the same time.
type Options struct {
	// Password is the server's password, if the URL has none.
	Password string
	// ShowSecrets makes tests log the password, its hash, the salt and the rounds. By default they log placeholders.
	ShowSecrets bool
	// TLS is used for a URL with the scheme tcp+tls. Nil means the certificate authorities of the system.
	TLS *tls.Config

	// Checks, Clauses and Levels are glob patterns that select checks. A check is selected if a pattern of each list
	// matches; an empty list matches all. The subtests of checks that a pattern of Skip matches are skipped.
	Checks, Clauses, Levels, Skip []string
	// Expect is the path of a file of known findings, relative to the folder of the test; see docs/known-findings.md.
	// If all findings of a check are listed, its subtest is skipped. A listed finding that is gone fails the test that
	// called Run. A check with a new finding is played again, alone, to see whether it fails each time.
	Expect string
	// Full includes the checks that wait for more than 5 s. A run then takes about two minutes.
	Full bool

	// Shared allows checks that touch jobs of other clients. Flush also allows checks that remove everything.
	Shared, Flush bool
	// Restart restarts the server in order. Kill stops it without warning and starts it again. Signal sets the state of
	// a worker to "quiet" or "terminate". Each returns when that is done. Nil skips the checks that need it.
	Restart, Kill func(ctx context.Context) error
	Signal        func(ctx context.Context, wid, state string) error

	// Strict makes a broken recommendation (SHOULD) fail its test.
	Strict bool
	// Seed determines the order of the checks and the names; random if zero. Tests log it.
	Seed uint64
	// Timeout is the longest wait for a reply; 10 s if zero.
	Timeout time.Duration
}

// reserve is what remains of the time until the deadline of the tests, for reporting.
const reserve = 5 * time.Second

// Run plays the checks of the suite on the server at url, tcp://[:password@]host[:port]. Each check is a parallel
// subtest of t. The subtest fails if a clause is broken or the check is inconclusive. It is skipped if the check
// needs something that the server does not have. It has the attributes "clause", "level" and "verdict". For each
// finding it writes a script to its artifact directory (go test -artifacts); fwpcheck plays the script again.
//
// Run returns before the checks are played: they all run at the same time after the calling test function has
// returned, as in `fwpcheck run`. So stop the server with t.Cleanup, not with defer. Run fails t at once if the
// server cannot be reached.
//
// The result of the test is not cached by go test, since the server may have changed. On Windows, use go test
// -count=1 for that.
//
//	func TestConformance(t *testing.T) {
//		server := start(t) // the server under test, on this machine
//		fwptest.Run(t, server.URL(), nil)
//	}
func Run(t *testing.T, url string, o *Options) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	preventCaching(flag.Lookup("test.testlogfile"))
	r, err := newRun(t.Context(), url, *o)
	if err != nil {
		t.Fatalf("fwptest: %v", err)
	}
	t.Cleanup(func() { r.reportStale(t) })
	for _, check := range r.checks {
		description := check.Describe()
		t.Run(description.ID, func(t *testing.T) {
			r.choose(t, check, description.ID) // one after the other, until all are parallel
			t.Parallel()
			r.once.Do(func() { r.play(t) })
			r.judge(t, description.ID)
		})
	}
}

// preventCaching keeps go test from replaying the result of a test, "(cached)", whose server is another one by then: it
// caches none without the log of what the test has read. Where the file cannot be removed, on Windows, -count=1 does
// it.
func preventCaching(log *flag.Flag) {
	if log != nil && log.Value.String() != "" {
		_ = os.Remove(log.Value.String())
	}
}

// suiteRun is one run of the suite, from the choice of the checks to their results.
type suiteRun struct {
	ctx        context.Context //nolint:containedctx // that of the test, which its sub-tests share
	options    Options
	server     run.Server
	checks     []conformance.Check
	expectFile *known.File // nil if there is none
	setting    known.Setting
	selection  []conformance.Check // of these, by go test -run

	once   sync.Once
	report *reports.Report
	byID   map[string]*reports.Check
}

// choose has a check played, or skips its test.
func (r *suiteRun) choose(t *testing.T, check conformance.Check, id string) {
	t.Helper()
	if r.isSkipped(id) {
		t.Skip("left out by Options.Skip")
	}
	r.selection = append(r.selection, check)
}

// newRun connects to the server, and selects the checks.
func newRun(ctx context.Context, url string, o Options) (*suiteRun, error) {
	address, err := target.ParseURL(url)
	if err != nil {
		return nil, err
	}
	server := &target.Server{Address: address, Operator: operator{o}, Probe: target.Probe{Ready: checkServing}}
	if address.TLS {
		if server.TLS = o.TLS.Clone(); server.TLS == nil {
			server.TLS = &tls.Config{ServerName: address.Host, MinVersion: tls.VersionTLS12}
		}
	}
	o.Password = cmp.Or(o.Password, address.Password)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Seed = cmp.Or(o.Seed, rand.Uint64())
	id, err := fwpsuite.Protocol().Identify(ctx, server, o.Timeout)
	if err == nil && id.Protected {
		err = fwpsuite.Authenticate(ctx, server, o.Password, o.Timeout)
	}
	if err != nil {
		return nil, errors.New(o.hide(err.Error()))
	}
	all, err := crowd.Suite()
	if err != nil {
		return nil, err
	}
	checks, _, err := conformance.Selection{
		Suite:  fwpsuite.Protocol(),
		Checks: o.Checks, Clauses: o.Clauses, Levels: o.Levels, Quick: !o.Full,
	}.Apply(all)
	runServer := run.Server{Target: server, Password: o.Password, Offers: o.offers(id.Protected)}
	r := &suiteRun{ctx: ctx, options: o, server: runServer, checks: checks}
	if err == nil {
		err = cmp.Or(o.validateSkip(), r.readKnown(all))
	}
	return r, err
}

// checkServing asks a server whether it does.
func checkServing(ctx context.Context, s *target.Server) error {
	_, err := fwpsuite.Protocol().Identify(ctx, s, 2*time.Second)
	return err
}

// hide returns a text without secrets, unless they are to be shown.
func (o *Options) hide(text string) string {
	if o.ShowSecrets {
		return text
	}
	return target.NewSecrets(o.Password).Hide(text)
}

// offers returns what the server offers.
func (o *Options) offers(isProtected bool) []scenarios.Need {
	return run.Offers(map[scenarios.Need]bool{
		scenarios.NeedOpen: !isProtected, scenarios.NeedPassword: isProtected,
		scenarios.NeedSignals: o.Signal != nil, scenarios.NeedRestart: o.Restart != nil,
		scenarios.NeedKill: o.Kill != nil, scenarios.NeedAlone: o.Shared || o.Flush, scenarios.NeedFlush: o.Flush,
	})
}

// play runs the selected checks.
func (r *suiteRun) play(t *testing.T) {
	ctx := r.ctx
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-reserve))
		defer cancel()
	}
	r.report = r.runner(r.selection).Run(ctx)
	r.applyKnown(ctx)
	reports.Hide(r.options.hide, r.report)
	r.byID = map[string]*reports.Check{}
	for i := range r.report.Checks {
		r.byID[r.report.Checks[i].ID] = &r.report.Checks[i]
	}
}

// runner returns what plays some checks.
func (r *suiteRun) runner(checks []conformance.Check) *run.Runner {
	return &run.Runner{
		Suite:   fwpsuite.Protocol(),
		Servers: []run.Server{r.server}, Checks: checks, Seed: r.options.Seed,
		Timeout: r.options.Timeout, Quick: !r.options.Full, Provide: provide(),
	}
}

// provide returns, for each need, the field of Options that meets it.
func provide() map[scenarios.Need]string {
	return map[scenarios.Need]string{
		scenarios.NeedOpen:     "run it on a server without a password, too",
		scenarios.NeedPassword: "run it on a server with a password, too",
		scenarios.NeedSignals:  "set Options.Signal",
		scenarios.NeedRestart:  "set Options.Restart",
		scenarios.NeedKill:     "set Options.Kill",
		scenarios.NeedAlone:    "set Options.Shared",
		scenarios.NeedFlush:    "set Options.Flush",
	}
}

// operator does what the functions of Options do.
type operator struct{ options Options }

// Can implements target.Operator.
func (o operator) Can(action target.Action) bool {
	switch action {
	case target.Restart:
		return o.options.Restart != nil
	case target.Kill:
		return o.options.Kill != nil
	case target.Quiet, target.Terminate:
		return o.options.Signal != nil
	}
	return false
}

// Do implements target.Operator.
func (o operator) Do(ctx context.Context, action target.Action, wid string) error {
	switch action {
	case target.Restart:
		return o.options.Restart(ctx)
	case target.Kill:
		return o.options.Kill(ctx)
	}
	return o.options.Signal(ctx, wid, string(action))
}
