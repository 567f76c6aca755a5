package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/text"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	shortfall := func(l *Load, waited, dropped int64) {
		l.Rate.Achieved, l.Rate.Done, l.Rate.Queued, l.Rate.Dropped = 4000, 240_000, waited, dropped
	}
	cases := []struct {
		name   string
		change func(*Load)
		want   string // ids of reasons
	}{
		{"nothing wrong", func(*Load) {}, ""},
		{"late", func(l *Load) { l.Ops[0].Lateness.P99 = 2100 * time.Microsecond }, "late"},
		{"late, and a tenth of a slow response", func(l *Load) {
			l.Ops[0].Lateness.P99, l.Ops[0].Response.P99 = 9*time.Millisecond, 91*time.Millisecond
		}, ""},
		{"a slower response allows no more", func(l *Load) {
			l.Ops[0].Lateness.P99, l.Ops[0].Response.P99 = 11*time.Millisecond, time.Minute
		}, "late"},
		{"as late as two milliseconds", func(l *Load) { l.Ops[3].Lateness.P99 = 2 * time.Millisecond }, ""},
		{"a command is compared with its own response time", func(l *Load) {
			l.Ops[3].Lateness.P99, l.Ops[0].Response.P99 = 5*time.Millisecond, time.Second
		}, "late"},
		{"a FETCH that waited was there before its job", func(l *Load) { l.Ops[2].Lateness.P99 = 5 * time.Millisecond }, ""},
		{"late heartbeats", func(l *Load) { l.Ops[4].Lateness.P99 = time.Minute }, ""},
		{"connects are not what is measured", func(l *Load) {
			l.Ops = append(l.Ops, sampleOp("connect", 200, 100*time.Millisecond, time.Millisecond, time.Millisecond))
		}, ""},
		{"connects are", func(l *Load) {
			l.Rate.Op = "connect"
			l.Ops = append(l.Ops, sampleOp("connect", 200, 100*time.Millisecond, time.Millisecond, time.Millisecond))
		}, "late"},
		{"a stall among a few hundred commands", func(l *Load) {
			l.Ops[0].Lateness = Latency{Count: 900, P50: 60, P90: 100 * time.Microsecond, P99: 26 * time.Millisecond}
		}, ""},
		{"a tenth of a few hundred commands", func(l *Load) {
			l.Ops[0].Lateness = Latency{Count: 900, P50: 60, P90: 3 * time.Millisecond, P99: 26 * time.Millisecond}
		}, "late"},
		{"few commands, some of them late", func(l *Load) {
			l.Ops[0].Lateness = Latency{Count: 40, P50: 100 * time.Microsecond, P90: 4 * time.Millisecond}
		}, ""},
		{"few commands, half of them late", func(l *Load) {
			l.Ops[0].Lateness = Latency{Count: 40, P50: 4 * time.Millisecond, P90: 5 * time.Millisecond}
		}, "late"},

		{"no processor time left", func(l *Load) { l.Health.CPUShare = 0.86 }, "saturated"},
		{"a loop without time", func(l *Load) { l.Health.Loops = []float64{0.1, 0.86} }, "saturated"},
		{"a closed loop is busy", func(l *Load) { l.Plan.Open, l.Health.CPUShare = false, 0.94 }, ""},
		{"a closed loop is all the limit", func(l *Load) { l.Plan.Open, l.Health.CPUShare = false, 0.96 }, "saturated"},

		{"an overloaded target", func(l *Load) { shortfall(l, 59_000, 1000) }, ""},
		{"an overloaded target at its end", func(l *Load) { shortfall(l, 29_000, 0); l.Rate.Unserved = 31_000 }, ""},
		{"an overloaded target that drops", func(l *Load) { shortfall(l, 0, 60_000) }, ""},
		{"behind though connections were free", func(l *Load) { shortfall(l, 59_000, 0) }, "behind"},
		{"errors explain it", func(l *Load) {
			l.Rate.Achieved, l.Rate.Done, l.Rate.Queued = 4750, 285_000, 0
			l.Ops[0].Errors = []LoadError{{Kind: "rejected", Count: 15_000}}
		}, ""},
		{"errors explain it, and are too many", func(l *Load) {
			shortfall(l, 0, 0)
			l.Ops[0].Errors = []LoadError{{Kind: "rejected", Count: 60_000}}
		}, "errors"},
		{"a tenth of the FETCHes failed", func(l *Load) {
			l.Ops = append(l.Ops, LoadOp{Op: "fetch", Errors: []LoadError{{Kind: "timeout", Count: 33_322}}})
		}, ""},
		{"more than a tenth of the FETCHes failed", func(l *Load) {
			l.Ops = append(l.Ops, LoadOp{Op: "fetch", Errors: []LoadError{{Kind: "timeout", Count: 33_323}}})
		}, "errors"},
		{"every ACK was refused", func(l *Load) {
			l.Ops[3] = LoadOp{Op: "ack", Errors: []LoadError{{Kind: "rejected", Count: 1}}}
		}, "errors"},
		{"connections of churn push, and nobody is let in", func(l *Load) {
			l.Rate.Op = "connect"
			l.Ops = append(l.Ops, LoadOp{Op: "hello", Errors: []LoadError{{Kind: "rejected", Count: 1}}})
		}, "errors"},
		{"nobody is let in again, who has pushed before", func(l *Load) {
			l.Ops = append(l.Ops, LoadOp{Op: "hello", Errors: []LoadError{{Kind: "rejected", Count: 1}}})
		}, ""},
		{"nothing was achieved", func(l *Load) { l.Rate = LoadRate{Op: "push", Target: 5000, Planned: 300_000} }, "empty behind"},
		{"a little behind", func(l *Load) { l.Rate.Achieved = 4951 }, ""},

		{"aborted", func(l *Load) { l.Plan.Overload, l.Rate.Dropped = "abort", 1 }, "aborted"},
		{"dropped is no abort", func(l *Load) { l.Plan.Overload, l.Rate.Dropped = "drop", 1 }, ""},
		{"no descriptors", func(l *Load) { l.Health.NoFiles, l.Connections.Opened = 5, 195 }, "files"},
		{"no ports", func(l *Load) { l.Health.NoPorts = 1 }, "ports"},
		{"no memory", func(l *Load) { l.Health.NoMemory = 1 }, "memory"},
		{"the target has a limit", func(l *Load) { l.Connections.Opened, l.Connections.Refused = 150, "EOF" }, "connections"},
		{"steal", func(l *Load) { l.Health.Steal = 0.021 }, "stolen"},
		{"a little steal", func(l *Load) { l.Health.Steal = 0.02 }, ""},
		{"throttled", func(l *Load) { l.Health.Throttled = 601 * time.Millisecond }, "throttled"},
		{"throttled a little", func(l *Load) { l.Health.Throttled = 599 * time.Millisecond }, ""},
		{"the clock is set", func(l *Load) { l.Health.ClockJumps = []ClockJump{{By: time.Millisecond}, {By: -time.Hour}} }, "clock"},
		{"the clock is trimmed", func(l *Load) { l.Health.ClockJumps = []ClockJump{{By: 99 * time.Millisecond}} }, ""},
		{"nothing measured", func(l *Load) { l.Ops, l.Rate = nil, LoadRate{} }, "empty"},
		{"several", func(l *Load) { l.Health.NoPorts, l.Health.Steal, l.Health.CPUShare = 1, 1, 1 }, "ports saturated stolen"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := soundLoad()
			c.change(l)
			l.Evaluate()
			var ids []string
			for _, r := range l.Validity.Reasons {
				ids = append(ids, r.ID)
				assert.NotEmpty(t, r.What)
				assert.NotEmpty(t, r.Do)
				assert.False(t, strings.HasSuffix(r.What, ".") || strings.HasSuffix(r.Do, "."), "no full stop")
			}
			assert.Equal(t, c.want, strings.Join(ids, " "))
			assert.Equal(t, c.want == "", l.Validity.Valid)
			code := ExitWell
			switch id, _, _ := strings.Cut(c.want, " "); id {
			case "":
			case "files", "ports", "memory": // of this machine
				code = ExitInternal
			default:
				code = ExitInconclusive
			}
			got, words := l.Outcome()
			assert.Equal(t, code, got, words)
		})
	}
}

