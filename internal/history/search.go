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

	deadEnds map[spot]struct{} // spots from which no order works; kept only if there are more than fewCalls calls
	budget   int               // places that may still be tried
}

// spot is a place in the search: the calls before base are done, and those of the
// following that are in the mask.
type spot struct {
	base  int
	mask  uint64
	state state
}

// searchResult is the result of a search.
type searchResult uint8

const (
	impossible searchResult = iota // no order explains the calls
	possible
	tangled // too many calls overlap to tell
)

// fewCalls is how many calls are tried in every order without keeping dead ends.
const fewCalls = 5

// run searches. The calls must be sorted by begin.
func (s *search) run() searchResult {
	s.budget = 1<<12 + 64*len(s.calls)
	s.deadEnds = nil
	if len(s.calls) > fewCalls {
		s.deadEnds = make(map[spot]struct{})
	}
	return s.searchFrom(spot{})
}

func (s *search) searchFrom(at spot) searchResult {
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
	if s.budget--; s.budget < 0 {
		return tangled
	}
	if s.deadEnds != nil {
		if _, ok := s.deadEnds[at]; ok {
			return impossible
		}
	}
	result := s.next(at)
	if result == impossible && s.deadEnds != nil {
		s.deadEnds[at] = struct{}{}
	}
	return result
}

// next tries each of the calls that can come next.
func (s *search) next(at spot) searchResult {
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
			switch s.searchFrom(spot{base: at.base, mask: at.mask | 1<<bit, state: next}) {
			case possible:
				return possible
			case tangled:
				result = tangled
			}
		}
	}
	return result
}
