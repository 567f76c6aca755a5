package results_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// rate sets the target rate and the achieved one.
func rate(l *results.Load, target, achieved float64) {
	l.Rate.Target, l.Rate.Achieved = target, achieved
	l.Rate.Planned, l.Rate.Done = int64(target*l.Measured.Seconds()), int64(achieved*l.Measured.Seconds())
}

func TestLoadOutcome(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code   int
		words  string
		change func(*results.Load)
	}{
		{reports.ExitWell, "achieved the target rate of 5,000 /s; all 325,011 jobs accounted for", func(*results.Load) {}},
		{reports.ExitWell, "achieved the target rate of 5,000 /s; the one job accounted for",
			func(l *results.Load) { l.Jobs = results.LoadJobs{Pushed: 1, Delivered: 1, Acked: 1, IsDrained: true} }},
		{reports.ExitWell, "below target: achieved 8,300 of 12,000 /s; all 325,011 jobs accounted for",
			func(l *results.Load) { rate(l, 12_000, 8300) }},
		{reports.ExitWell, "below target: achieved 8,300 of 12,000 /s (5 arrivals dropped, 1 arrival unserved); all",
			func(l *results.Load) {
				rate(l, 12_000, 8300)
				l.Rate.Dropped, l.Rate.Unserved = 5, 1
			}},
		{reports.ExitWell, "achieved 4,750 of 5,000 /s; all", func(l *results.Load) { rate(l, 5000, 4750) }},
		{reports.ExitWell,
			"achieved the target rate of 5,000 /s; all 325,011 jobs accounted for; the history is partial: it ends after 2 s",
			func(l *results.Load) { l.HistoryCut = 2 * time.Second }},
		{reports.ExitFindings, "1 of 1 threshold missed: lost==1, actual 0; achieved the",
			func(l *results.Load) { validity.Evaluate(l, parseThresholds("lost==1")...) }},
		{reports.ExitFindings, "2 of 2 thresholds missed: info.rate>1 has no data (and 1 more)",
			func(l *results.Load) { validity.Evaluate(l, parseThresholds("info.rate>1", "lost>1")...) }},
		{reports.ExitInconclusive, "INVALID: the generator used 97 % of its 1 CPU; allowed is 85 %; all",
			func(l *results.Load) {
				l.Machine.GOMAXPROCS, l.Health.Loops, l.Health.CPUShare = 2, []float64{0.5}, 0.97 // one to spare
				validity.Evaluate(l)
			}},
		{reports.ExitInconclusive, "INVALID: CPU steal was 50 %; allowed is 2 %; all",
			func(l *results.Load) {
				l.Health.Steal = 0.5
				validity.Evaluate(l, parseThresholds("push.response.p99<1ns")...)
			}},
		{reports.ExitFindings, "1 of 2 thresholds missed: lost>1, actual 0; INVALID: CPU steal was",
			func(l *results.Load) {
				l.Health.Steal = 0.5
				validity.Evaluate(l, parseThresholds("push.response.p99<1ns", "lost>1")...)
			}},
		{reports.ExitInconclusive,
			"inconclusive whether all jobs were delivered; 3 of 325,011 jobs unaccounted for: the limit of 30 s",
			func(l *results.Load) {
				l.Jobs.IsDrained, l.Jobs.Missing, l.Jobs.DrainFailure = false, 3, "the limit of 30 s"
			}},
		{reports.ExitInconclusive,
			"inconclusive whether all jobs ended; all 325,011 jobs delivered, but the drain is not complete: 1 job held; " +
				"achieved",
			func(l *results.Load) { l.Jobs.IsDrained, l.Jobs.Missing, l.Jobs.DrainFailure = false, 0, "1 job held" }},
		{reports.ExitLoss, "7 jobs lost (FWP-PUSH-04); achieved", func(l *results.Load) {
			l.Findings = []results.LoadFinding{newFinding(results.FindingLost, "FWP-PUSH-04", 7, nil)}
		}},
		{reports.ExitLoss, "1 wrong reply (FWP-RESP-06), 1 job altered (FWP-WU-03); INVALID: CPU steal",
			func(l *results.Load) {
				l.Findings = []results.LoadFinding{newFinding(results.FindingReply, "FWP-RESP-06", 1, nil),
					newFinding(results.FindingAltered, "FWP-WU-03", 1, nil)}
				l.Health.Steal = 0.5
				validity.Evaluate(l, parseThresholds("lost>1")...)
			}},
		{reports.ExitUsage, "usage error: no such preset", func(l *results.Load) { l.Usage = "no such preset" }},
		{reports.ExitUnreachable, "the target could not be loaded: refused",
			func(l *results.Load) { l.Unreachable = "refused" }},
		{reports.ExitUnreachable, "the target was lost: EOF; 7 jobs lost (FWP-PUSH-04); 325,011 jobs confirmed",
			func(l *results.Load) {
				l.GoneReason, l.Findings = "EOF", []results.LoadFinding{newFinding(results.FindingLost, "FWP-PUSH-04", 7, nil)}
			}},
		{reports.ExitInternal, "failed on this machine: a b", func(l *results.Load) { l.Internal = "a\nb" }},
		{reports.ExitInterrupted, "interrupted: 7 jobs lost", func(l *results.Load) {
			l.Interrupted, l.Findings, l.Internal = true, []results.LoadFinding{newFinding(results.FindingLost, "FWP-PUSH-04", 7,
				nil)}, "boom"
		}},
		{reports.ExitWell, "achieved the target rate of 5,000 /s", func(l *results.Load) { l.Jobs = results.LoadJobs{} }},
		{reports.ExitInterrupted, "interrupted: the load did not begin",
			func(l *results.Load) {
				*l = results.Load{Head: reports.Head{Trouble: reports.Trouble{Interrupted: true}}}
			}},
		{reports.ExitInconclusive, "nothing was achieved: 616 pushes refused (ERR no), 50 pushes unanswered (timeout), " +
			"3 fetches failed (closed); 50 jobs pushed without", func(l *results.Load) {
			*l = results.Load{
				Measured: time.Second, Rate: results.LoadRate{Op: "push"}, Jobs: results.LoadJobs{Refused: 616, Doubtful: 50},
				Ops: []results.LoadOp{
					{Op: "connect", Count: 50}, {Op: "push", Errors: []results.LoadError{
						{Kind: "timeout", Count: 50}, {Kind: "rejected", Count: 616, Example: "ERR no"},
					}},
					{Op: "fetch", Errors: []results.LoadError{{Kind: "closed", Count: 3}}}, {Op: "fetch.empty", Count: 1},
				},
			}
			validity.Evaluate(l, parseThresholds("errors<1%")...)
		}},
		{reports.ExitInconclusive, "nothing was achieved: 12 fetches came back without a job", func(l *results.Load) {
			*l = results.Load{Measured: time.Second, Rate: results.LoadRate{Op: "ack"},
				Ops: []results.LoadOp{{Op: "fetch.empty", Count: 12}}}
			validity.Evaluate(l)
		}},
		{reports.ExitInconclusive, "nothing was achieved: no beat was due in 1 s of measuring", func(l *results.Load) {
			*l = results.Load{Measured: time.Second, Rate: results.LoadRate{Op: "beat"},
				Ops: []results.LoadOp{{Op: "connect", Count: 12}}}
			validity.Evaluate(l)
		}},
		{reports.ExitInconclusive, "nothing was achieved: no push was answered in 1 s of measuring", func(l *results.Load) {
			*l = results.Load{Measured: time.Second, Rate: results.LoadRate{Op: "push"},
				Ops: []results.LoadOp{{Op: "push", Outside: 12}}}
			validity.Evaluate(l)
		}},
		{reports.ExitWell, "achieved the target rate of 5,000 /s, 16.7 % of the pushes refused; all 325,011 jobs",
			func(l *results.Load) {
				l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: 60_000}}
			}},
		{reports.ExitInconclusive, "INVALID: 16.7 % of the pushes failed: 60,000 pushes failed (reset); allowed is 10 %; " +
			"all 325,011 jobs", func(l *results.Load) {
			l.Ops[0].Errors = []results.LoadError{{Kind: "reset", Count: 60_000}}
			validity.Evaluate(l)
		}},
		{reports.ExitWell, "nothing was achieved",
			func(l *results.Load) { *l = results.Load{Validity: results.Validity{IsValid: true}} }},
	}
	for _, c := range cases {
		l := soundLoad()
		c.change(l)
		code, words := l.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, c.code, code, words)
		assert.True(t, strings.HasPrefix(words, c.words), "%q, want %q", words, c.words)
	}
}

func TestNewLoadFinding(t *testing.T) {
	t.Parallel()
	jids := make([]string, 1500)
	f := results.NewLoadFinding(results.FindingDuplicated, 2000, jids)
	assert.Len(t, f.JIDs, results.MaxJIDs)
	assert.EqualValues(t, 1000, f.MoreJIDs)
	assert.Equal(t, "duplicated", f.Breach)
	assert.EqualValues(t, 2, results.NewLoadFinding(results.FindingLost, 0, jids[:2]).Count,
		"there are at least as many as are named")
	for _, kind := range []results.FindingKind{
		results.FindingLost, results.FindingDuplicated, results.FindingReturned, results.FindingRefused, results.FindingQueue,
		results.FindingAltered, results.FindingForeign, results.FindingEarly,
		results.FindingNotRetried, results.FindingReply, results.FindingGrammar,
	} {
		assert.NotContains(t, (&results.LoadFinding{Kind: kind, Count: 2}).String(), string(kind)+"s")
		assert.NotEqual(t, string(kind), results.NewLoadFinding(kind, 1, nil).Description)
	}
}
