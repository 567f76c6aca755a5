package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

// TestRandomPlans: whatever the stages are, from microseconds to weeks and from one
// arrival in years to a thousand million a second, arrivals never go back and come when
// the integral says.
func TestRandomPlans(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	rate := func() float64 {
		if random.IntN(4) == 0 {
			return 0
		}
		return math.Exp(random.Float64()*40 - 20)
	}
	for range 2000 {
		p := &plan.Plan{}
		for range 1 + random.IntN(5) {
			s := plan.Stage{Length: time.Duration(math.Exp(random.Float64()*30 + 4)), From: rate(), To: rate()}
			if random.IntN(2) == 0 {
				s.To = s.From
			}
			p.Stages = append(p.Stages, s)
		}
		total := p.Total()
		if total == 0 {
			continue
		}
		for range 10 {
			checkNeighbours(t, p, random.Int64N(total))
		}
		checkNeighbours(t, p, 0)
		checkNeighbours(t, p, total-1)
	}
}

// checkNeighbours looks at arrival k and the one after it.
func checkNeighbours(t *testing.T, p *plan.Plan, k int64) {
	t.Helper()
	at, ok := p.At(k)
	tolerance := 1e-5 + 1e-13*float64(k)
	problem := ""
	switch next, hasNext := p.At(k + 1); {
	case !ok:
		problem = "no arrival"
	case p.Expected(at) > float64(k)+tolerance:
		problem = "too late"
	case at < p.Span() && p.Expected(at+1) < float64(k)-tolerance:
		problem = "too early"
	case hasNext && next < at:
		problem = "the next one is earlier"
	}
	if problem != "" {
		require.Fail(t, problem, "%v: arrival %d of %d at %v", p.Stages, k, p.Total(), at)
	}
}
