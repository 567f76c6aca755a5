package explore_test

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

var (
	filter = flag.String("bug", "", "explore the planted bugs whose names begin so (several names: with commas), "+
		"all if it is \"all\", and print a table")
	seed     = flag.Uint64("seed", 1, "of the explorations")
	steps    = flag.Int("steps", 0, "commands of an exploration, instead of the usual number")
	findings = flag.Int("findings", 1, "after which an exploration with -bug stops")
)

// behaving is a server with a bug or a variation, either of which may be "".
func behaving(bug, variation string) func() fakes.Config {
	return func() fakes.Config {
		var c fakes.Config
		if strings.HasPrefix(bug, "auth") || strings.HasPrefix(bug, "hi-salt") || bug == "hello-declined-closes" ||
			bug == "hi-iterations-text" || strings.HasPrefix(variation, "password") {
			c.Password = "correct horse"
		}
		if f, ok := bugs.Lookup(bug); ok {
			c.Hook = f.Hook()
		}
		if v, ok := variations.Lookup(variation); ok {
			v.Configure(&c)
		}
		return c
	}
}

// sample are the bugs that the tests explore: one of each kind, among them those that
// show in the company of other jobs or other connections only.
var sample = []string{
	"ack-malformed-ok", "ack-redelivered", "ack-stays-held", "auth-round-less", "backtrace-whole",
	"delivered-twice", "dies-of-unknown-job", "end-returns-jobs", "fail-malformed-counts", "fetch-order",
	"fetch-sleeps", "fetch-stalls-all", "hi-version-3", "job-backtrace-follows", "job-integer-rounded",
	"job-retry-follows", "job-retry-mixed", "line-segment-ends", "push-lost", "push-lost-seldom",
	"push-refused-enqueued", "reply-length-characters", "reply-missing", "reply-swapped", "reply-unasked",
	"reservation-lost", "retry-zero-kept", "schedule-early", "state-error-forgets", "waiting-job-gone",
}

// costly are those of the sample that take most of the time. They wait for FWP_SLOW=1.
var costly = []string{
	"ack-stays-held", "end-returns-jobs", "fetch-order", "fetch-sleeps", "fetch-stalls-all", "push-lost-seldom",
	"reply-length-characters", "reply-missing", "reply-swapped", "reservation-lost", "retry-zero-kept", "waiting-job-gone",
	"job-integer-rounded", "job-retry-mixed", "line-segment-ends", "schedule-early",
}

// commands returns how many commands an exploration has, if -steps does not say.
func commands(quick, long int) int {
	switch {
	case *steps > 0:
		return *steps
	case golden.IsSlow():
		return long
	}
	return quick
}

func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	for _, f := range bugs.All() {
		isChosen := slices.Contains(sample, f.Name) && (!golden.Racing || slices.Index(sample, f.Name)%4 == 0) &&
			(golden.IsSlow() || !slices.Contains(costly, f.Name))
		if *filter != "" {
			isChosen = *filter == "all" || strings.HasPrefix(f.Name, *filter) || slices.Contains(strings.Split(*filter, ","), f.Name)
		}
		if !isChosen {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			e := crowd.Campaign{Explorer: explore.Explorer{Alphabet: moves.New(), Seed: *seed,
				Steps: commands(20_000, 20_000), Findings: *findings, LongestWait: waits(f)}, Workers: 8}
			campaign(t, behaving(f.Name, ""), e, func(t *testing.T, r *explore.Result, h *crowd.Result, s *stage) {
				all := r.Findings
				if h != nil {
					all = append(all, h.Findings...)
				}
				found := false
				var scripts []string
				for _, x := range all {
					found = found || slices.Contains(f.Clauses, x.Clause)
					scripts = append(scripts, x.Script)
					checkScript(t, s, f, x)
				}
				assert.True(t, found, "not found in %d commands: %s", r.Commands, scripts)
			})
		})
	}
}

// waits is for how long the clients of an exploration wait together: for reservations and
// retries. A bug that counts by the thousand needs as many jobs as there can be, and is
// explored as the command does if it is not told to wait.
func waits(f fakes.Bug) time.Duration {
	if f.Name == "push-lost-seldom" {
		return 0
	}
	return 10 * time.Minute
}

