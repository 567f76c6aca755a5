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
	at memnet.Place
}

func (s server) Dial(ctx context.Context) (net.Conn, error) { return s.at.Dial(ctx) }

// Restart is an orderly restart.
func (s server) Restart(context.Context) error { return s.Server.Restart() }

func (f *fixture) start() (play.Target, func(), error) { return f.startWith("") }

// startWith starts a server with a password, unless that is empty.
func (f *fixture) startWith(password string) (play.Target, func(), error) {
	c := f.config()
	at := memnet.NewPlace()
	c.Listen, c.Password = at.Listen, cmp.Or(password, c.Password)
	s := fakes.NewServer(c)
	return server{s, at}, s.Close, nil
}

// behaving is a server with a bug or a variation, either of which may be "".
func behaving(bug, variation string) func() fakes.Config {
	return func() fakes.Config {
		var c fakes.Config
		if f, known := bugs.Named(bug); known {
			c.Hook = f.Hook()
		}
		if v, known := variations.Named(variation); known {
			v.Configure(&c)
		}
		return c
	}
}

// in runs a function in virtual time, with an explorer for a server of a kind.
func in(t *testing.T, config func() fakes.Config, run func(t *testing.T, e explore.Explorer, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{config: config}
		target, end, err := f.start()
		require.NoError(t, err)
		defer end()
		run(t, explore.Explorer{
			Subject: moves.New(), Target: target, Password: config().Password, Seed: 1, Fresh: f.start,
		}, f)
	})
}

// loaded runs a load in virtual time.
func loaded(t *testing.T, config func() fakes.Config, l crowd.Load, look func(t *testing.T, r *crowd.Result)) {
	t.Helper()
	in(t, config, func(t *testing.T, e explore.Explorer, _ *fixture) {
		given := l.Explorer
		e.Steps, e.Findings, e.Unshrunk = given.Steps, given.Findings, given.Unshrunk
		l.Explorer = e
		look(t, l.Run(t.Context()))
	})
}
