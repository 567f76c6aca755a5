package play_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

func TestAPlayRemovesWhatItLeft(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		jobs   []string
	}{
		"nothing left":    {producer + "C: INFO\nS: $\n", nil},
		"an enqueued job": {producer + "C: PUSH $job\nS: +OK\n", nil},
		"a job in another queue": {producer + "C: PUSH $job{\"queue\":\"$queue7\",\"retry\":3}\nS: +OK\nC: PUSH " +
			"$job{\"jid\":\"$jid2\"}\nS: +OK\n", nil},
		"a job that is held": {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${\"jid\":\"$jid\"}\n", nil},
		"many":               {"repeat 50 by 5 producers\nC: PUSH $job\nS: +OK\nend\n", nil},
		"after a mismatch":   {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: $-1\n", nil},
		"one that was acknowledged": {consumer + "C: PUSH $job\nS: +OK\nC: FETCH $queue\nS: ${}\nC: ACK " +
			"{\"jid\":\"$jid\"}\nS: +OK\n", nil},
		"one that is dead": {consumer + "C: PUSH $job{\"retry\":-1}\nS: +OK\nC: FETCH $queue\nS: ${}\nC: FAIL " +
			"{\"jid\":\"$jid\",\"errtype\":\"E\",\"message\":\"m\",\"backtrace\":[]}\nS: +OK\n",
			[]string{"fwp-test-0001-jid-2 among the dead jobs"}},
		"one that is scheduled": {producer + "C: PUSH $job{\"at\":\"$now+1h\"}\nS: +OK\n",
			[]string{"fwp-test-0001-jid-1 in queue fwp-test-0001-queue-2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Parse(fwpscript.Dialect{}, name, []byte(test.script))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				target := memnet.NewPlace()
				server := fakes.NewServer(fakes.Config{Listen: target.Listen})
				defer server.Close()
				player := &play.Player{Target: target}
				r := player.Play(t.Context(), s, "fwp-test-0001")
				assert.Equal(t, test.jobs, r.LeftoverJobs)

				look, err := scenarios.Parse(fwpscript.Dialect{}, "look", []byte("connect as consumer\nC: INFO\nS: "+
					"${\"faktory\":{\"sets\":{\"working\":0}}}\n"))
				require.NoError(t, err)
				assert.True(t, player.Play(t.Context(), look, "fwp-look-0001").Complete())
			})
		})
	}
}

// TestCleanupGivesBackForeignJobs plays scripts on a server that hands out another client's
// job from a queue of the play. That job must survive: it is reported with a FAIL, after
// which the server offers it again, and never with an ACK, after which it would be gone.
func TestCleanupGivesBackForeignJobs(t *testing.T) {
	t.Parallel()
	const theirs, ours = "another-clients-job", "the-plays-own-job"
	const push = `C: PUSH $job{"jid":"` + ours + `"}` + "\nS: +OK\n"
	const fetch = "C: FETCH $queue\nS: ${}\n"
	job := func(jid string) string {
		text := fmt.Sprintf(`{"jid":%q,"jobtype":"t","args":[],"queue":"q"}`, jid)
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	}
	about := func(verb, jid string) func(line string) bool {
		return func(line string) bool {
			return strings.HasPrefix(line, verb+" ") && strings.Contains(line, fmt.Sprintf("%q", jid))
		}
	}
	tests := map[string]struct {
		script string
		next   []string // answers to FETCH
	}{
		"fetched by the clean-up": {producer + push, []string{job(theirs), job(ours)}},
		"fetched by the script":   {consumer + push + fetch, []string{job(theirs), job(ours)}},
		"fetched twice":           {consumer + push + fetch, []string{job(theirs), job(theirs), job(ours)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &peer{next: test.next, answers: map[string]string{"FETCH": "$-1\r\n"}}
			playScript(t, p, test.script, func(t *testing.T, r *play.Run) {
				lines := p.lines()
				assert.False(t, slices.ContainsFunc(lines, about("ACK", theirs)), "%s", lines)
				assert.True(t, slices.ContainsFunc(lines, about("FAIL", theirs)), "%s", lines)
				assert.True(t, slices.ContainsFunc(lines, about("ACK", ours)), "%s", lines)
				assert.Empty(t, r.LeftoverJobs)
			})
		})
	}
}
