package plan_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

const ms = time.Millisecond

// notation is a case of a parser: what it makes of a text, or what it says.
type notation[T any] struct {
	text  string
	want  T
	error string
}

func testParser[T any](t *testing.T, parse func(string) (T, error), cases []notation[T]) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			got, err := parse(c.text)
			if c.error != "" {
				assert.EqualError(t, err, c.error)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestParseRate(t *testing.T) {
	t.Parallel()
	testParser(t, plan.ParseRate, []notation[plan.Rate]{
		{text: "5000", want: 5000},
		{text: "5000/s", want: 5000},
		{text: "300/m", want: 5},
		{text: "36/h", want: 0.01},
		{text: "0.5", want: 0.5},
		{text: "0", want: 0},
		{text: "fast", error: `"fast" is not a valid number; expected a number from 0 to 1000000000; ` +
			`write it as in 5000/s, 300/m or 10/h`},
		{text: "NaN", error: `"NaN" is not a valid number; expected a number from 0 to 1000000000; ` +
			`write it as in 5000/s, 300/m or 10/h`},
		{text: "-1/s", error: `"-1" is out of range; expected a number from 0 to 1000000000; choose a number in that range`},
		{text: "1e400", error: `"1e400" is out of range; expected a number from 0 to 1000000000; ` +
			`choose a number in that range`},
		{text: "5/d", error: `"5/d" has an unknown unit; expected /s, /m or /h after the number; ` +
			`write it as in 5000/s, 300/m or 10/h`},
	})
}

func TestParseStages(t *testing.T) {
	t.Parallel()
	testParser(t, plan.ParseStages, []notation[plan.Stages]{
		{text: "10s:0-1000,60s:1000,5s:5000", want: plan.Stages{{Length: 10 * time.Second, From: 0, To: 1000},
			{Length: time.Minute, From: 1000, To: 1000}, {Length: 5 * time.Second, From: 5000, To: 5000}}},
		{text: "1m:60-120/m, 1h:7200/h", want: plan.Stages{{Length: time.Minute, From: 1, To: 2},
			{Length: time.Hour, From: 2, To: 2}}},
		{text: "1s:5/s-300/m", want: plan.Stages{{Length: time.Second, From: 5, To: 5}}},
		{text: "1000", error: `"1000" is not a valid stage; expected a duration, a colon and a rate; ` +
			`write stages as in 10s:0-1000,60s:1000`},
		{text: "0s:5",
			error: `"0s:5" has no duration; expected a duration above 0; remove the stage or give it a duration`},
		{text: "10:5", error: `"10" has no unit; expected a duration from 0s to 1000h; ` +
			`write a number and a unit, as in 500ms, 30s or 5m`},
		{text: "1s:5,1s:x", error: `"x" is not a valid number; expected a number from 0 to 1000000000; ` +
			`write it as in 5000/s, 300/m or 10/h`},
	})
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	list := func(shares ...plan.SizeShare) plan.Size { return plan.Size{List: shares} }
	testParser(t, plan.ParseSize, []notation[plan.Size]{
		{text: "100", want: plan.Constant(100)},
		{text: "2KiB", want: plan.Constant(2048)},
		{text: "16MiB", want: plan.Constant(plan.MaxPayload)},
		{text: "100-2kB", want: list(plan.SizeShare{Min: 100, Max: 2000, Weight: 1})},
		{text: "100:80,10000:20", want: list(plan.SizeShare{Min: 100, Max: 100, Weight: 80},
			plan.SizeShare{Min: 10000, Max: 10000, Weight: 20})},
		{text: "1-9:1, 5B:0.5", want: list(plan.SizeShare{Min: 1, Max: 9, Weight: 1},
			plan.SizeShare{Min: 5, Max: 5, Weight: 0.5})},
		{text: "lognormal:500,1.2", want: plan.Size{Median: 500, Sigma: 1.2}},
		{text: "17MiB", error: `"17MiB" is out of range; expected a size from 0 to 16MiB; choose a size in that range`},
		{text: "-5", error: `"-5" is out of range; expected a size from 0 to 16MiB; choose a size in that range`},
		{text: "5-", error: `"5-" is not a valid size; expected a size from 0 to 16MiB; ` +
			`write it as in 100, 2KiB, 100-2000, 100:80,10000:20 or lognormal:500,1.2`},
		{text: "9-5", error: `"9-5" ends before it begins; expected the smaller size first; swap the two`},
		{text: "5,6", error: `"5,6" mixes sizes with and without weights; ` +
			`expected a weight for each size of a list; write it as in 100, 2KiB, 100-2000, 100:80,10000:20 or ` +
			`lognormal:500,1.2`},
		{text: "5:0,6:1", error: `"0" is out of range; expected a number from 0.000001 to 1000000000; ` +
			`choose a number in that range`},
		{text: "lognormal:5",
			error: `"lognormal:5" has only one number; expected two numbers: median and sigma; ` +
				`write it as in lognormal:500,1.2`},
	})
}

func TestParseRange(t *testing.T) {
	t.Parallel()
	testParser(t, plan.ParseRange, []notation[plan.Range]{
		{text: "10ms", want: plan.Range{Min: 10 * ms, Max: 10 * ms}},
		{text: "5ms-1s", want: plan.Range{Min: 5 * ms, Max: time.Second}},
		{text: "0", want: plan.Range{}},
		{text: "2s-1s", error: `"2s-1s" ends before it begins; expected the smaller duration first; swap the two`},
		{text: "soon", error: `"soon" is not a valid duration; expected a duration from 0s to 1000h; ` +
			`write a number and a unit, as in 500ms, 30s or 5m`},
		{text: "2000h", error: `"2000h" is out of range; expected a duration from 0s to 1000h; ` +
			`choose a duration in that range`},
	})
}

// TestNotationsAreReadAndWritten: what String writes is what the parser reads.
func TestNotationsAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for text, roundTrip := range map[string]func(string) (string, error){
		"1h":     func(s string) (string, error) { d, err := plan.ParseDuration(s); return d.String(), err },
		"1h0m1s": func(s string) (string, error) { d, err := plan.ParseDuration(s); return d.String(), err },
		"10m":    func(s string) (string, error) { d, err := plan.ParseDuration(s); return d.String(), err },
		"5ms-1m": func(s string) (string, error) { r, err := plan.ParseRange(s); return r.String(), err },
		"2.5/s":  func(s string) (string, error) { r, err := plan.ParseRate(s); return r.String(), err },
		"10s:0-1000,1m:0.1": func(s string) (string, error) {
			r, err := plan.ParseStages(s)
			return r.String(), err
		},
		"1-9:1,5:0.5":       func(s string) (string, error) { r, err := plan.ParseSize(s); return r.String(), err },
		"lognormal:500,1.2": func(s string) (string, error) { r, err := plan.ParseSize(s); return r.String(), err },
		"0":                 func(s string) (string, error) { r, err := plan.ParseSize(s); return r.String(), err },
	} {
		got, err := roundTrip(text)
		require.NoError(t, err)
		assert.Equal(t, text, got)
	}
}

func TestLimitsOfFields(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]plan.Workload{
		"producers": {Producers: -1},
		"rate":      {Producers: 1, Rate: plan.Rate(math.NaN())},
		"drain":     {Producers: 1, Drain: -1},
		"topology":  {Producers: 1, Topology: plan.Topology{Kind: 9}},
		"job_types": {Producers: 1, JobTypes: []string{"a\nb"}},
		"preset":    {Producers: 1, Preset: "other"},
	} {
		var p *plan.Problem
		require.ErrorAs(t, w.Check(), &p, name)
		assert.Equal(t, name, p.Key)
	}
}
