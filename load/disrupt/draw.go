package disrupt

import (
	"math/rand/v2"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
)

// Draw returns a schedule with one disruption at each multiple of every that ends before until, which is 0 for a run
// without an end in time. The actions come in rounds, each once in a round, in an order of the seed; so do the lengths,
// of at most half of every, and what else there is to choose. A schedule has at most 1,000 disruptions.
func Draw(every time.Duration, actions []target.Action, until time.Duration, seed uint64) []Disruption {
	random := rand.New(rand.NewPCG(seed, uint64(every))) //nolint:gosec // it is to be repeatable
	var all []Disruption
	var round []int
	for at := every; len(all) < maxDisruptions; at += every {
		if len(round) == 0 {
			round = random.Perm(len(actions))
		}
		d := draw(random, actions[round[0]], every/2)
		d.At, round = at, round[1:]
		if until > 0 && d.At+d.Length > until {
			break
		}
		all = append(all, d)
	}
	return all
}

// draw returns a disruption of at most a length.
func draw(random *rand.Rand, action target.Action, limit time.Duration) Disruption {
	between := func(low, high time.Duration) time.Duration {
		const step = 10 * time.Millisecond // for reports that can be read
		return (low + time.Duration(random.Int64N(int64(high-low)+1))).Truncate(step)
	}
	k := kinds[action]
	d := Disruption{Action: action}
	if k.longest > 0 {
		d.Length = min(between(k.shortest, k.longest), limit)
	}
	switch action {
	case target.Partition:
		d.Direction = Direction(random.IntN(len(directions))) //nolint:gosec // there are three
	case target.Slow:
		d.Link = Link{Delay: between(10*time.Millisecond, 200*time.Millisecond), Jitter: between(0, 100*time.Millisecond)}
		if random.IntN(2) == 0 {
			d.Link.Segment = 1 + random.IntN(16)
		}
		if random.IntN(2) == 0 {
			d.Link.Rate = 4<<10 + random.IntN(60<<10)
		}
	}
	return d
}
