package script_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// playScript plays a script on a server with a hook, in virtual time, and returns the run and the jobs that are left.
func playScript(t *testing.T, hook func(*fakeworkq.Event), text string) (run *play.Run) {
	t.Helper()
	s, err := scenarios.Parse(workqscript.Dialect{}, "test.fwp", []byte(text))
	require.NoError(t, err)
	require.Empty(t, scenarios.Lint(s))
	assert.Equal(t, text, string(scenarios.Format(s)))
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		server := fakeworkq.NewServer(fakeworkq.Config{Hook: hook})
		go server.Serve(place.MustListen())
		run = (&play.Player{Target: place}).Play(t.Context(), s, "fwp")
		server.Close()
	})
	return run
}

const fullScript = `protocol: workq
title: a job from its begin to its end
C: add $id $name 1000 60000 4 -priority=10 -max-attempts=3 -max-fails=1
C: pong
S: +OK
C: add $id2 $name 1000 60000 * <- $filler(64KiB)
S: +OK
C: lease other $name 1000
S: +OK 1 $id $name 1000 4 "pong"
C: inspect job $id
S: +OK 1 $id int(12..) {"name":"$name","attempts":1,"state":4,"created":time}
C: complete $id * <-
S: +OK
C: result $id 0
S: +OK 1 $id 1 0 ""
C: inspect queues 0 10
S: +OK 1 ...
C bad: add x $name 1000 60000 * <- pong
S: -CLIENT-ERROR | <close>
`

func TestAScript(t *testing.T) {
	t.Parallel()
	run := playScript(t, nil, fullScript)
	for _, r := range run.Results {
		assert.Equal(t, play.Matched, r.Outcome, "line %d: expected %s, got %s %s", r.Line, r.Expected, r.Got, r.Cause)
	}
	assert.Empty(t, run.Breaches)
	assert.Empty(t, run.LeftoverJobs)
	assert.True(t, run.Passed())
}

// TestNamesInWords: a name may be a part of a word of a reply, which must be all of it.
func TestNamesInWords(t *testing.T) {
	t.Parallel()
	const text = `protocol: workq
title: names with more around them
C: add $id _$name-a. 1000 60000 * <- pong
S: +OK
C: lease _$name-a. 1000
S: +OK 1 $id _$name-a. 1000 4 "pong"
C: lease $name$name2 5
S: -TIMEOUT
C: inspect job $id
S: +OK 1 $id:string ...
`
	assert.True(t, playScript(t, nil, text).Passed())
	run := playScript(t, func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Ran && len(e.Reply.Records) > 0 {
			e.Reply.Records[0].Head[1] = strings.TrimSuffix(e.Reply.Records[0].Head[1], ".")
		}
	}, text)
	assert.Equal(t, play.Mismatched, run.Results[1].Outcome, "a part of it is missing")
}

func TestBreachesOfAScript(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hook func(*fakeworkq.Event)
		want string
	}{
		"another reply": {func(e *fakeworkq.Event) {
			if e.Point == fakeworkq.Ran && e.Command.Verb == workq.Lease {
				e.Reply = workq.OK()
			}
		}, "foreign-reply:lease"},
		"a wrong size": {func(e *fakeworkq.Event) {
			if e.Point == fakeworkq.Ran && e.Command.Verb == workq.Lease && len(e.Reply.Records) > 0 {
				e.Reply.Records[0].Head[3] = "5"
			}
		}, "grammar:block"},
		"two replies": {func(e *fakeworkq.Event) {
			if e.Point == fakeworkq.Writing {
				e.Bytes = append(e.Bytes, e.Bytes...)
			}
		}, "extra-reply"},
		"a bare OK": {func(e *fakeworkq.Event) {
			if e.Point == fakeworkq.Ran && e.Command.Verb == workq.Complete {
				e.Reply.Bare = true
			}
		}, "grammar:sign"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := playScript(t, test.hook, fullScript)
			require.NotEmpty(t, run.Breaches)
			assert.Equal(t, test.want, run.Breaches[0].Name())
		})
	}
}

func TestMistakesInScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"protocol: fwp\nC: inspect server\nS: +OK ...\n": `the script is read as workq, but its protocol is "fwp"`,
		"C: delete\nS: -CLIENT-ERROR\n":                  "this line breaks the protocol: delete has 1 arguments, and not 0",
		"C: add $id $name 1 1 4\nC: pong!\nS: +OK\n": "this line breaks the protocol: the block does not end with CRLF " +
			"where its size says",
	} {
		s, err := scenarios.Parse(workqscript.Dialect{}, "test.fwp", []byte(text))
		if err == nil {
			if found := scenarios.Lint(s); len(found) > 0 {
				err = found[0]
			}
		}
		require.ErrorContains(t, err, want)
	}
	assert.Equal(t, "workq", scenarios.Protocol([]byte("# a comment\n\ntitle: x\nprotocol: workq\nC: x\n")))
	assert.Empty(t, scenarios.Protocol([]byte("title: x\nC: protocol: workq\n")))
}
