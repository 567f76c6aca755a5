package play

import (
	"cmp"
	"math"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

const (
	quickRounds = 30 * time.Second // that the repetitions of a quick play may take, all together
	leastRounds = 5
)

// rounds limits the repetitions of blocks that have a limit, in a quick play of all: a slow server has fewer of them to
// deal with. Since one block may fetch what another one has pushed, all play the same part of their rounds as the first
// one with a limit had time for. It is safe for concurrent use.
type rounds struct {
	share map[*scenarios.Block]time.Duration // of the blocks with a limit

	mu         sync.Mutex
	played, of int                      // the part: so many rounds of so many
	known      bool                     // the first block with a limit is over, or its time
	begun      map[*scenarios.Block]int // rounds; all before the last of them are played, too
}

// newRounds returns the limits for a script. Each round of a block counts by its lines.
func newRounds(s *scenarios.Script, quick bool) *rounds {
	r := &rounds{share: map[*scenarios.Block]time.Duration{}, played: 1, of: 1, begun: map[*scenarios.Block]int{}}
	all := 0
	cost := func(b *scenarios.Block) int { return b.Count * len(b.Steps) / max(b.By, 1) }
	for _, step := range s.Steps {
		if b, is := step.(*scenarios.Block); is && b.Kind == scenarios.Repeat && (quick || b.Limit > 0) {
			r.share[b] = cmp.Or(b.Limit, math.MaxInt64)
			all += cost(b)
		}
	}
	if quick {
		for b, limit := range r.share {
			r.share[b] = min(limit, quickRounds*time.Duration(cost(b))/time.Duration(max(all, 1)))
		}
	}
	return r
}

// more reports whether a round of a block that began at a moment is to be played.
func (r *rounds) more(b *scenarios.Block, round int, began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := max(b.Count*r.played/r.of, min(b.Count, leastRounds))
	share, limited := r.share[b]
	if limited && !r.known && round >= leastRounds && round < limit && time.Since(began) > share {
		limit = max(round, r.begun[b])
		r.played, r.of, r.known = limit, b.Count, true
	}
	if round >= limit {
		return false
	}
	r.begun[b] = max(r.begun[b], round+1)
	return true
}

// over records that a block has been played.
func (r *rounds) over(b *scenarios.Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.begun, b)
	if _, limited := r.share[b]; limited {
		r.known = true
	}
}
