package run_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/reports"
)

// runLimited runs checks on one server with a limit of connections, which refuses more of them
// with an error or silently. A reply takes a millisecond, and a connection two, so that the
// server has noticed which ones were closed before the next one is opened, also behind a reply that no client awaits.
func runLimited(t *testing.T, limit int, silent bool, all []conformance.Check, look func(*reports.Report)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		config := fakes.Config{MaxConnections: limit, Listen: target.Listen}
		var server *fakes.Server
		if silent {
			config.MaxConnections = 0
		}
		config.Hook = func(e *fakes.Event) {
			switch e.Point {
			case fakes.Accepted:
				e.Skip = e.Skip || silent && server.Connections() > limit
			case fakes.Writing:
				e.Delay += time.Millisecond
			}
		}
		server = fakes.NewUnstarted(config)
		server.Start()
		defer server.Close()
		offer := registry.OfferFWP(server, func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(2 * time.Millisecond)
			return target.Network.DialContext(ctx, network, addr)
		})
		look(runnerOn(offer, all).Run(t.Context()))
	})
}

func TestALimitOfConnectionsIsNoFinding(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"an error and a close": false, "a close without a word": true} {
		for _, limit := range []int{20, 7} {
			t.Run(fmt.Sprintf("%s, %d", name, limit), func(t *testing.T) {
				t.Parallel()
				if limit == 20 || silent {
					golden.OnlySlow(t)
				}
				checks := suite(t, false)
				if !golden.IsSlow() {
					checks = ninthPart(checks, 0)
				}
				runLimited(t, limit, silent, checks, func(r *reports.Report) {
					assert.Empty(t, r.Findings())
					for _, c := range r.Checks {
						if c.Verdict == reports.Inconclusive && limit < 20 {
							assert.Contains(t, c.Cause, "too few connections", c.ID)
							continue
						}
						fine := []reports.Verdict{reports.Pass, reports.Observed, reports.Skipped}
						assert.Contains(t, fine, c.Verdict, "%s: %s", c.ID, c.Cause)
					}
					if limit == 20 {
						assert.Less(t, r.Took, 12*longest(r).Took)
					}
				})
			})
		}
	}
}

func TestACheckWithTooFewConnectionsIsInconclusive(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for i := range 6 {
		fmt.Fprintf(&source, "connect c%d as consumer\nC[c%d]: INFO\nS[c%d]: $\n", i, i, i)
	}
	checks := copies(5, "x", beating)
	checks["auto"] = "clause FWP-INFO-01\n" + source.String()
	const four = "connect a as consumer\nconnect b as consumer\nconnect c as consumer\nconnect d as consumer\n"
	checks["raw"] = four + "clause FWP-HI-01\nS: +HI {}\n"
	checks["workers"] = "clause FWP-INFO-01\nrepeat 10 by 6 consumers\nC: INFO\nS: $\nend\n"
	checks["refused"] = four + "clause FWP-INFO-03\nC[a] bad: INFO x\nS[a]: -\nsetup\nC[a]: INFO\nS[a]: $\n"
	for name, silent := range map[string]bool{"an error and a close": false, "a close without a word": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runLimited(t, 4, silent, scripts(t, checks), func(r *reports.Report) {
				assert.Empty(t, r.Findings())
				for _, c := range r.Checks {
					switch {
					case strings.HasPrefix(c.ID, "x"):
						assert.Equal(t, reports.Pass, c.Verdict, c.ID)
					case c.ID == "refused" && !silent: // an error is a sign of life
						assert.Equal(t, reports.Pass, c.Verdict, c.ID)
					default:
						assert.Equal(t, reports.Inconclusive, c.Verdict, c.ID)
						assert.Contains(t, c.Clauses[0].Cause, "the target has too few connections for this check", c.ID)
						assert.Contains(t, c.Provide+c.Clauses[0].Provide, "raise the target's limit")
						assert.NotEmpty(t, c.Conversation)
					}
				}
			})
		})
	}
}

// remembering is the listener of a server that counts a connection for a moment after its end.
type remembering struct {
	net.Listener
	ended *atomic.Int64
}

func (l remembering) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return &remembered{Conn: nc, ended: l.ended}, err
}

type remembered struct {
	net.Conn
	ended     *atomic.Int64
	closeOnce sync.Once
}

func (c *remembered) Close() error {
	c.closeOnce.Do(func() {
		c.ended.Add(1)
		time.AfterFunc(300*time.Millisecond, func() { c.ended.Add(-1) })
	})
	return c.Conn.Close()
}

// A server at its limit is silent on a new connection, and stays so there. It may not have noticed yet which
// connections were closed when it is asked whether it serves.
func TestASilentLimitIsNoCrash(t *testing.T) {
	t.Parallel()
	const limit, greeted = 6, "clause FWP-HI-01\nS[a]: +HI {}\nS[b]: +HI {}\nS[c]: +HI {}\nsilence 1s\nS[d]: +HI {}\n"
	const source = "S[a]: +HI {}\nS[b]: +HI {}\nS[c]: +HI {}\nS[d]: +HI {}\nS[e]: +HI {}\nconnect f as consumer\n" +
		"clause FWP-INFO-03\nC[f] bad: INFO x\nS[f]: -\nsetup\nC[f]: INFO\nS[f]: $\n"
	checks := scripts(t, map[string]string{"x": greeted, "y": greeted, "z": source})
	synctest.Test(t, func(t *testing.T) {
		target := newTarget()
		var server *fakes.Server
		var ended atomic.Int64
		var unserved sync.Map // of *fakes.Conn: greetings are given at once
		server = fakes.NewUnstarted(fakes.Config{Listen: func() (net.Listener, error) {
			l, err := target.Listen()
			return remembering{l, &ended}, err
		}, Hook: func(e *fakes.Event) {
			switch e.Point {
			case fakes.Greeting:
				if server.Connections()+int(ended.Load()) > limit {
					unserved.Store(e.Conn, true)
					e.Skip = true
				}
			case fakes.Ran:
				if _, silent := unserved.Load(e.Conn); silent {
					e.Reply, e.Close = fwp.Reply{}, false
				}
			}
		}})
		server.Start()
		defer server.Close()
		offer := registry.OfferFWP(server, target.Network.DialContext)
		r := runnerOn(offer, checks).Run(t.Context())
		assert.Empty(t, r.Findings())
		for _, c := range r.Checks {
			if c.ID == "z" { // nothing is left for the question whether the server serves
				assert.Equal(t, reports.ReasonConnections, c.Reason, "%s: %s", c.Verdict, c.Cause)
				continue
			}
			assert.Equal(t, reports.Pass, c.Verdict, "%s: %s", c.ID, c.Cause)
		}
	})
}
