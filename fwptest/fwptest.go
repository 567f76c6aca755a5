// Package fwptest runs the conformance suite inside a server's own tests: each check is a sub-test, so that `go test
// -run` picks checks, and a finding stands where other failures of the server stand.
//
//	func TestConformance(t *testing.T) {
//		server := start(t) // the server under test, on this machine
//		fwptest.Run(t, server.URL(), nil)
//	}
//
// Run is the whole of it; [Options] says what the server offers.
package fwptest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/expect"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Options say what is checked and what may be done to the server. Nil or a zero value is a quick run on
// a server that others may use at the same time.
type Options struct {
	// Password is that of the server, if the URL has none.
	Password string
	// ShowSecrets leaves the salt, the rounds, the hash and the password in what tests log; otherwise placeholders are
	// in their places.
	ShowSecrets bool
	// TLS is used for a URL with the scheme tcp+tls; nil means the authorities of the system.
	TLS *tls.Config

	// Checks, Clauses and Levels select: glob patterns, of which one must match; all if empty. The tests of checks that
	// a pattern of Skip matches are skipped.
	Checks, Clauses, Levels, Skip []string
	// Expect is a file of known findings, relative to the folder of the test; docs/known-findings.md describes it. The
	// test of a check of which all findings are known is skipped, and a line that is no longer so fails the test that
	// called Run. A check with a finding that is not known is played again, alone, to see whether it is steady.
	Expect string
	// Full includes the checks that have to wait for more than 5 s. The whole takes some two minutes then.
	Full bool

	// Shared allows what touches jobs of other clients, Flush also what removes everything on the server.
	Shared, Flush bool
	// Restart restarts the server in order, Kill stops it without warning and starts it again, Signal quiets or
	// terminates a worker: state is "quiet" or "terminate". Each returns when that is done. Checks that need one that
	// is nil are skipped.
	Restart, Kill func(ctx context.Context) error
	Signal        func(ctx context.Context, wid, state string) error

	// Strict makes a broken recommendation (SHOULD) fail its test.
	Strict bool
	// Seed is what the order and the names are drawn from; random if zero. Tests log it.
	Seed uint64
	// Timeout is the longest wait for a reply; 10 s if zero.
	Timeout time.Duration
}

// reserve is what remains of the time until the deadline of the tests, for reporting.
const reserve = 5 * time.Second

// Run plays the checks of the suite on the server at a URL, tcp://[:password@]host[:port], as parallel sub-tests of t,
// one for each check. A broken clause fails the test of its check, and so does a check that is inconclusive; a check
// that needs what the server does not offer is skipped. Each test has the attributes "clause", "level" and "verdict",
// and for each finding a script that shows it again in its artifact directory (go test -artifacts): fwpcheck plays it.
//
// All checks run at the same time, as in `fwpcheck run`, once the function that called Run has returned: end the server
// with t.Cleanup, since a defer would end it before. Run fails t at once if the server is not there.
func Run(t *testing.T, url string, o *Options) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	r, err := newRun(t.Context(), url, *o)
	if err != nil {
		t.Fatalf("fwptest: %v", err)
	}
	t.Cleanup(func() { r.stale(t) })
	for _, check := range r.checks {
		about := check.Describe()
		t.Run(about.ID, func(t *testing.T) {
			r.choose(t, check, about.ID) // one after the other, until all are parallel
			t.Parallel()
			r.once.Do(func() { r.play(t) })
			r.judge(t, about.ID)
		})
	}
}

// run is one run of the suite, from the choice of the checks to their results.
type suiteRun struct {
	ctx      context.Context //nolint:containedctx // that of the test, which its sub-tests share
	options  Options
	server   run.Server
	checks   []conformance.Check
	known    *expect.File // nil if there is none
	setting  expect.Setting
	selected []conformance.Check // of these, by go test -run

	once   sync.Once
	report *reports.Report
	byID   map[string]*reports.Check
}

// choose has a check played, or skips its test.
func (r *suiteRun) choose(t *testing.T, check conformance.Check, id string) {
	t.Helper()
	if r.skips(id) {
		t.Skip("left out by Options.Skip")
	}
	r.selected = append(r.selected, check)
}

// newRun connects to the server, and selects the checks.
func newRun(ctx context.Context, url string, o Options) (*suiteRun, error) {
	address, err := target.ParseURL(url)
	if err != nil {
		return nil, err
	}
	server := &target.Server{Address: address, Operator: operator{o}}
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
	all, err := stress.Suite()
	if err != nil {
		return nil, err
	}
	checks, _, err := conformance.Selection{
		Protocol: fwpsuite.Protocol(),
		Checks:   o.Checks, Clauses: o.Clauses, Levels: o.Levels, Quick: !o.Full,
	}.Apply(all)
	offered := run.Server{Target: server, Password: o.Password, Offers: o.offers(id.Protected)}
	r := &suiteRun{ctx: ctx, options: o, server: offered, checks: checks}
	if err == nil {
		err = cmp.Or(o.validateSkip(), r.readKnown(all))
	}
	return r, err
}

// hide returns a text without secrets, unless they are to be shown.
func (o *Options) hide(text string) string {
	if o.ShowSecrets {
		return text
	}
	return target.NewSecrets(o.Password).Hide(text)
}

// offers returns what the server offers.
func (o *Options) offers(protected bool) []scenarios.Need {
	return run.Offers(map[scenarios.Need]bool{
		scenarios.NeedOpen: !protected, scenarios.NeedPassword: protected,
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
	r.report = r.runner(r.selected).Run(ctx)
	r.hold(ctx)
	r.report.Hide(r.options.hide)
	r.byID = map[string]*reports.Check{}
	for i := range r.report.Checks {
		r.byID[r.report.Checks[i].ID] = &r.report.Checks[i]
	}
}

// runner returns what plays some checks.
func (r *suiteRun) runner(checks []conformance.Check) *run.Runner {
	return &run.Runner{
		Protocol: fwpsuite.Protocol(),
		Servers:  []run.Server{r.server}, Checks: checks, Seed: r.options.Seed,
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
		scenarios.NeedEmbedded: "it is about the embedded server of fwpcheck",
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
	}
	return o.options.Signal != nil
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
