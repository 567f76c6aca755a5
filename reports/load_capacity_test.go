package reports

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// searched is a search that has found something.
func searched() *LoadCapacity {
	step := func(rate float64, result, why string) CapacityStep {
		return CapacityStep{
			Rate: rate, Result: result, Why: why, Run: "k3v9q2", Took: 12 * time.Second, Achieved: rate - 1, Op: "push",
			Response: spread(int64(10*rate), time.Duration(100*rate)*time.Nanosecond),
			Lateness: spread(int64(10*rate), 9*time.Microsecond),
		}
	}
	missed := "1 of 1 threshold missed: push.response.p99<2ms, actual 4.1 ms"
	return &LoadCapacity{
		Version: "fwpbench 0.1.0", Machine: soundLoad().Machine,
		Target: LoadTarget{URL: "tcp://localhost:7419", Chosen: "from --url"},
		Plan:   "50 producers and 50 workers", Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Took: 90 * time.Second,
		Seed:       42,
		Thresholds: []string{"push.response.p99<2ms"}, Precision: 0.05, Rate: 4000, Confirmed: true, Above: 8000,
		Steps: []CapacityStep{
			step(2000, StepHeld, ""), step(4000, StepHeld, ""), step(8000, StepFailed, missed), step(8000, StepFailed, missed),
			step(6000, StepLimited, "INVALID: push was sent late \x1b[2J"), step(4000, StepHeld, ""),
		},
	}
}

func TestLoadCapacityGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*LoadCapacity{"load-capacity": searched(), "load-capacity-empty": {}} {
		var out bytes.Buffer
		require.NoError(t, c.Page(PageOptions{}).WriteText(&out, TextOptions{}))
		golden(t, name+".txt.golden", out.Bytes())
	}
	var out bytes.Buffer
	require.NoError(t, searched().WriteJSON(&out))
	golden(t, "load-capacity.json.golden", out.Bytes())
	out.Reset()
	s := searched().Suite(ExitOptions{})
	require.NoError(t, s.WriteJUnit(&out))
	golden(t, "load-capacity.junit.xml.golden", out.Bytes())
}

func TestLoadCapacityOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(c *LoadCapacity)
		code   int
		words  string
	}{
		"found":     {func(*LoadCapacity) {}, ExitWell, "capacity 4,000 /s; 8,000 /s did not hold: 1 of 1 threshold"},
		"all held":  {func(c *LoadCapacity) { c.Above = 0 }, ExitWell, "at least 4,000 /s, which was the highest rate"},
		"none held": {func(c *LoadCapacity) { c.Rate = 0 }, ExitFindings, "no rate held; 8,000 /s did not hold"},
		"the limit": {func(c *LoadCapacity) { c.Limited = true }, ExitInconclusive,
			"the generator was the limit; at least 4,000 /s"},
		"unsteady":    {func(c *LoadCapacity) { c.Confirmed = false }, ExitInconclusive, "it did not hold twice"},
		"findings":    {func(c *LoadCapacity) { c.Steps[1].Findings = 2 }, ExitLoss, "2 findings in the steps"},
		"interrupted": {func(c *LoadCapacity) { c.Interrupted = true }, ExitInterrupted, "interrupted: at least 4,000 /s"},
		"unreachable": {func(c *LoadCapacity) { c.Unreachable = "x" }, ExitUnreachable, "could not be loaded: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := searched()
			test.change(c)
			code, words := c.Outcome()
			assert.Equal(t, test.code, code)
			assert.Contains(t, words, test.words)
			assert.NotEmpty(t, c.Suite(ExitOptions{}).Cases)
		})
	}
}

func TestStepOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, StepHeld, StepOf(soundLoad(), 5000).Result)
	missed := soundLoad()
	missed.Evaluate(parsed("push.response.p50<1us")...)
	s := StepOf(missed, 5000)
	assert.Equal(t, StepFailed, s.Result)
	assert.Contains(t, s.Why, "push.response.p50<1us")
	short := soundLoad()
	short.Rate.Achieved = 0.98 * short.Rate.Target
	short.Evaluate()
	assert.Equal(t, StepFailed, StepOf(short, 5000).Result)
	late := soundLoad()
	late.Ops[0].Lateness = spread(late.Ops[0].Count, 20*time.Millisecond)
	late.Evaluate()
	assert.Equal(t, StepLimited, StepOf(late, 5000).Result)
	refused := soundLoad()
	refused.Connections.Opened = 10
	refused.Evaluate()
	assert.Equal(t, StepFailed, StepOf(refused, 5000).Result, "the target refused connections")
	left := soundLoad()
	left.Jobs.Drained, left.Jobs.NotDrained = false, "60 s were over"
	left.Evaluate()
	assert.Equal(t, StepFailed, StepOf(left, 5000).Result)
}

func TestLoadCapacityFollowsItsSchema(t *testing.T) {
	t.Parallel()
	schemaOf(t, "load_capacity.schema.json", "Result of a search for the highest rate", LoadCapacitySchema,
		reflect.TypeFor[LoadCapacity](), "load_capacity.go", "load.go")
	root := readSchema(t, "load_capacity.schema.json")
	for name, c := range map[string]*LoadCapacity{"searched": searched(), "empty": {}} {
		assert.Empty(t, root.breachesOf(t, c.WriteJSON), name)
	}
}