// checkScript holds the script of a finding against the server that it is from and against one
// that is right.
func checkScript(t *testing.T, s *stage, f fakes.Bug, x explore.Finding) {
	t.Helper()
	reference := &stage{config: behaving(map[bool]string{true: "auth"}[s.config().Password != ""], "")}
	outcome, control := "", ""
	if x.Script != "" {
		outcome, control = replay(t, s, x.Script, x.Clause, true), replay(t, reference, x.Script, x.Clause, false)
		assert.NotContains(t, outcome, "parse", x.Script)
		assert.NotContains(t, outcome, "lint", x.Script)
	}
	if *filter == "" {
		return
	}
	isOwnClause := slices.Contains(f.Clauses, x.Clause)
	t.Logf("TABLE | %s | %d | %s | %s | %t | %d of %d | %d lines | %.120s | %.120s |", f.Name, x.Commands, x.Clause,
		x.Rule, isOwnClause, x.Hits, x.Tries, clientLines(x.Script), outcome, control)
	if len(f.Name) == len(*filter) {
		t.Logf("%s\nexpected %s\ngot %s", x.Script, x.Expected, x.Got)
	}
}

func clientLines(script string) int {
	n := 0
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "C") {
			n++
		}
	}
	return n
}

func TestNothingRightIsBlamed(t *testing.T) {
	t.Parallel()
	count, seeds := commands(100, 1000), golden.Sample([]uint64{*seed}, []uint64{*seed, *seed + 1, *seed + 2})
	for i, v := range append(variations.All(), fakes.Variation{Name: "none"}) {
		if v.Name != "none" && !golden.IsSlow() && i%15 != 0 {
			continue // internal/proof/selftest plays scripts on each
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			e := explore.Explorer{Alphabet: moves.New(), Steps: count, Findings: 3}
			if strings.HasPrefix(v.Name, "connections-limited") { // to 20
				e.Connections, e.Steps = 24, max(count, 1200)
			}
			hitsLimit := false // the limit, with one of the seeds
			for _, seed := range seeds {
				e.Seed = seed
				exploring(t, behaving("", v.Name), e, func(t *testing.T, r *explore.Result, _ *stage) {
					hitsLimit = hitsLimit || r.Limit > 0
					for _, f := range r.Findings {
						if !new(allow.Usage).Allows(v.Allows, allow.Warn, f.Clause) {
							t.Errorf("seed %d: %s (%s) expected %s, got %s: %s\n%s", seed, f.Clause, f.Rule, f.Expected, f.Got, f.Detail,
								f.Script)
						}
					}
				})
			}
			assert.Equal(t, e.Connections > 0, hitsLimit, "a limit was met")
		})
	}
}

func TestSameSeedSameCommands(t *testing.T) {
	t.Parallel()
	var runs [3][]string
	for i, seed := range []uint64{7, 7, 8} {
		e := explore.Explorer{Alphabet: moves.New(), Seed: seed, Steps: 400, LongestWait: time.Nanosecond}
		e.WatchStep = func(s explore.Step) { runs[i] = append(runs[i], fmt.Sprintf("%+v", s)) }
		exploring(t, behaving("", ""), e, func(*testing.T, *explore.Result, *stage) {})
	}
	assert.Equal(t, runs[0], runs[1])
	assert.NotEqual(t, runs[0], runs[2])
}

// TestSameSeedSameFindings has a seed find the same after as many commands, and shrink it
// to the same script, however busy the machine is.
func TestSameSeedSameFindings(t *testing.T) {
	t.Parallel()
	for _, bug := range golden.Sample([]string{"push-lost"}, []string{"end-returns-jobs", "push-lost"}) {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			var runs [2]string
			for i := range runs {
				e := explore.Explorer{Alphabet: moves.New(), Seed: 4, Steps: 4000}
				exploring(t, behaving(bug, ""), e, func(t *testing.T, r *explore.Result, _ *stage) {
					require.NotEmpty(t, r.Findings)
					f := r.Findings[0]
					runs[i] = fmt.Sprintf("%s %s after %d of %d\n%s", f.Clause, f.Rule, f.Commands, r.Commands, f.Script)
				})
			}
			assert.Equal(t, runs[0], runs[1])
		})
	}
}

