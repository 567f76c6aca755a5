package crowd_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
)

// racyServer is a server that goes over its queues for INFO without a lock: it dies if a job for
// a queue that it has not seen comes meanwhile. (Faktory up to 1.10)
func racyServer() fakes.Config {
	var mu sync.Mutex
	infos, isDead, queues := 0, false, map[string]bool{}
	return fakes.Config{Hook: func(e *fakes.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Point == fakes.Restarted:
			infos, isDead = 0, false
		case e.Point == fakes.Accepted:
			e.Skip = isDead
		case isDead && e.Point < fakes.Ran: // what is on its way changes nothing any more
			e.Skip = e.Point == fakes.Checked || e.Point == fakes.Defaulted
		case e.Point == fakes.Parsed && e.Command.Verb == fwp.INFO:
			infos++
			e.Delay = time.Millisecond
		case e.Point == fakes.Parsed && e.Command.Verb == fwp.PUSH: // in the middle of an INFO that was sent with it
			e.Delay = 500 * time.Microsecond
		case e.Point == fakes.Defaulted && e.Conn != nil:
			queue := e.Object.Text("queue")
			isDead = infos > 0 && !queues[queue]
			e.Skip = isDead
			queues[queue] = true
		case e.Point == fakes.Ran && e.Command.Verb == fwp.INFO:
			infos--
		}
		if e.Point == fakes.Ran && isDead {
			e.Reply, e.Close = fwp.Reply{}, true
		}
	}}
}

// A server that dies of what two clients do at the same time is found, and a conversation
// that shows it to others.
func TestARaceIsFound(t *testing.T) {
	t.Parallel()
	runLoad(t, racyServer, crowd.Crowd{Observers: 1}, func(t *testing.T, r *crowd.Result) {
		require.NotEmpty(t, r.Findings)
		f := r.Findings[0]
		t.Log(f.Detail)
		assert.True(t, r.IsDead)
		assert.True(t, f.Crash)
		assert.Empty(t, f.Clause)
		assert.Regexp(t, `without a reply: .*c\d+: PUSH fwpbench-`, f.Detail)
		assert.Equal(t, 5, f.Hits)
		// It may crash in the first round.
		answered := strings.NewReplacer("S[c1]: <any>", "S[c1]: $", "S[c2]: <any>", "S[c2]: +OK")
		assert.Equal(t, strings.Join([]string{
			"title: expected a server that serves, got no new connection is served", "",
			"connect c1 as producer", "connect c2 as producer", "repeat 2000",
			"  C[c1]: INFO", `  C[c2]: PUSH {"jid":"$jid#","jobtype":"t","args":[],"queue":"$queue#"}`,
			"  S[c1]: $", "  S[c2]: +OK", "end", "",
		}, "\n"), answered.Replace(f.Script))
	})
}

// A server that can be started again serves afterwards.
func TestACrashedServerIsRestarted(t *testing.T) {
	t.Parallel()
	withServer(t, racyServer, func(t *testing.T, e explore.Explorer, _ *fixture) {
		e.StartTarget, e.Restarts = nil, true
		l := crowd.Crowd{Observers: 1, Explorer: e}
		r := l.Run(t.Context())
		require.NotEmpty(t, r.Findings)
		assert.True(t, r.Findings[0].Crash)
		assert.Equal(t, 5, r.Findings[0].Hits)
		assert.False(t, r.IsDead)
		serves, _ := e.Serves(t.Context())
		assert.True(t, serves)
		t.Log(len(r.UnaccountedJobs))
	})
}

func TestWhyThereIsNoScript(t *testing.T) {
	t.Parallel()
	load := crowd.Crowd{Observers: 1, Explorer: explore.Explorer{SkipsShrinking: true}}
	runLoad(t, racyServer, load, func(t *testing.T, r *crowd.Result) {
		require.NotEmpty(t, r.Findings)
		assert.Empty(t, r.Findings[0].Script)
		assert.NotEmpty(t, r.Findings[0].UnscriptedReason)
	})
}

// TestTheEndOfAForwarder: behind a load, too, no crash is claimed where a forwarder may have ended; nor is it well if
// no client of the load was served.
func TestTheEndOfAForwarder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]*struct {
		forwarder forwardtest.Forwarder
		loss      string
	}{
		"a reset":                   {forwardtest.Forwarder{Resets: true}, "reset its connection"},
		"the number of connections": {forwardtest.Forwarder{MaxOpen: 12}, "opened a connection"},
	} {
		withServer(t, serverWith("", ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
			f := &test.forwarder
			f.Server, e.StartTarget, e.Target = e.Target.Dial, nil, f
			l := crowd.Crowd{Explorer: e}
			r := l.Run(t.Context())
			assert.True(t, f.HasEnded(), name)
			assert.Contains(t, r.ForwarderLoss, test.loss, name)
			assert.Empty(t, r.Findings, name)
			assert.True(t, r.IsDead, name)
		})
	}
}
