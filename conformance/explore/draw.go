package explore

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// Draw is what an alphabet makes its choices from. They follow from the seed and the
// round, and from what has come back.
type Draw struct {
	*rand.Rand
	Round    uint64
	Terms    Terms
	Longest  time.Duration // that the clients all wait at a time; zero: time is real, and waiting costs it
	Signals  bool          // an operator can quiet and terminate workers
	Restarts bool          // an operator can restart the server

	swarm uint64 // of the campaign: what is left out follows from it; zero: nothing

	fill  func(text string) string
	free  func() []int
	now   func() time.Time
	dealt map[string][]int // how often each of a list was drawn
}

// NewDraw returns a Draw without connections, for a round of an alphabet by itself.
func NewDraw(d scenarios.Dialect, seed, round uint64, terms Terms, value func(conn int, name string) string) *Draw {
	n := &names{dialect: d, prefix: terms.Prefix, times: map[string]string{}, value: value, now: time.Now()}
	return &Draw{
		Rand: rand.New(rand.NewPCG(seed, round)), Round: round, Terms: terms, dealt: map[string][]int{}, now: time.Now,
		fill: func(text string) string { return n.fill(text, noConn) }, free: func() []int { return nil },
	}
}

// Fill writes a text with its names filled in.
func (d *Draw) Fill(text string) string { return d.fill(text) }

// Free lists the connections that owe no answer, but for those of the control.
func (d *Draw) Free() []int { return d.free() }

// Now is when the last step was played.
func (d *Draw) Now() time.Time { return d.now() }

// Uses reports whether a campaign uses a kind of move, field or value. Half of the campaigns
// leave out a random half of all kinds each, so that what others hide shows (swarm testing).
func (d *Draw) Uses(kind string) bool {
	if d.swarm == 0 {
		return true
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // it never fails
	return rand.New(rand.NewPCG(d.swarm, h.Sum64())).IntN(2) == 0
}

// Deal draws a number below n from those that were drawn least until now under that
// name, so that all of them come soon.
func (d *Draw) Deal(name string, n int) int {
	counts := d.dealt[name]
	if counts == nil {
		counts = make([]int, n)
		d.dealt[name] = counts
	}
	least := slices.Min(counts)
	at := d.IntN(n)
	for counts[at] != least {
		at = (at + 1) % n
	}
	counts[at]++
	return at
}
