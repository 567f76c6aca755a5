package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

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
			play(t, p, test.script, func(t *testing.T, r *scenarios.Run) {
				lines := p.lines()
				assert.False(t, slices.ContainsFunc(lines, about("ACK", theirs)), "%s", lines)
				assert.True(t, slices.ContainsFunc(lines, about("FAIL", theirs)), "%s", lines)
				assert.True(t, slices.ContainsFunc(lines, about("ACK", ours)), "%s", lines)
				assert.Empty(t, r.Leftover)
			})
		})
	}
}