func TestNobodyJudgedIsInvalid(t *testing.T) {
	t.Parallel()
	code, words := (&Load{}).Outcome()
	assert.Equal(t, ExitInconclusive, code)
	assert.Contains(t, words, "INVALID")
}

func TestRemarks(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	l.Ops[0].Lateness.P50 = 60 * time.Microsecond
	l.Ops[0].Service.OutOfRange = 2
	l.Health.Throttled, l.Health.ThrottledPeriods = 100*time.Millisecond, 1
	l.Evaluate()
	require.True(t, l.Validity.Valid)
	all := strings.Join(l.Validity.Remarks, "\n")
	for _, want := range []string{
		"Up to 60 us of the median of push's response (120 us) is the generator's own delay",
		"2 times of push were outside the range",
		"A cgroup throttled the generator once, for 100 ms in all.",
	} {
		assert.Contains(t, all, want)
	}
}

func TestRemarksAboutABacklog(t *testing.T) {
	t.Parallel()
	for consumers, want := range map[int]string{
		0: "No job was fetched while jobs were pushed, so there are no end-to-end latencies",
		5: "Producers pushed faster than workers fetched",
	} {
		l := soundLoad()
		l.Plan.Open, l.Plan.Consumers, l.Flows[0].Time.P50 = false, consumers, 1390*time.Millisecond
		l.Evaluate()
		assert.Contains(t, strings.Join(l.Validity.Remarks, "\n"), want)
	}
}

