package run_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// TestTheLawAcrossPlays: what shows only in the plays of two checks on one server is found, and by no single one.
func TestTheLawAcrossPlays(t *testing.T) {
	t.Parallel()
	salts, ok := bugs.Lookup("auth-salts-few") // four
	require.True(t, ok)
	hand := func(e *fakes.Event) { // the jobs of every queue that a check of this test may have
		if e.Point == fakes.Checked && e.Command.Verb == "FETCH" {
			e.Queues = append(e.Queues, "first")
		}
	}
	const talks = "title: x\nconnect as consumer\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\n"
	const pushes = "title: x\nconnect as producer\n" +
		"C: PUSH {\"jid\":\"$jid\",\"jobtype\":\"t\",\"args\":[],\"queue\":\"first\"}\nS: +OK\nsilence 10s\n"
	const fetches = "title: x\nconnect as consumer\nsilence 1s\nC: FETCH $queue\nS: $-1\n"
	for name, test := range map[string]struct {
		hook    func(*fakes.Event)
		scripts []string
		want    []string
	}{
		"four salts, four plays":    {salts.Hook(), slices.Repeat([]string{talks}, 4), nil},
		"four salts, five plays":    {salts.Hook(), slices.Repeat([]string{talks}, 5), []string{"law/salt"}},
		"five salts":                {nil, slices.Repeat([]string{talks}, 5), nil},
		"a job of another play":     {hand, []string{pushes, fetches}, []string{"law/missing", "law/queue"}},
		"none for another play":     {nil, []string{pushes, fetches}, nil},
		"nothing of another play":   {hand, []string{fetches}, nil},
		"a job that nobody can get": {hand, []string{pushes}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pool := &serverPool{nw: memnet.New(), config: fakes.Config{Hook: test.hook}}
				defer pool.close()
				server, _, err := pool.build(fakes.Config{Password: "secret"})
				require.NoError(t, err)
				server.StartServer, server.Offers = nil, server.Offers[len(server.Offers)-1:] // that it has a password
				var all []*scenarios.Script
				for i, text := range test.scripts {
					script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/"+string(rune('a'+i)), []byte(text))
					require.NoError(t, err)
					all = append(all, script)
				}
				r := runnerOn(server, conformance.Scripts(all...)).Run(t.Context())
				var got []string
				for _, c := range r.Checks {
					if len(c.Findings) > 0 && c.File == "" {
						got = append(got, c.ID)
					}
				}
				assert.Equal(t, test.want, got)
			})
		})
	}
}

// TestQueuesAreAskedOnceMore: a job that comes again when its script has ended is a finding with the whole life of that
// job.
func TestQueuesAreAskedOnceMore(t *testing.T) {
	t.Parallel()
	const scheduled = "connect as consumer\nC: PUSH $job{\"at\":\"$now+5s\"}\nS: +OK\n" +
		"eventually\nC: FETCH $queue\nS: ${\"jid\":\"$jid\"}\nend\nC: ACK {\"jid\":\"$jid\"}\nS: +OK\n"
	const plain = "connect as consumer\nC: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${\"jid\":\"$jid\"}\n" +
		"C: ACK {\"jid\":\"$jid\"}\nS: +OK\n"
	const remaining = "connect as consumer\nC: PUSH $job{\"at\":\"$now+1s\"}\nS: +OK\n"
	const found = "law/delivered FWP-ACK-02"
	for name, test := range map[string]struct {
		hook    func() func(*fakes.Event)
		scripts []string
		isQuick bool
		isOwn   bool // each check has a server of its own
		want    []string
	}{
		"a right server":         {nil, []string{scheduled, plain, remaining}, false, false, nil},
		"one of its own":         {nil, []string{scheduled, plain, remaining}, false, true, nil},
		"a second copy":          {copyScheduled, []string{scheduled}, false, false, []string{found}},
		"in a quick run":         {copyScheduled, []string{scheduled}, true, false, []string{found}},
		"on a server of its own": {copyScheduled, []string{scheduled}, false, true, []string{found}},
		"beside many": {
			copyScheduled, append(slices.Repeat([]string{plain}, 70), scheduled), true, false, []string{found},
		},
		"of several": {
			copyScheduled, slices.Repeat([]string{scheduled}, 3), true, false, []string{found},
		},
		"later":                               {copyLater, []string{plain}, false, false, []string{found}},
		"later, on a server of its own":       {copyLater, []string{plain}, false, true, []string{found}},
		"later than a quick run waits for it": {copyLater, []string{plain}, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := "title: x\n"
			if test.isOwn {
				header += "needs: alone\n"
			}
			synctest.Test(t, func(t *testing.T) {
				pool := &serverPool{nw: memnet.New()}
				defer pool.close()
				if test.hook != nil {
					pool.config.Hook = test.hook()
				}
				r := runnerOn(pool.newServer(fakes.Config{Password: "secret"}), parse(t, header, test.scripts))
				r.Quick = test.isQuick
				var got []string
				for _, c := range r.Run(t.Context()).Checks {
					for _, f := range c.Findings {
						got = append(got, c.ID+" "+f.Clause)
						assert.True(t, slices.ContainsFunc(f.Conversation, func(l reports.Line) bool {
							return l.From == reports.FromClient && l.Text[:4] == "PUSH"
						}), f.Conversation)
						require.Positive(t, f.MarkedLine)
						assert.Equal(t, "sweep", f.Conversation[f.MarkedLine-1].Conn)
					}
					assert.Empty(t, c.LeftoverJobs)
				}
				assert.Equal(t, test.want, got)
			})
		})
	}
}

// copyScheduled delivers a job twice that was scheduled.
func copyScheduled() func(*fakes.Event) {
	copied := map[string]bool{}
	return func(e *fakes.Event) {
		if e.Point == fakes.Delivered && e.Object.Get("at") != nil {
			e.Requeue = !copied[e.Object.Text("jid")]
			copied[e.Object.Text("jid")] = true
		}
	}
}

// copyLater pushes a job that was acknowledged again, three seconds later.
func copyLater() func(*fakes.Event) {
	var job *fakes.Object
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Delivered:
			job = e.Object.Clone()
		case e.Point == fakes.Ran && e.Command.Verb == "ACK" && job != nil:
			copied := job
			job = nil
			e.AfterHook(func() { e.Push(copied, time.Now().Add(3*time.Second)) })
		}
	}
}

// parse returns a check for each script.
func parse(t *testing.T, header string, texts []string) []conformance.Check {
	t.Helper()
	var all []*scenarios.Script
	for i, text := range texts {
		script, err := scenarios.Parse(fwpsuite.Protocol().Dialect, "a/"+string(rune('0'+i)), []byte(header+text))
		require.NoError(t, err)
		all = append(all, script)
	}
	return conformance.Scripts(all...)
}
