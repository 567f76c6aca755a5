package reports

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/text"
)

func allVerdicts() []Verdict {
	return []Verdict{NotRun, Pass, Fail, Warn, Observed, NotApplicable, NotSelected, Skipped, Inconclusive, Crash}
}

func TestVerdictWords(t *testing.T) {
	t.Parallel()
	words := []string{
		"not run", "pass", "fail", "warn", "observed", "not applicable", "not selected", "skipped", "inconclusive", "crash",
	}
	for i, v := range allVerdicts() {
		assert.Equal(t, words[i], v.String())
		text, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, `"`+words[i]+`"`, string(text))
		result := Verdict(99)
		require.NoError(t, json.Unmarshal(text, &result))
		assert.Equal(t, v, result)
	}
	assert.Len(t, worstFirst, int(Crash)+1, "every verdict has a place in the order")
	assert.Equal(t, "verdict 99", Verdict(99).String())
}

func TestVerdictRefusesOtherWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "PASS", "passed", "not-run", "green"} {
		v := Fail
		require.EqualError(t, v.UnmarshalText([]byte(text)), `verdict "`+text+`" is unknown`)
		assert.Equal(t, Fail, v)
	}
	_, err := Verdict(99).MarshalText()
	require.EqualError(t, err, "verdict 99 is unknown")
}

func TestZeroVerdictIsNotGreen(t *testing.T) {
	t.Parallel()
	var v Verdict
	assert.Equal(t, NotRun, v)
	assert.False(t, v.IsDecided())
	assert.Equal(t, NotRun, Worst(v, Pass))
	assert.Equal(t, NotRun, Worst())
	r := &Report{Checks: []Check{{ID: "forgotten"}, passingCheck()}}
	assert.Equal(t, ExitInconclusive, r.ExitCode(ExitOptions{}))
}

func TestWorst(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		in   []Verdict
		want Verdict
	}{
		{"one", []Verdict{Pass}, Pass},
		{"crash beats fail", []Verdict{Fail, Crash}, Crash},
		{"fail beats inconclusive", []Verdict{Inconclusive, Fail, Pass}, Fail},
		{"inconclusive beats pass", []Verdict{Pass, Inconclusive}, Inconclusive},
		{"inconclusive beats not run", []Verdict{NotRun, Inconclusive}, Inconclusive},
		{"not run beats warn", []Verdict{Warn, NotRun}, NotRun},
		{"warn beats note", []Verdict{Observed, Warn}, Warn},
		{"note beats pass", []Verdict{Pass, Observed}, Observed},
		{"skipped hides no pass", []Verdict{Skipped, Pass}, Pass},
		{"not selected hides no pass", []Verdict{NotSelected, Pass, NotApplicable}, Pass},
		{"skipped beats not selected", []Verdict{NotSelected, Skipped}, Skipped},
		{"not selected beats not applicable", []Verdict{NotApplicable, NotSelected}, NotSelected},
		{"what is no verdict is seen", []Verdict{Crash, 99}, 99},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, Worst(c.in...))
			slices.Reverse(c.in)
			assert.Equal(t, c.want, Worst(c.in...), "the order of the checks does not count")
		})
	}
}

func TestWorstIsAnOrder(t *testing.T) {
	t.Parallel()
	for _, a := range allVerdicts() {
		assert.Equal(t, a, Worst(a, a))
		for _, b := range allVerdicts() {
			assert.Equal(t, Worst(a, b), Worst(b, a))
			for _, c := range allVerdicts() {
				assert.Equal(t, Worst(Worst(a, b), c), Worst(a, b, c))
			}
		}
	}
}