func TestLoadOutcome(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code   int
		words  string
		change func(*Load)
	}{
		{ExitWell, "achieved the target rate of 5,000 /s; all 325,011 jobs accounted for", func(*Load) {}},
		{ExitWell, "below target: achieved 8,300 of 12,000 /s; all 325,011 jobs accounted for", func(l *Load) { l.Rate.Target, l.Rate.Achieved = 12_000, 8300 }},
		{ExitWell, "below target: achieved 8,300 of 12,000 /s (5 arrivals dropped, 1 arrival unserved); all", func(l *Load) {
			l.Rate.Target, l.Rate.Achieved, l.Rate.Dropped, l.Rate.Unserved = 12_000, 8300, 5, 1
		}},
		{ExitWell, "achieved 4,750 of 5,000 /s; all", func(l *Load) { l.Rate.Achieved = 4750 }},
		{ExitFindings, "1 of 1 threshold missed: lost==1, actual 0; achieved the", func(l *Load) { l.Evaluate(parsed("lost==1")...) }},
		{ExitFindings, "2 of 2 thresholds missed: info.rate>1 has no data (and 1 more)", func(l *Load) { l.Evaluate(parsed("info.rate>1", "lost>1")...) }},
		{ExitInconclusive, "INVALID: the generator used 97 % of its 1 CPU; allowed is 85 %; all", func(l *Load) {
			l.Machine.GOMAXPROCS, l.Health.Loops, l.Health.CPUShare = 2, []float64{0.5}, 0.97 // one to spare
			l.Evaluate()
		}},
		{ExitInconclusive, "INVALID: the host of this virtual machine took 50 % of its time; allowed is 2 %; all", func(l *Load) {
			l.Health.Steal = 0.5
			l.Evaluate(parsed("push.response.p99<1ns")...)
		}},
		{ExitFindings, "1 of 2 thresholds missed: lost>1, actual 0; INVALID: the host of this virtual machine", func(l *Load) {
			l.Health.Steal = 0.5
			l.Evaluate(parsed("push.response.p99<1ns", "lost>1")...)
		}},
		{ExitInconclusive, "inconclusive whether all jobs were delivered; 3 of 325,011 jobs unaccounted for: the limit of 30 s", func(l *Load) {
			l.Jobs.Drained, l.Jobs.Missing, l.Jobs.NotDrained = false, 3, "the limit of 30 s"
		}},
		{ExitInconclusive, "inconclusive whether all jobs ended; all 325,011 jobs delivered; the drain is not complete: " +
			"1 job held; achieved",
			func(l *Load) { l.Jobs.Drained, l.Jobs.Missing, l.Jobs.NotDrained = false, 0, "1 job held" }},
		{ExitLoss, "7 jobs lost (FWP-PUSH-04); achieved", func(l *Load) { l.Findings = []LoadFinding{newFinding(FindingLost, "FWP-PUSH-04", 7, nil)} }},
		{ExitLoss, "1 wrong reply (FWP-RESP-06), 1 job altered (FWP-WU-03); INVALID: the host", func(l *Load) {
			l.Findings = []LoadFinding{newFinding(FindingReply, "FWP-RESP-06", 1, nil), newFinding(FindingAltered, "FWP-WU-03", 1, nil)}
			l.Health.Steal = 0.5
			l.Evaluate(parsed("lost>1")...)
		}},
		{ExitUsage, "usage error: no such preset", func(l *Load) { l.Usage = "no such preset" }},
		{ExitUnreachable, "the target could not be loaded: refused", func(l *Load) { l.Unreachable = "refused" }},
		{ExitUnreachable, "the target was lost: EOF; 7 jobs lost (FWP-PUSH-04); 325,011 jobs confirmed", func(l *Load) {
			l.Gone, l.Findings = "EOF", []LoadFinding{newFinding(FindingLost, "FWP-PUSH-04", 7, nil)}
		}},
		{ExitInternal, "internal error: a b", func(l *Load) { l.Internal = "a\nb" }},
		{ExitInterrupted, "interrupted: 7 jobs lost", func(l *Load) {
			l.Interrupted, l.Findings, l.Internal = true, []LoadFinding{newFinding(FindingLost, "FWP-PUSH-04", 7, nil)}, "boom"
		}},
		{ExitWell, "achieved the target rate of 5,000 /s", func(l *Load) { l.Jobs = LoadJobs{} }},
		{ExitInterrupted, "interrupted: no load was put on the target yet", func(l *Load) { *l = Load{Interrupted: true} }},
		{ExitInconclusive, "nothing was achieved: 616 pushes refused (ERR no), 50 pushes unanswered (timeout), " +
			"3 fetches failed (closed); 50 jobs pushed without", func(l *Load) {
			*l = Load{
				Measured: time.Second, Rate: LoadRate{Op: "push"}, Jobs: LoadJobs{Refused: 616, Doubtful: 50},
				Ops: []LoadOp{
					{Op: "connect", Count: 50}, {Op: "push", Errors: []LoadError{
						{Kind: "timeout", Count: 50}, {Kind: "rejected", Count: 616, Example: "ERR no"},
					}},
					{Op: "fetch", Errors: []LoadError{{Kind: "closed", Count: 3}}}, {Op: "fetch.empty", Count: 1},
				},
			}
			l.Evaluate(parsed("errors<1%")...)
		}},
		{ExitInconclusive, "nothing was achieved: 12 fetches came back without a job", func(l *Load) {
			*l = Load{Measured: time.Second, Rate: LoadRate{Op: "ack"}, Ops: []LoadOp{{Op: "fetch.empty", Count: 12}}}
			l.Evaluate()
		}},
		{ExitInconclusive, "nothing was achieved: no beat was due in 1 s of measuring", func(l *Load) {
			*l = Load{Measured: time.Second, Rate: LoadRate{Op: "beat"}, Ops: []LoadOp{{Op: "connect", Count: 12}}}
			l.Evaluate()
		}},
		{ExitInconclusive, "nothing was achieved: no push was answered in 1 s of measuring", func(l *Load) {
			*l = Load{Measured: time.Second, Rate: LoadRate{Op: "push"}, Ops: []LoadOp{{Op: "push", Outside: 12}}}
			l.Evaluate()
		}},
		{ExitInconclusive, "INVALID: 16.7 % of the pushes failed: 60,000 pushes refused; allowed is 10 %; " +
			"all 325,011 jobs", func(l *Load) {
			l.Ops[0].Errors = []LoadError{{Kind: "rejected", Count: 60_000}}
			l.Evaluate()
		}},
		{ExitWell, "nothing was achieved", func(l *Load) { *l = Load{Validity: Validity{Valid: true}} }},
	}
	for _, c := range cases {
		l := soundLoad()
		c.change(l)
		code, words := l.Outcome()
		assert.Equal(t, c.code, code, words)
		assert.True(t, strings.HasPrefix(words, c.words), "%q, want %q", words, c.words)
	}
}

