package validity_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

func TestParseThreshold(t *testing.T) {
	t.Parallel()
	cases := []struct {
		source string
		want   validity.Threshold
	}{
		{"push.response.p99<20ms", validity.Threshold{Metric: "push.response.p99", Operator: "<", Value: 20e6}},
		{"  push.response.p99.9  <=  1.5 s ", validity.Threshold{Metric: "push.response.p99.9", Operator: "<=", Value: 1.5e9}},
		{"fetch.found.service.max>250us", validity.Threshold{Metric: "fetch.found.service.max", Operator: ">", Value: 250e3}},
		{"job.fetched.p99.99!=10ns", validity.Threshold{Metric: "job.fetched.p99.99", Operator: "!=", Value: 10}},
		{"job.acked.mean<2m", validity.Threshold{Metric: "job.acked.mean", Operator: "<", Value: 120e9}},
		{"lateness.p99<100µs", validity.Threshold{Metric: "lateness.p99", Operator: "<", Value: 100e3}},
		{"errors<0.1%", validity.Threshold{Metric: "errors", Operator: "<", Value: 0.001, IsShare: true}},
		{"push.errors==0", validity.Threshold{Metric: "push.errors", Operator: "=="}},
		{"lost == 0", validity.Threshold{Metric: "lost", Operator: "=="}},
		{"rate>=5000/s", validity.Threshold{Metric: "rate", Operator: ">=", Value: 5000}},
		{"push.rate>=300/m", validity.Threshold{Metric: "push.rate", Operator: ">=", Value: 5}},
		{"rate>=99%", validity.Threshold{Metric: "rate", Operator: ">=", Value: 0.99, IsShare: true}},
		{"delivered>1_000_000", validity.Threshold{Metric: "delivered", Operator: ">", Value: 1e6}},
		{"dropped<5", validity.Threshold{Metric: "dropped", Operator: "<", Value: 5}},
	}
	for _, c := range cases {
		got, err := validity.ParseThreshold(c.source, sampleOps()...)
		require.NoError(t, err, c.source)
		c.want.Source = strings.TrimSpace(c.source)
		assert.InDelta(t, c.want.Value, got.Value, 1e-9, c.source)
		got.Value = c.want.Value
		assert.Equal(t, c.want, got)
	}
}

func TestParseThresholdTellsWhere(t *testing.T) {
	t.Parallel()
	cases := []struct {
		source string
		col    int
		want   string
	}{
		{"", 1, "an operator is missing"},
		{"push.response.p99", 18, "an operator is missing"},
		{" <20ms", 2, "a metric is missing before <"},
		{" psuh.rate>3", 2, `unknown metric "psuh.rate"; did you mean push.rate?`},
		{"errors<0,1%", 8, `"0,1%" has a comma: write fractions with a point, as in 0.1`},
		{"delivered>1,000", 11, "thousands without a separator"},
		{"push.p99<20ms", 1, "did you mean push.response.p99?"},
		{"push.service.p999<20ms", 1, "did you mean push.service.p99?"},
		{"waited>0", 1, "did you mean queued?"},
		{"p99<20ms", 1, "did you mean push.response.p99? (fwpbench metrics lists all)"},
		{"response.p99<20ms", 1, "did you mean push.response.p99?"},
		{"Lost==0", 1, "did you mean lost?"},
		{"fetched.p99<1s", 1, "did you mean job.fetched.p99?"},
		{"lost=0", 5, "unknown operator =:"},
		{"lost=<0", 5, "unknown operator =<:"},
		{"lost==", 7, `"" is not a valid number; write lost==10 or 0.1% for example`},
		{"lost==-1", 7, `"-1" is not a valid number`},
		{"lost==1.2.3", 7, `"1.2.3" is not a valid number`},
		{"lost== 5ms", 8, `unknown unit "ms" for lost`},
		{"push.response.p99<20", 19, "is a time and needs a unit (ns, us, ms, s, m): 20ms"},
		{"push.response.p99<20%", 19, "so it takes no %"},
		{"push.rate>20%", 11, "so it takes no %"},
		{"rate>5kHz", 6, `unknown unit "kHz" for rate; write 5000/s or 99% for example`},
		{"lateness.µ<5ms", 1, `unknown metric "lateness.µ"`},
		{"rate>µ5", 6, `"µ5" is not a valid number`},
	}
	for _, c := range cases {
		_, err := validity.ParseThreshold(c.source, sampleOps()...)
		var wrong *validity.ThresholdError
		require.ErrorAs(t, err, &wrong, c.source)
		assert.Equal(t, c.col, wrong.Col, c.source)
		assert.Contains(t, err.Error(), c.want)
	}
}

