package reports

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		back := Verdict(99)
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, v, back)
	}
	assert.Len(t, worstFirst, len(verdictWords), "every verdict has a place in the order")
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
	assert.False(t, v.Decided())
	assert.Equal(t, NotRun, Worst(v, Pass))
	assert.Equal(t, NotRun, Worst())
	r := &Report{Checks: []Check{{ID: "forgotten"}, passing()}}
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
	decided := append([]Verdict{Pass, Observed}, breach...)
	for _, v := range allVerdicts() {
		assert.Equal(t, slices.Contains(breach, v), v.Breach(), v)
		assert.Equal(t, slices.Contains(decided, v), v.Decided(), v)
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	cases := []struct {
		level  Level
		breach Verdict
		valid  bool
	}{
		{LevelMust, Fail, true}, {LevelMustNot, Fail, true}, {LevelPlain, Fail, true}, {LevelDerived, Fail, true},
		{LevelShould, Warn, true}, {LevelShouldNot, Warn, true}, {LevelMay, Observed, true}, {LevelNote, Observed, true},
		{"", Fail, false}, {"must", Fail, false},
	}
	for _, c := range cases {
		assert.Equal(t, c.breach, c.level.Breach(), c.level)
		assert.Equal(t, c.valid, c.level.Valid(), c.level)
		assert.Equal(t, c.valid, c.level.Words() != "", c.level)
	}
}
