package reports

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compared is a comparison with a difference of each mark.
func compared() *Comparison {
	departs := DifferenceSide{
		Reply: "retry: 3", Clause: "FWP-WU-07", Level: LevelPlain, Verdict: Fail, Expected: `${"retry":25 | null | absent}`,
	}
	warns := DifferenceSide{Reply: "+OK", Clause: "FWP-FRAME-03", Level: LevelShould, Verdict: Warn, Expected: "-"}
	talk := []Exchange{{Step: "connect c2 as consumer"},
		{Step: "C[c2]: FETCH $queue1", A: "${} retry: 25", B: "${} retry: 3"}}
	c := &Comparison{
		Version: "fwpcheck v1.2.3", A: Target{URL: "tcp://127.0.0.1:7419", Chosen: "from the arguments", HI: `HI {"v":2}`},
		B: Target{URL: "tcp://127.0.0.1:7519", Chosen: "from the arguments", HI: `HI {"v":2}`}, Took: 83 * time.Second,
		Seed: 42, Commands: 5012, Outcomes: map[string]int{"FETCH identified worker: ${}": 400}, Left: []string{"job-1"},
		Limits: []int{0, 20},
		Differences: []Difference{
			{Command: "END", State: "identified", Clause: "FWP-END-01", A: DifferenceSide{Reply: "+OK"},
				B: DifferenceSide{Reply: "<close>"}, Count: 9, Conversation: talk[:1], Reproduced: 5, Tried: 5},
			{Command: "INFO", State: "identified", Clause: "FWP-FRAME-03", A: warns, B: DifferenceSide{Reply: "-"}, Count: 2},
			{Command: "FETCH", Field: "retry", Clause: "FWP-FETCH-03", A: DifferenceSide{Reply: "retry: 25"}, B: departs,
				Count: 1, Conversation: talk, Reproduced: 4, Tried: 5},
		},
	}
	for i := range c.Differences {
		c.Differences[i].Judge()
	}
	c.Sort()
	return c
}

func TestComparisonGolden(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]*Comparison{"comparison": compared(), "comparison-empty": {}} {
		var out bytes.Buffer
		require.NoError(t, report.Page(PageOptions{}).WriteText(&out, TextOptions{}))
		golden(t, name+".txt.golden", out.Bytes())
	}
	var out bytes.Buffer
	require.NoError(t, compared().WriteJSON(&out, ExitOptions{}))
	golden(t, "comparison.json.golden", out.Bytes())
}

func TestComparisonOutcome(t *testing.T) {
	t.Parallel()
	fail, warn := DifferenceSide{Clause: "FWP-WU-07", Verdict: Fail}, DifferenceSide{Clause: "FWP-WU-07", Verdict: Warn}
	other := DifferenceSide{Clause: "FWP-WU-08", Verdict: Fail}
	for name, test := range map[string]struct {
		a, b   DifferenceSide
		strict bool
		mark   Mark
		code   int
	}{
		"both allowed":             {DifferenceSide{}, DifferenceSide{}, false, BothAllowed, ExitWell},
		"only A":                   {fail, DifferenceSide{}, false, ADeparts, ExitWell},
		"only B":                   {DifferenceSide{}, fail, false, BDeparts, ExitFindings},
		"both, from the same":      {fail, fail, false, BothDepart, ExitWell},
		"both, from different":     {fail, other, false, BothDepart, ExitFindings},
		"B, from a recommendation": {DifferenceSide{}, warn, false, BDeparts, ExitWell},
		"B, and that counts":       {DifferenceSide{}, warn, true, BDeparts, ExitFindings},
		"B has crashed": {DifferenceSide{}, DifferenceSide{Clause: "x", Verdict: Crash}, false, BDeparts,
			ExitFindings},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Difference{A: test.a, B: test.b}
			d.Judge()
			assert.Equal(t, test.mark, d.Mark)
			c := &Comparison{Commands: 1, Outcomes: map[string]int{"x": 1}, Differences: []Difference{d}}
			code, _ := c.Outcome(ExitOptions{Strict: test.strict})
			assert.Equal(t, test.code, code)
		})
	}
	for want, c := range map[int]*Comparison{
		ExitInconclusive: {}, ExitInterrupted: {Interrupted: true}, ExitUnreachable: {Unreachable: "x"},
		ExitInternal: {Internal: "x"},
		ExitWell:     {Outcomes: map[string]int{"x": 1}},
	} {
		code, _ := c.Outcome(ExitOptions{})
		assert.Equal(t, want, code)
	}
}
