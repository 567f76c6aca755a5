package history

// search looks for an order of the calls of a job, and for instants within their
// intervals, with which its machine can have run. It is exact, and its work grows
// with how many calls overlap and not with how many there are: the next call is one
// that begins before all that are left have ended.
type search struct {
	machine machine
	calls   []call
	// final says whether the job may end in a state; nil is that it may end in any.
	final func(state) bool

	seen map[spot]struct{} // dead ends; only kept where there are some calls
	left int               // places that may still be looked at
}

// spot is a place in the search: the calls before base have had their turn, and of
// those that follow the ones in the mask.
type spot struct {
	base  int
	mask  uint64
	state state
}

// answer is what a search found.
type answer uint8

const (
	impossible answer = iota // no order explains the calls
	possible
	tangled // too many calls overlap to tell
)

// few is how many calls can be tried in every order without keeping dead ends.
const few = 5

// run searches. The calls must be sorted by their begin.
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