func TestCoverageIsReported(t *testing.T) {
	t.Parallel()
	exploring(t, behaving("", ""), explore.Explorer{Alphabet: moves.New(), Seed: 3, Steps: commands(800, 3000)},
		func(t *testing.T, r *explore.Result, _ *stage) {
			assert.Subset(t, keys(r.Coverage.States), []string{"not identified", "identified", "identified worker"})
			assert.Subset(t, keys(r.Coverage.Transitions), []string{"not identified > identified", "identified > ended"})
			assert.Greater(t, len(r.Coverage.Outcomes), 35)
		})
}

func keys(m map[string]int) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	return all
}

func TestTraceIsSaved(t *testing.T) {
	t.Parallel()
	dialect := fwpscript.Dialect{}
	build := explore.Builder{Dialect: dialect}
	trace := explore.Trace{N: 3, From: 1, To: 2, Steps: []explore.Step{
		build.Open(2, scenarios.Consumer, `{"wid":"$wid4"}`), build.Bytes(2, "\xff\x00\r\n", "$jid1"),
		build.Line(2, "INFO<|>"),
		build.Bytewise(2, " $$5 "), build.Await(2), explore.Wait(20 * time.Second), build.Signal("quiet", "$wid4"),
		explore.Disrupt(target.Restart), explore.Disrupt(target.Pause),
		explore.End(2, scenarios.HalfClosed),
	}}
	trace.Steps[2].Ahead = true
	var b bytes.Buffer
	require.NoError(t, trace.Save(&b))
	assert.JSONEq(t, `{"version":2,"from":1,"to":2,"n":3,"steps":[{"line":"connect c2 as consumer {\"wid\":\"$wid4\"}"},
		{"line":"C[c2] raw: \"\\xff\\x00\\r\\n\" \"$jid1\""},{"line":"C[c2]: INFO<|>","ahead":true},
		{"line":"C[c2] bytewise:  $$5 "},{"line":"S[c2]: <any>"},{"line":"silence 20s"},{"line":"quiet $wid4"},{"line":"restart"},
		{"line":"pause"},{"line":"C[c2]: <half-close>"}]}`, b.String())
	saved := b.String()
	other, err := explore.LoadTrace(dialect, &b)
	require.NoError(t, err)
	b.Reset()
	require.NoError(t, other.Save(&b))
	assert.Equal(t, saved, b.String())
}

func TestNoTraceMovesTheCursor(t *testing.T) {
	t.Parallel()
	trace := explore.Trace{Steps: []explore.Step{explore.Builder{Dialect: fwpscript.Dialect{}}.Line(1,
		"PUSH \u202e\u009b")}}
	var b bytes.Buffer
	require.NoError(t, trace.Save(&b))
	assert.Contains(t, b.String(), `PUSH \u202e\u009b`)
	other, err := explore.LoadTrace(fwpscript.Dialect{}, &b)
	require.NoError(t, err)
	assert.Equal(t, trace.Steps[0].String(), other.Steps[0].String())
}

func TestTraceIsNotLoaded(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		`{"version":1,"steps":[{"Kind":2,"Segments":["\"INFO\""]}]}`: "version 1, expected 2: explore again with the " +
			"same seed",
		`{"version":2,"to":1}`:                                   "steps 0 to 1 are repeated, of 0",
		`{"version":2,"steps":[{"line":"C[x]: INFO"}]}`:          "step 0 cannot be played",
		`{"version":2,"steps":[{"line":"barrier"}]}`:             "barrier",
		`{"version":2,"steps":[{"line":"# nothing"}]}`:           "no statement",
		`{"version":2,"steps":[{"line":"restart"},{"line":""}]}`: "2 steps are 1 statements",
		`nothing`: "invalid character",
	} {
		_, err := explore.LoadTrace(fwpscript.Dialect{}, strings.NewReader(text))
		assert.ErrorContains(t, err, reason)
	}
}

