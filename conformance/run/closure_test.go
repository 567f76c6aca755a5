package run_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// closing ends connections with their next reply: those that a function picks.
func closing(picks func(*fakes.Event) bool) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Conn.Identified && picks(e) {
			e.Bytes, e.Close = nil, true
		}
	}
}

func worstOf(r *reports.Report) (worst reports.Verdict) {
	worst = reports.Pass
	for _, check := range r.Checks {
		worst = reports.Worst(worst, check.Verdict)
	}
	return worst
}

// What becomes of a worker's connection that the server closes while other checks use it.
func TestAWorkerThatIsClosedBesideOthers(t *testing.T) {
	t.Parallel()
	const (
		waits = "connect as consumer\nclause FWP-FETCH-03\nC: FETCH $queue\nS: $-1\nC: FETCH $queue2\nS: $-1\n"
		holds = "connect as consumer\nclause FWP-PUSH-01\nC: PUSH $job\nS: +OK\n" +
			"C: FETCH $queue\nS: ${\"jid\":\"$jid\"}\n" // the clean-up acknowledges the job
		scripts = 3
	)
	isVerb := func(verb string) func(*fakes.Event) bool {
		return func(e *fakes.Event) bool { return e.Command.Verb == verb }
	}
	first := func(n int64, picks func(*fakes.Event) bool) func(*fakes.Event) bool {
		var ended atomic.Int64
		return func(e *fakes.Event) bool { return picks(e) && ended.Add(1) <= n }
	}
	tests := map[string]struct {
		source string
		picks  func(*fakes.Event) bool
		want   reports.Verdict
	}{
		"each time":                        {waits, isVerb("FETCH"), reports.Fail},
		"once":                             {waits, first(1, isVerb("FETCH")), reports.Fail},
		"all at a time, once":              {waits, first(scripts, isVerb("FETCH")), reports.Inconclusive},
		"in each clean-up":                 {holds, isVerb("ACK"), reports.Fail},
		"in one clean-up":                  {holds, first(1, isVerb("ACK")), reports.Fail},
		"in all clean-ups at a time, once": {holds, first(scripts, isVerb("ACK")), reports.Inconclusive},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := map[string]string{"a": test.source, "b": test.source, "c": test.source}
			runScripts(t, closing(test.picks), sources, func(r *reports.Report) {
				assert.Equal(t, test.want, worstOf(r), "%+v", r.Checks)
				for _, c := range r.Clauses {
					assert.False(t, c.ID == "FWP-STATE-13" && c.Verdict == reports.Fail && test.want != reports.Fail)
				}
			})
		})
	}
}

// What becomes of a command that is refused while other checks use the server, of which a limit may be the reason.
func TestAnErrorBesideOthers(t *testing.T) {
	t.Parallel()
	const script = "connect as consumer\nclause FWP-FETCH-03\nC: FETCH $queue2\nS: $-1\n" + // 2 s, beside each other
		"clause FWP-PUSH-01\nC: PUSH $job\nS: +OK\nclause FWP-INFO-01\nC: INFO\nS: $\n"
	first := func(n int64, verb string) func(*fakes.Event) {
		var refusals atomic.Int64
		return func(e *fakes.Event) {
			if e.Point == fakes.Writing && e.Command.Verb == verb && refusals.Add(1) <= n {
				e.Bytes = []byte("-ERR no room\r\n")
			}
		}
	}
	for name, test := range map[string]struct {
		server func(*fakes.Event)
		want   reports.Verdict
	}{
		"a PUSH each time":              {first(1000, "PUSH"), reports.Fail},
		"a PUSH once":                   {first(1, "PUSH"), reports.Inconclusive},
		"INFO, which no limit is about": {first(1, "INFO"), reports.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := map[string]string{"a": script, "b": script}
			runScripts(t, test.server, sources, func(r *reports.Report) {
				assert.Equal(t, test.want, worstOf(r), "%+v", r.Checks)
			})
		})
	}
}

// Beside a closed connection and a silence stands what the server printed from the command on; beside another reply
// nothing does.
func TestWhatTheServerPrintedStandsBesideAClose(t *testing.T) {
	t.Parallel()
	const source = "connect as consumer\nC: BEAT {\"wid\":\"$wid\"}\nS: +OK\nsilence 3s\nclause FWP-FETCH-03\n" +
		"C: FETCH $queue\nS: $-1\n"
	hookOf := func(change func(*fakes.Event)) func(*fakes.Event) {
		return func(e *fakes.Event) {
			if e.Point == fakes.Writing && e.Command.Verb == "FETCH" {
				change(e)
			}
		}
	}
	tests := map[string]struct {
		change func(*fakes.Event)
		want   []string
	}{
		"closed":  {func(e *fakes.Event) { e.Bytes, e.Close = nil, true }, []string{"KeyError"}},
		"silent":  {func(e *fakes.Event) { e.Bytes = nil }, []string{"KeyError"}},
		"another": {func(e *fakes.Event) { e.Bytes = []byte("+OK\r\n") }, nil},
	}
	for name, test := range tests {
		var began time.Time
		printed := func(from, to time.Time) []string {
			if from.Sub(began) < 3*time.Second || to.Before(from) {
				return []string{"before the command"}
			}
			return []string{"KeyError"}
		}
		runScripts(t, hookOf(test.change), map[string]string{"a": source}, func(r *reports.Report) {
			found := r.Findings()
			if assert.NotEmpty(t, found, name) {
				assert.Equal(t, test.want, found[0].Printed, name)
			}
		}, func(runner *run.Runner, _ *memoryTarget) { began, runner.Servers[0].Printed = time.Now(), printed })
	}
}
