package explore_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/proxy"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// disruptable is an embedded server behind a proxy.
type disruptable struct {
	server
	proxy *proxy.Proxy
	front memnet.Place
}

func (d disruptable) Dial(ctx context.Context) (net.Conn, error) { return d.front.Dial(ctx) }

// Kill ends it without warning.
func (d disruptable) Kill(context.Context) error { return d.Server.Kill() }

// Disrupt implements [explore.Disrupter]. A pause is a partition.
func (d disruptable) Disrupt(_ context.Context, action target.Action) (func(context.Context) error, error) {
	if action == target.Pause || action == target.Partition {
		d.proxy.Set(proxy.Condition{HeldSides: []proxy.Side{proxy.Client, proxy.Server}})
		return func(context.Context) error { d.proxy.Set(proxy.Condition{}); return nil }, nil
	}
	return func(context.Context) error { return d.Up() }, d.Down(action != target.Restart)
}

// startDisruptable starts such a server.
func (s *stage) startDisruptable() (play.Target, func(), error) {
	started, end, err := s.start()
	if err != nil {
		return nil, nil, err
	}
	behind := started.(server)
	d := disruptable{behind, proxy.New(proxy.Config{Dial: behind.Dial}), memnet.NewPlace()}
	l := d.front.MustListen()
	ctx, stop := context.WithCancel(context.Background())
	go d.proxy.Serve(ctx, l) //nolint:errcheck // its end shows
	return d, func() { stop(); d.proxy.Close(); end() }, nil
}

// disrupting explores a server in virtual time with all disruptions.
// Targets are made another one by around.
func disrupting(
	t *testing.T, config func() fakes.Config, e explore.Explorer, look func(*explore.Result),
	around ...func(play.Target) play.Target,
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{config}
		target, end, err := s.startDisruptable()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		for _, change := range around {
			target = change(target)
		}
		e.Alphabet, e.Target, e.Password, e.StartTarget = moves.New(), target, config().Password, s.startDisruptable
		if e.Alone, e.Restarts, e.WatchStep = true, true, settled(nil); e.Disrupt == nil {
			e.Disrupt = e.Alphabet.Disruptions
		}
		look(e.Run(t.Context()))
	})
}

// restored is a server with a bug in what it keeps, which shows behind a stop only.
func restored(name string) func() fakes.Config {
	name, killed := strings.CutSuffix(name, " when killed")
	i := slices.IndexFunc(bugs.Snapshots(), func(f catalogue.Bug[fakes.Snapshot]) bool { return f.Name == name })
	return func() fakes.Config {
		hook := bugs.Snapshots()[i].Hook()
		return fakes.Config{Restored: func(s *fakes.Snapshot) {
			if !killed || s.Killed {
				hook(s)
			}
		}}
	}
}

// A bug that needs a disruption is found unaided, as a short script that stops the server.
func TestDisruptionsShowBugs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disrupt target.Action
		clause  string
	}{
		"keeps-no-last when killed": {target.KillServer, "FWP-STATE-08"},
		"keeps-no-last":             {target.KillServer, "FWP-STATE-08"}, // acknowledged before it was stored
		"keeps-queues-twice":        {target.Restart, "FWP-STATE-05"},
		"keeps-no-schedule":         {target.Kill, "FWP-STATE-08"},
		"keeps-schedule-due":        {target.Kill, "FWP-WU-06"},
		"keeps-no-custom":           {target.Kill, "FWP-WU-11"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := explore.Explorer{Seed: *seed, Steps: commands(4000, 20_000), LongestWait: 10 * time.Minute,
				Disrupt: []target.Action{test.disrupt}}
			disrupting(t, restored(name), e, func(r *explore.Result) {
				i := slices.IndexFunc(r.Findings, func(f explore.Finding) bool { return f.Clause == test.clause })
				if !assert.GreaterOrEqual(t, i, 0, "%d commands, %+v", r.Commands, r.Findings) {
					return
				}
				f := r.Findings[i]
				t.Logf("%d commands, %d of %d\n%s", f.Commands, f.Hits, f.Tries, f.Script)
				assert.Equal(t, f.Tries, f.Hits)
				_, body, _ := strings.Cut(f.Script, "\n\n")
				assert.LessOrEqual(t, strings.Count(body, "\n"), 12, f.Script)
				stop := map[bool]string{true: "\nkill\n", false: "\nrestart\n"}[strings.HasSuffix(name, "killed")]
				assert.Contains(t, f.Script, stop, "the plainest that shows it")
			})
		})
	}
}

// Nothing is found, whatever is done to a server that conforms.
func TestDisruptionsOfARightServer(t *testing.T) {
	t.Parallel()
	all := append(variations.All(), variations.Snapshots()...)
	all = append(all, fakes.Variation{Name: "none", Configure: func(*fakes.Config) {}})
	const last = 4
	for i, v := range all {
		if !golden.IsSlow() && *filter == "" && i < len(all)-last && v.Name != "kill-forgets" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			e := explore.Explorer{Seed: *seed, Steps: commands(1200, 2500), SkipsShrinking: true}
			if i%2 == 0 {
				e.LongestWait = 10 * time.Minute
			}
			configure := func() (c fakes.Config) {
				if strings.HasPrefix(v.Name, "password") {
					c.Password = "correct horse"
				}
				v.Configure(&c)
				return c
			}
			disrupting(t, configure, e, func(r *explore.Result) {
				for _, f := range r.Findings {
					if new(allow.Usage).Allows(v.Allows, allow.Warn, f.Clause) {
						continue
					}
					t.Errorf("%s %s: expected %s, got %s: %s\n%s", f.Clause, f.Rule, f.Expected, f.Got, f.Detail,
						strings.Join(f.Unshrunk, "\n"))
				}
				assert.False(t, r.IsDead)
			})
		})
	}
}

// strayed is a server that does not start again, or of which a disruption is not seen.
type strayed struct {
	play.Target

	begin, end error
}

// Disrupt implements [explore.Disrupter].
func (s strayed) Disrupt(context.Context, target.Action) (func(context.Context) error, error) {
	return func(context.Context) error { return s.end }, s.begin
}

type unseenError struct{ error }

func (unseenError) Unseen() bool { return true }

// A server that does not start again has not crashed, and a disruption that was not seen decides nothing.
func TestDisruptionsThatFailAreNoFindings(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]strayed{
		"not started again": {end: errors.New("it ended (exit status 1)")},
		"unseen":            {begin: unseenError{errors.New("it still serves")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := explore.Explorer{Seed: 1, Steps: 300, SkipsShrinking: true, Disrupt: []target.Action{target.Kill}}
			disrupting(t, func() fakes.Config { return fakes.Config{} }, e, func(r *explore.Result) {
				assert.Empty(t, r.Findings)
				assert.Equal(t, s.end, r.NotStarted)
				assert.Equal(t, s.begin != nil, len(r.UnseenErrs) > 0)
			}, func(target play.Target) play.Target { s.Target = target; return s })
		})
	}
}