func TestNewLoadFinding(t *testing.T) {
	t.Parallel()
	jids := make([]string, 1500)
	f := NewLoadFinding(FindingDuplicated, 2000, jids)
	assert.Len(t, f.JIDs, FindingsKept)
	assert.EqualValues(t, 1000, f.More)
	assert.Equal(t, "duplicated", f.Breach)
	assert.EqualValues(t, 2, NewLoadFinding(FindingLost, 0, jids[:2]).Count, "there are at least as many as are named")
	for _, kind := range []FindingKind{
		FindingLost, FindingDuplicated, FindingReturned, FindingRefused, FindingQueue, FindingAltered, FindingForeign, FindingEarly,
		FindingNotRetried, FindingReply, FindingGrammar,
	} {
		assert.NotContains(t, (&LoadFinding{Kind: kind, Count: 2}).String(), string(kind)+"s")
		assert.NotEqual(t, string(kind), NewLoadFinding(kind, 1, nil).What)
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", 1: "1 ns", 999: "999 ns", 52_140: "52.1 us", 999_499: "999 us", 999_500: "1 ms", 1_234_000: "1.23 ms",
		999_499_999: "999 ms", 999_500_000: "1 s", 31_200_000_000: "31.2 s", time.Hour: "3,600 s", -1500 * time.Millisecond: "-1.5 s",
	} {
		assert.Equal(t, want, short(d))
	}
	for share, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.5: "50 %", 0.00001: "< 0.01 %", 0.99999: "> 99.99 %", 0.0123: "1.23 %", 0.9967: "99.67 %", 1.034: "103.4 %",
	} {
		assert.Equal(t, want, percent(share))
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1_234_567: "-1,234,567", -100: "-100"} {
		assert.Equal(t, want, text.Grouped(n))
	}
	assert.Equal(t, "12.3", digits(12.34))
	assert.Equal(t, "0.123", digits(0.1234))
	assert.Equal(t, "1 KiB", size(1024))
	assert.Equal(t, "1.5 GiB", size(3<<29))
	assert.Zero(t, PerSecond(3, 0))
	assert.InDelta(t, 1.5, PerSecond(3, 2*time.Second), 1e-9)
}

// A generator that was late on a machine that others kept busy says so.
func TestLateOnABusyMachine(t *testing.T) {
	t.Parallel()
	words := func(busy, own float64) string {
		l := soundLoad()
		l.Ops[0].Lateness.P99, l.Health.MachineBusy, l.Health.CPUShare = time.Second, busy, own
		l.Evaluate()
		require.False(t, l.Validity.Valid)
		return l.Validity.Reasons[0].What
	}
	assert.Contains(t, words(0.99, 0.04), "; the machine was busy for 99 % of the time, and the generator used 4 % of its")
	assert.NotContains(t, words(0.5, 0.04), "busy")
	assert.NotContains(t, words(0.99, 0.8), "busy", "with itself")
}
