package crowd_test

import (
	"context"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestARightServer(t *testing.T) {
	t.Parallel()
	runLoad(t, serverWith("", ""), crowd.Crowd{Observers: 1}, func(t *testing.T, r *crowd.Result) {
		assert.Empty(t, r.Findings)
		assert.Empty(t, r.UnaccountedJobs)
		assert.True(t, r.IsServed && r.History.Drained && !r.IsDead)
		assert.GreaterOrEqual(t, r.Commands, 900, "three for each of 300 jobs")
		pending := map[history.Op]int{}
		for _, e := range r.History.Events {
			if e.Outcome == history.NoReply {
				pending[e.Op]++
			}
		}
		assert.Positive(t, pending[history.Push])
		assert.Positive(t, pending[history.Ack])
	})
}

// limitedTarget is a target that has no descriptors for more than some connections.
type limitedTarget struct {
	play.Target
	remaining atomic.Int64
}

func (s *limitedTarget) Dial(ctx context.Context) (net.Conn, error) {
	if s.remaining.Add(-1) < 0 {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}
	return s.Target.Dial(ctx)
}

// A load of which some clients are missing for want of descriptors has shown nothing: whoever watches for that knows.
func TestAShortageIsNoticed(t *testing.T) {
	t.Parallel()
	withServer(t, serverWith("", ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
		target := &limitedTarget{Target: e.Target}
		target.remaining.Store(10)
		e.Target, e.Steps = target, 300
		ctx, release := machine.Watch(t.Context())
		defer release()
		r := (&crowd.Crowd{Explorer: e}).Run(ctx)
		assert.Empty(t, r.Findings)
		assert.False(t, r.IsDead)
		assert.Contains(t, machine.Cause(ctx), "out of file descriptors")
	})
}

func TestVariationsAreNotBlamed(t *testing.T) {
	t.Parallel()
	for i, v := range variations.All() {
		if !golden.IsSlow() && i%12 != 0 {
			continue // package load plays a third
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			l := crowd.Crowd{Observers: 1, Explorer: explore.Explorer{Steps: 300, SkipsShrinking: true}}
			runLoad(t, serverWith("", v.Name), l, func(t *testing.T, r *crowd.Result) {
				assert.Empty(t, r.Findings)
			})
		})
	}
}

func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	names := []string{
		"delivered-twice", "push-lost", "ack-redelivered", "reply-swapped", "reply-null-array", "job-integer-rounded",
	}
	for _, name := range golden.Sample(names[:2], names) { // the third takes ten times as long as both
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := crowd.Crowd{Explorer: explore.Explorer{Steps: 1800, Findings: 5}}
			runLoad(t, serverWith(name, ""), l, func(t *testing.T, r *crowd.Result) {
				declared := bugNamed(t, name).Clauses
				for _, f := range r.Findings {
					t.Log(f.Clause, f.Rule, f.Detail, f.Got, "\n"+f.Script, f.UnscriptedReason)
				}
				assert.True(t, slices.ContainsFunc(r.Findings, func(f explore.Finding) bool {
					return slices.Contains(declared, f.Clause)
				}))
			})
		})
	}
}

func bugNamed(t *testing.T, name string) fakes.Bug {
	t.Helper()
	f, ok := bugs.Lookup(name)
	require.True(t, ok)
	return f
}

// TestTheLawJudgesALoad: what no history of jobs shows is found in the conversations, and told once. A check has it
// apart; an exploration has it shrunk.
func TestTheLawJudgesALoad(t *testing.T) {
	t.Parallel()
	for bug, rule := range map[string]string{"hi-version-3": "greeting", "worker-ack-refused": "refused"} {
		isScripted := rule == "greeting" // the other needs two connections of one worker
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			if !isScripted { // it is tried again and again
				golden.NotRacing(t)
			}
			declared := bugNamed(t, bug).Clauses
			l := crowd.Crowd{ExcludesLaw: true, Explorer: explore.Explorer{Steps: 300, SkipsShrinking: true}}
			runLoad(t, serverWith(bug, ""), l, func(t *testing.T, r *crowd.Result) {
				assert.Empty(t, r.Findings)
				require.NotEmpty(t, r.Law)
				assert.Equal(t, rule, r.Law[0].Rule)
				assert.Contains(t, declared, r.Law[0].Clause)
			})
			l = crowd.Crowd{Explorer: explore.Explorer{Steps: 300, Findings: 5}}
			runLoad(t, serverWith(bug, ""), l, func(t *testing.T, r *crowd.Result) {
				require.Len(t, r.Findings, 1)
				assert.Equal(t, rule, r.Findings[0].Rule)
				assert.Contains(t, declared, r.Findings[0].Clause)
				assert.Equal(t, isScripted, r.Findings[0].Script != "", r.Findings[0].UnscriptedReason)
			})
		})
	}
}

// TestTheLawStaysBehindAHistory: what follows from a job that comes twice is not told of the conversations too.
func TestTheLawStaysBehindAHistory(t *testing.T) {
	t.Parallel()
	l := crowd.Crowd{Explorer: explore.Explorer{Steps: 300, Findings: 5, SkipsShrinking: true}}
	runLoad(t, serverWith("delivered-twice", ""), l, func(t *testing.T, r *crowd.Result) {
		assert.NotEmpty(t, r.Law)
		for _, f := range r.Findings {
			assert.Equal(t, crowd.RuleHistory, f.Rule)
		}
	})
}