func TestThresholdEvaluate(t *testing.T) {
	t.Parallel()
	cases := []struct {
		source, expected, actual string
		isMet                    bool
	}{
		{"push.response.p99<20ms", "< 20 ms", "600 us", true},
		{"push.response.p99<600us", "< 600 us", "600 us", false},
		{"push.response.p99<=600us", "<= 600 us", "600 us", true},
		{"push.response.p50<119.99us", "< 120 us", "120µs", false},
		{"fetch.found.service.max>1s", "> 1 s", "8.53 ms", false},
		{"fetch.waited.lateness.min!=1ns", "!= 1 ns", "6 us", true},
		{"job.fetched.p99<1ms", "< 1 ms", "900 us", true},
		{"lateness.p99==60us", "== 60 us", "60 us", true},
		{"errors<0.1%", "< 0.1 %", "0 %", true},
		{"push.errors==0", "== 0", "0", true},
		{"rate>=99%", ">= 99 %", "99.97 %", true},
		{"rate>=5000/s", ">= 5,000 /s", "4,998 /s", false},
		{"push.rate>4000", "> 4,000 /s", "4,998 /s", true},
		{"lost==0", "== 0", "0", true},
		{"out_of_order<1000", "< 1,000", "1,204", false},
		{"out_of_order<1%", "< 1 %", "0.37 %", true},
		{"fetch.empty.count<10", "< 10", "0", true},
		{"acked==100%", "== 100 %", "100 %", true},
		{"findings==0", "== 0", "0", true},
		{"connections.lost==0", "== 0", "0", true},
		{"queued>0", "> 0", "14", true},
		{"fail.response.p99<1s", "< 1 s", "no data", false},
		{"fail.errors==0", "== 0", "no data", false},
		{"info.rate>=0", ">= 0 /s", "no data", false},
	}
	for _, c := range cases {
		got := parseThresholds(c.source)[0].Evaluate(soundLoad())
		got.DelayVerdict = "" // see TestStepOf
		assert.Equal(t, results.ThresholdResult{
			Threshold: c.source, IsMet: c.isMet, Expected: c.expected, Actual: c.actual, NoData: c.actual == "no data",
		}, got)
	}
}

// What was not measured is no reason to be content.
func TestThresholdsFailWithoutData(t *testing.T) {
	t.Parallel()
	undrained, closed, invalid := soundLoad(), soundLoad(), soundLoad()
	undrained.Jobs.IsDrained = false
	closed.Rate = results.LoadRate{Op: "push", Achieved: 5, Done: 300}
	invalid.Validity = results.Validity{}
	empty := &results.Load{Validity: results.Validity{IsValid: true}}
	for _, c := range []struct {
		l          *results.Load
		sources    []string
		wantActual string
	}{
		{undrained, []string{"lost==0", "missing<5"}, "unknown, because the drain was not complete"},
		{closed, []string{"dropped==0", "rate>=1%"}, "no data"},
		{invalid, []string{"push.response.p99<1s", "rate>1", "errors<1%"}, "the run is INVALID"},
		{empty, []string{"rate<1", "errors<1%", "lost==0", "duplicated==0", "push.count==0", "job.fetched.p99<1s",
			"lateness.p99<1s"}, "no data"},
	} {
		for _, threshold := range parseThresholds(c.sources...) {
			got := threshold.Evaluate(c.l)
			assert.False(t, got.IsMet, threshold.Source)
			assert.True(t, got.NoData, threshold.Source)
			assert.Equal(t, c.wantActual, got.Actual, threshold.Source)
			assert.Equal(t, c.l == invalid || c.l == undrained, got.NotJudged, threshold.Source)
		}
	}
	for _, threshold := range parseThresholds("lost==0", "findings==0", "duplicated==0", "pushed>5") {
		got := threshold.Evaluate(invalid)
		assert.True(t, got.IsMet && !got.NotJudged, "the account of the jobs is exact in any run: %s", threshold.Source)
	}
	got := validity.Threshold{Source: "x", Metric: "x"}.Evaluate(empty)
	assert.Equal(t, results.ThresholdResult{Threshold: "x", Actual: "no metric of this name", NoData: true}, got)
}

// A threshold is met if it is met however long what had no reply would have waited, and missed if it is met in no case.
func TestThresholdsOnBounds(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	l.Ops[0].Response.AtLeast = []string{"p99"}
	l.Ops[0].Response.AtMost = map[string]time.Duration{"p50": time.Millisecond}
	for source, want := range map[string]string{
		"push.response.p99<1s": "undecided", "push.response.p99<=600us": "undecided", "push.response.p99==600us": "undecided",
		"push.response.p99<500us": "missed", "push.response.p99!=1s": "met", "push.response.p99>1us": "met",
		"push.response.p99>=600us": "met", "push.response.p99>1s": "undecided",
		"push.response.p50<1s": "met", "push.response.p50<500us": "undecided", "push.response.p50<1us": "missed",
		"push.response.p90<1s": "met",
	} {
		got := parseThresholds(source)[0].Evaluate(l)
		assert.Equal(t, want == "met", got.IsMet, source)
		assert.Equal(t, want == "undecided", got.IsUndecided, source)
		if strings.Contains(source, "p99") {
			assert.Equal(t, "at least 600 us", got.Actual)
		}
	}
	validity.Evaluate(l, parseThresholds("push.response.p99<1s", "push.response.p50<1s")...)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "1 of 2 thresholds undecided: push.response.p99<1s, actual at least 600 us; achieved")
	validity.Evaluate(l, parseThresholds("push.response.p99<1s", "push.response.p50<1us")...)
	code, words = l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitFindings, code)
	assert.Contains(t, words, "1 of 2 thresholds missed: push.response.p50<1us")
}

func FuzzParseThreshold(f *testing.F) {
	for _, seed := range []string{"push.response.p99<20ms", "errors<0.1%", "lost==0", "µ<", "a!=1_0", " < 1"} {
		f.Add(seed)
	}
	l := soundLoad()
	f.Fuzz(func(t *testing.T, source string) {
		got, err := validity.ParseThreshold(source, sampleOps()...)
		if err != nil {
			wrong, ok := errors.AsType[*validity.ThresholdError](err)
			require.True(t, ok && wrong.Col >= 1 && wrong.Col <= len([]rune(source))+1, err)
			return
		}
		got.Evaluate(l)
	})
}
