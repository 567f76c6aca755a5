package record

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

// recordLoad returns the names of the breaches of a load that passes through a recorder, in virtual time.
func recordLoad(t *testing.T, server fakes.Config, password string) (names []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		behind, front := memnet.NewPlace(), memnet.NewPlace()
		server.Listen = behind.Listen
		s := fakes.NewServer(server)
		defer s.Close()
		r := New(Config{
			Law: moves.Law(), Watch: clientrules.Config{Password: password},
			Dial:     behind.Dial,
			OnBreach: func(b clientrules.Breach) { names = append(names, b.Name) },
		})
		l := front.MustListen()
		served := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { served <- r.Serve(ctx, l) }()
		load.Run(t.Context(), load.Config{
			Workload: plan.Workload{
				Producers: 3, Consumers: 3, Observers: 1, ObserveEvery: plan.Duration(time.Second), Rate: 20, JobLimit: 100,
				Disconnects: 0.05, FailShare: 0.2, ExactIntegers: true, Payload: plan.Constant(20),
			},
			Run: load.NewRunName(), CoarseTimers: true, Protocol: fwpwire.New(server.Password),
			Dial: front.Dial,
		})
		cancel()
		r.Close()
		assert.NoError(t, <-served)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// TestTheLawJudgesTheServer: what only the law finds of what passes.
func TestTheLawJudgesTheServer(t *testing.T) {
	t.Parallel()
	for bug, want := range map[string]string{
		"hi-version-3": "law/greeting FWP-HI-03", "job-integer-rounded": "law/field FWP-WU-03",
		"ack-other-answer": "law/foreign FWP-ACK-01",
	} {
		f, ok := bugs.Lookup(bug)
		require.True(t, ok)
		assert.Contains(t, recordLoad(t, fakes.Config{Hook: f.Hook()}, ""), want, bug)
	}
}

// TestTheLawBlamesNoServer: clients that come and go, of a server of which the recorder knows the password, or not.
func TestTheLawBlamesNoServer(t *testing.T) {
	t.Parallel()
	for i, v := range variations.All() {
		if !golden.IsSlow() && i%10 != 0 || golden.Racing && i > 0 {
			continue
		}
		var c fakes.Config
		v.Configure(&c)
		passwords := []string{""}
		if c.Password != "" {
			passwords = append(passwords, c.Password)
		}
		for _, password := range passwords {
			for _, name := range recordLoad(t, c, password) {
				assert.False(t, strings.HasPrefix(name, LawPrefix), "%s: %s", v.Name, name)
			}
		}
	}
}

// TestTheLawOfAServerThatEnds: what it refuses until it is gone is no breach, although the recorder does not see
// that it is stopped; what it refuses and goes on is one, also where nothing is served later.
func TestTheLawOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	refuses := func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == fwp.PUSH {
			e.Err = errors.New("no")
		}
	}
	for name, test := range map[string]struct {
		hook    func(*fakes.Event)
		restart bool
		want    []string
	}{
		"it is stopped": {func(*fakes.Event) {}, true, nil},
		"it refuses":    {refuses, false, []string{"law/refused FWP-PUSH-01"}},
	} {
		var names []string
		synctest.Test(t, func(t *testing.T) {
			behind, front := memnet.NewPlace(), memnet.NewPlace()
			s := fakes.NewServer(fakes.Config{Hook: test.hook, RefusalTime: time.Second, Listen: behind.Listen})
			defer s.Close()
			r := New(Config{
				Law: moves.Law(), Dial: behind.Dial, OnBreach: func(b clientrules.Breach) { names = append(names, b.Name) },
			})
			l := front.MustListen()
			go r.Serve(t.Context(), l) //nolint:errcheck // without it no connection can be opened, which shows
			nc := front.MustDial()
			defer nc.Close()
			time.Sleep(100 * time.Millisecond)
			send := func(line string) {
				_, err := io.WriteString(nc, line+"\r\n")
				require.NoError(t, err)
				time.Sleep(100 * time.Millisecond)
			}
			send(`HELLO {"v":2}`)
			if test.restart {
				go s.Restart() //nolint:errcheck // what follows shows it
				time.Sleep(100 * time.Millisecond)
			}
			send(`PUSH {"jid":"0123456789abcdef01234567","jobtype":"t","args":[],"queue":"default"}`)
			time.Sleep(2 * time.Second)
			r.Close()
		})
		assert.Equal(t, test.want, names, name)
	}
}
