package crowd_test

import (
	"cmp"
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// fixture is a place in virtual time where servers with one behaviour are started.
type fixture struct {
	config func() fakes.Config
}

// server is an embedded server as a target.
type server struct {
	*fakes.Server
	place memnet.Place
}

func (s server) Dial(ctx context.Context) (net.Conn, error) { return s.place.Dial(ctx) }

// Restart is an orderly restart.
func (s server) Restart(context.Context) error { return s.Server.Restart() }

func (f *fixture) start() (play.Target, func(), error) { return f.startProtected("") }

// startProtected starts a server with a password, unless that is empty.
func (f *fixture) startProtected(password string) (play.Target, func(), error) {
	c := f.config()
	at := memnet.NewPlace()
	c.Listen, c.Password = at.Listen, cmp.Or(password, c.Password)
	s := fakes.NewServer(c)
	return server{s, at}, s.Close, nil
}

// serverWith is a server with a bug or a variation, either of which may be "".
func serverWith(bug, variation string) func() fakes.Config {
	return func() fakes.Config {
		var c fakes.Config
		if f, ok := bugs.Lookup(bug); ok {
			c.Hook = f.Hook()
		}
		if v, ok := variations.Lookup(variation); ok {
			v.Configure(&c)
		}
		return c
	}
}

// withServer runs a function in virtual time, with an explorer for a server of a kind.
func withServer(t *testing.T, config func() fakes.Config, run func(t *testing.T, e explore.Explorer, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{config: config}
		target, end, err := f.start()
		require.NoError(t, err)
		defer end()
		run(t, explore.Explorer{
			Alphabet: moves.New(), Target: target, Password: config().Password, Seed: 1, StartTarget: f.start,
		}, f)
	})
}

// runLoad runs a load in virtual time.
func runLoad(t *testing.T, config func() fakes.Config, l crowd.Crowd, look func(t *testing.T, r *crowd.Result)) {
	t.Helper()
	withServer(t, config, func(t *testing.T, e explore.Explorer, _ *fixture) {
		limits := l.Explorer
		e.Steps, e.Findings, e.SkipsShrinking = limits.Steps, limits.Findings, limits.SkipsShrinking
		l.Explorer = e
		look(t, l.Run(t.Context()))
	})
}
