package explore_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// stage is a place in virtual time where servers with one behaviour are started.
type stage struct {
	config func() fakes.Config
}

// server is an embedded server as a target.
type server struct {
	*fakes.Server
	at memnet.Place
}

func (s server) Dial(ctx context.Context) (net.Conn, error) { return s.at.Dial(ctx) }

// Restart is an orderly restart.
func (s server) Restart(context.Context) error { return s.Server.Restart() }

// Signal is what an operator does.
func (s server) Signal(_ context.Context, wid, state string) error {
	return s.Server.Signal(wid, state)
}

func (s *stage) start() (play.Target, func(), error) {
	c := s.config()
	at := memnet.NewPlace()
	c.Listen = at.Listen
	if c.Iterations == 0 {
		c.Iterations = 5
	}
	f := fakes.NewServer(c)
	return server{f, at}, f.Close, nil
}

// exploring runs an explorer in virtual time against servers of a kind.
func exploring(t *testing.T, config func() fakes.Config, e explore.Explorer,
	look func(t *testing.T, r *explore.Result, fresh *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config}
		target, end, err := s.start()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		e.Target, e.Password, e.Alone, e.Restarts = target, config().Password, true, true
		if e.LongestWait == 0 {
			e.LongestWait = 10 * time.Minute
		}
		e.StartTarget, e.WatchStep = s.start, settled(e.WatchStep)
		look(t, e.Run(t.Context()), s)
	})
}

// settled has each step wait until all goroutines of the bubble are idle, so that what a
// step finds does not depend on the scheduler: the same seed gives the same run.
func settled(watch func(explore.Step)) func(explore.Step) {
	return func(step explore.Step) {
		synctest.Wait()
		if watch != nil {
			watch(step)
		}
	}
}

// campaign runs a campaign in virtual time against servers of a kind: what the command
// `explore` does.
func campaign(t *testing.T, config func() fakes.Config, c crowd.Campaign,
	look func(t *testing.T, r *explore.Result, loaded *crowd.Result, fresh *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config}
		target, end, err := s.start()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		e := &c.Explorer
		e.Target, e.Password, e.Alone, e.Restarts, e.StartTarget = target, config().Password, true, true, s.start
		r, loaded := c.Run(t.Context())
		look(t, r, loaded, s)
	})
}

// replay runs a script on a server of its own and tells how that went: "" if the
// clause is a finding where it should be one, and the whole holds where not.
func replay(t *testing.T, s *stage, text, clause string, isBroken bool) string {
	t.Helper()
	script, err := scenarios.Parse(fwpscript.Dialect{}, "found.fwp", []byte(text))
	if err != nil {
		return "does not parse: " + err.Error()
	}
	for _, p := range scenarios.Lint(script) {
		if !p.Advice {
			return "lint: " + p.Error()
		}
	}
	target, end, err := s.start()
	if err != nil {
		return err.Error()
	}
	defer end()
	served := run.Server{Target: &settledTarget{server: target.(server)}, Password: s.config().Password,
		Offers: []scenarios.Need{scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedOpen, scenarios.NeedPassword,
			scenarios.NeedSignals, scenarios.NeedRestart}}
	report := (&run.Runner{Suite: fwpsuite.Protocol(), Servers: []run.Server{served},
		Checks:  conformance.Scripts(script),
		Virtual: true}).Run(t.Context())
	check := report.Checks[0]
	if !isBroken {
		// On a right server the script of a finding need not meet what the clause is about.
		isUnmet := func(c reports.ClauseVerdict) bool {
			return c.Reason == reports.ReasonSetUp && c.IsHalted && !c.HasOtherBreach
		}
		isOpen := check.Verdict == reports.Inconclusive && !slices.ContainsFunc(check.Clauses, isUnmet)
		if check.Verdict.IsBreach() || isOpen {
			return "not right on a right server: " + check.Verdict.String() + " " + fmt.Sprint(check.Findings)
		}
		return ""
	}
	for _, c := range check.Clauses {
		if c.ID == clause && c.Verdict.IsBreach() {
			return ""
		}
	}
	if check.Verdict == reports.Crash {
		return ""
	}
	return fmt.Sprint("not reproduced: ", check.Verdict, " ", check.Cause, " ", check.Clauses)
}

// settledTarget waits before each connection until all goroutines of the bubble are idle: what a server makes of the
// end of one connection does not depend on the scheduler.
type settledTarget struct {
	server
	waits atomic.Bool // one goroutine may
}

func (s *settledTarget) Dial(ctx context.Context) (net.Conn, error) {
	if s.waits.CompareAndSwap(false, true) {
		synctest.Wait()
		s.waits.Store(false)
	}
	return s.server.Dial(ctx)
}

// dialed is an embedded server on a real socket.
type dialed struct{ *fakes.Server }

func (d dialed) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", d.Addr())
}
