package history

// search looks for an order of the calls of a job, and for instants within their
// intervals, that its machine allows. It is exact, and its work grows with the number of
// calls that overlap and not with all: the next call is one that begins before any of
// the rest has ended.
type search struct {
	machine machine
	calls   []call
	// final reports whether the job may end in a state; nil allows any.
	final func(state) bool

	seen map[spot]struct{} // dead ends; only kept for more than a few calls
	left int               // places that may still be tried
}

// spot is a place in the search: the calls before base are done, and those of the
// following that are in the mask.
type spot struct {
	base  int
	mask  uint64
	state state
}

// answer is the result of a search.
type answer uint8

const (
	impossible answer = iota // no order explains the calls
	possible
	tangled // too many calls overlap to tell
)

// few is how many calls are tried in every order without keeping dead ends.
const few = 5

// run searches. The calls must be sorted by begin.
func (s *search) run() answer {
	s.left = 1<<12 + 64*len(s.calls)
	s.seen = nil
	if len(s.calls) > few {
		s.seen = make(map[spot]struct{})
	}
	return s.from(spot{})
}

func (s *search) from(at spot) answer {
	for at.mask&1 != 0 {
		at.mask >>= 1
		at.base++
	}
	if at.base == len(s.calls) {
		if s.final == nil || s.final(at.state) {
			return possible
		}
		return impossible
	}
	if s.left--; s.left < 0 {
		return tangled
	}
	if s.seen != nil {
		if _, dead := s.seen[at]; dead {
			return impossible
		}
	}
	result := s.next(at)
	if result == impossible && s.seen != nil {
		s.seen[at] = struct{}{}
	}
	return result
}

// next tries each of the calls that can come next.
func (s *search) next(at spot) answer {
	limit := forever
	result := impossible
	for i := at.base; i < len(s.calls) && s.calls[i].begin <= limit; i++ {
		bit := i - at.base
		if bit > 63 {
			return tangled
		}
		if at.mask>>bit&1 != 0 {
			continue
		}
		c := &s.calls[i]
		limit = min(limit, c.end)
		to := s.machine.step(at.state, c)
		for _, next := range to.list[:to.n] {
			switch s.from(spot{base: at.base, mask: at.mask | 1<<bit, state: next}) {
			case possible:
				return possible
			case tangled:
				result = tangled
			}
		}
	}
	return result
}