// FuzzLoadTrace: a file that is loaded is saved as one that is loaded as the same.
func FuzzLoadTrace(f *testing.F) {
	for _, text := range []string{
		`{"version":2,"from":1,"to":2,"n":3,"steps":[{"line":"connect c2 as consumer"},{"line":"C[c2]: INFO"}]}`,
		`{"version":2,"steps":[{"line":"C[c1] raw: \"\\xff\" \"$jid1\""},{"line":"C[c1]: INFO<|>","ahead":true},{"line":"restart"}]}`,
		`{"version":2,"steps":[{"line":"silence 999999h"},{"line":"C[c999999999999]: x"}]}`,
		`{"version":2,"n":-1,"steps":[]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		loaded, err := explore.LoadTrace(fwpscript.Dialect{}, strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		require.NoError(t, loaded.Save(&b))
		saved := b.String()
		other, err := explore.LoadTrace(fwpscript.Dialect{}, &b)
		require.NoError(t, err, saved)
		b.Reset()
		require.NoError(t, other.Save(&b))
		assert.Equal(t, saved, b.String())
	})
}

func BenchmarkExplore(b *testing.B) {
	s := fakes.NewServer(fakes.Config{})
	defer s.Close()
	e := explore.Explorer{Alphabet: moves.New(), Target: dialed{s}, Seed: 1, Steps: max(b.N, 100), Alone: true}
	b.ResetTimer()
	r := e.Run(b.Context())
	b.ReportMetric(float64(r.Commands)/b.Elapsed().Seconds(), "commands/s")
	require.Empty(b, r.Findings)
}

func TestDivide(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct{ total, explore time.Duration }{
		"an eighth is for the clean-up": {40 * s, 35 * s},
		"but no more than ten seconds":  {1000 * s, 990 * s},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				assert.Equal(t, explore.Budget{Explore: now.Add(test.explore), End: now.Add(test.total)},
					explore.Divide(test.total))
			})
		})
	}
	assert.Zero(t, explore.Divide(0), "no limit")
}

func TestPool(t *testing.T) {
	t.Parallel()
	const s = time.Second
	synctest.Test(t, func(t *testing.T) {
		p := explore.NewPool(20 * s)
		assert.Equal(t, 20*s, p.Share(2, false), "no more than one may take")
		assert.Equal(t, 5*s, p.Share(2, true), "a quarter")
		assert.Equal(t, 10*s, p.Share(6, false), "its part")
		time.Sleep(30 * s)
		assert.Equal(t, 15*s, p.Share(2, false), "of what is left")
		time.Sleep(time.Hour)
		assert.Equal(t, time.Duration(1), p.Share(1, false), "zero would be no limit")
		ctx, cancel := p.Begin(t.Context())
		defer cancel()
		assert.Error(t, ctx.Err())
		assert.Zero(t, explore.NewPool(0).Share(3, true), "no limit")
	})
}

// A finding without a script has the last of what was said before it, and what was received.
func TestWhatWasSaidBeforeAFinding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"ack-malformed-ok": "C: ACK", "job-retry-follows": "C: PUSH", "hi-version-3": "S: ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := crowd.Campaign{Explorer: explore.Explorer{
				Alphabet: moves.New(), Seed: 1, Steps: 5000, Findings: 1, SkipsShrinking: true,
			}}
			campaign(t, behaving(name, ""), e, func(t *testing.T, r *explore.Result, _ *crowd.Result, _ *stage) {
				require.NotEmpty(t, r.Findings)
				f := r.Findings[0]
				require.NotEmpty(t, f.UnscriptedReason)
				var lines []string
				for i, l := range f.Conversation {
					lines = append(lines, l.Speaker()+" "+l.Text)
					assert.True(t, i == 0 || l.At >= 0 && l.Conn != "", l)
				}
				assert.Contains(t, strings.Join(lines, "\n"), want)
				last := f.Conversation[len(f.Conversation)-1]
				assert.Equal(t, reports.FromServer, last.From)
				assert.Contains(t, f.Got+f.Detail, last.Text)
				assert.LessOrEqual(t, len(lines), 20)
			})
		})
	}
}