func TestBreachAndDecided(t *testing.T) {
	t.Parallel()
	breach := []Verdict{Crash, Fail, Warn}
	verdicts := append([]Verdict{Pass, Observed}, breach...)
	for _, v := range allVerdicts() {
		assert.Equal(t, slices.Contains(breach, v), v.IsBreach(), v)
		assert.Equal(t, slices.Contains(verdicts, v), v.IsDecided(), v)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	cases := []struct {
		level   Level
		breach  Verdict
		isValid bool
	}{
		{LevelMust, Fail, true}, {LevelMustNot, Fail, true}, {LevelPlain, Fail, true}, {LevelDerived, Fail, true},
		{LevelShould, Warn, true}, {LevelShouldNot, Warn, true}, {LevelMay, Observed, true}, {LevelNote, Observed, true},
		{"", Fail, false}, {"must", Fail, false},
	}
	for _, c := range cases {
		assert.Equal(t, c.breach, c.level.BreachVerdict(), c.level)
		assert.Equal(t, c.isValid, c.level.IsValid(), c.level)
		assert.Equal(t, c.isValid, c.level.Words() != "", c.level)
	}
}

// repeatedReport returns a report of checks that were run ten times each: one is always red, one sometimes, one names no
// clause, one is steady.
func repeatedReport() *Report {
	r := wellReport()
	r.Repeat = 10
	r.Checks[0].Runs = CountVerdicts(Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass)
	always, sometimes := paddedCheck(), rejectedCheck()
	always.Runs = []Count{{Warn, 10}}
	sometimes.Runs = []Count{{Fail, 2}, {Inconclusive, 1}, {Pass, 7}}
	sometimes.Clauses[0].Runs = sometimes.Runs
	sometimes.Clauses = append(sometimes.Clauses,
		ClauseVerdict{ID: "FWP-HI-01", Level: LevelPlain, Verdict: Pass, Runs: []Count{{Pass, 10}}})
	bare := Check{ID: "my-bug.fwp", File: "my-bug.fwp", Verdict: Fail, Runs: []Count{{Fail, 9}, {NotRun, 1}},
		Findings: []Finding{{Verdict: Fail, Evidence: Evidence{
			Line: 3, Source: "S: +OK", Expected: "the simple string OK", Actual: "no reply",
		}}}}
	r.Checks = append(r.Checks, always, sometimes, bare)
	return r
}

func TestCountVerdicts(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []Count{{Crash, 1}, {Inconclusive, 2}, {Pass, 1}},
		CountVerdicts(Inconclusive, Pass, Crash, Inconclusive))
	assert.Empty(t, CountVerdicts())
}

func TestSeen(t *testing.T) {
	t.Parallel()
	c := Check{Runs: CountVerdicts(Fail, Fail, Pass),
		Clauses: []ClauseVerdict{{ID: "A", Runs: CountVerdicts(Fail)}, {ID: "B"}}}
	assert.Equal(t, "in 2 of 3 runs", c.frequency(Fail, ""))
	assert.Equal(t, "in 1 of 3 runs", c.frequency(Fail, "A"), "a clause that the other runs said nothing about")
	assert.Equal(t, "in 2 of 3 runs", c.frequency(Fail, "B"))
	assert.Empty(t, c.frequency(Crash, ""))
	assert.Empty(t, (&Check{}).frequency(Fail, ""))
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0", 1: "1 ns", 999: "999 ns", 52_140: "52.1 us", 999_499: "999 us", 999_500: "1 ms", 1_234_000: "1.23 ms",
		999_499_999: "999 ms", 999_500_000: "1 s", 31_200_000_000: "31.2 s", time.Hour: "3,600 s",
		-1500 * time.Millisecond: "-1.5 s",
	} {
		assert.Equal(t, want, Duration(d))
	}
	for share, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.5: "50 %", 0.00001: "< 0.01 %", 0.99999: "> 99.99 %", 0.0123: "1.23 %",
		0.9967: "99.67 %", 1.034: "103.4 %",
	} {
		assert.Equal(t, want, Percent(share))
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1_234_567: "-1,234,567", -100: "-100"} {
		assert.Equal(t, want, text.GroupDigits(n))
	}
	assert.Equal(t, "12.3", Digits(12.34))
	assert.Equal(t, "0.123", Digits(0.1234))
	assert.Equal(t, "1 KiB", Size(1024))
	assert.Equal(t, "1.5 GiB", Size(3<<29))
	assert.Zero(t, PerSecond(3, 0))
	assert.InDelta(t, 1.5, PerSecond(3, 2*time.Second), 1e-9)
}
