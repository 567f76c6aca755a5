package run_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
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
