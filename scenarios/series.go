package scenarios

import "fmt"

// series is one name with a value for each repetition.
type series struct {
	values []string
	taken  map[*Block]map[int]bool
}

// pick is the element of a series that has come.
type pick struct {
	from  *series
	index int
}

func (s *series) take(b *Block, index int) {
	if s.taken[b] == nil {
		s.taken[b] = map[int]bool{}
	}
	s.taken[b][index] = true
}

// pick takes the element v of a series, once in each repeat block; the lock is
// held. Series that stand in one reply stand for the same element.
func (sc *scope) pick(r *ref, v any) bool {
	s := sc.root().series[r.text]
	if s == nil {
		return false
	}
	for i, known := range s.values {
		if known != v || s.taken[sc.block][i] || sc.hasPicked(s, i) {
			continue
		}
		if sc.trial {
			sc.picks = append(sc.picks, pick{s, i})
		} else {
			s.take(sc.block, i)
		}
		return true
	}
	return false
}

// hasPicked reports whether the attempts around sc have taken an element, or an
// element of another repetition from the same reply; the lock is held.
func (sc *scope) hasPicked(s *series, index int) bool {
	sameReply := true
	for at := sc; at != nil && at.trial; at = at.parent {
		for _, p := range at.picks {
			if p.from == s && p.index == index || sameReply && p.index != index {
				return true
			}
		}
		sameReply = sameReply && !at.reply
	}
	return false
}

// next is the element of a series that belongs to this repetition, made if the
// series ends before it; the lock is held.
func (sc *scope) next(r *ref) (any, error) {
	if sc.round < 0 {
		return nil, fmt.Errorf("%s has values in a repeat block only", r.text)
	}
	all := sc.root().series
	if all[r.text] == nil {
		all[r.text] = &series{taken: map[*Block]map[int]bool{}}
	}
	s := all[r.text]
	for len(s.values) <= sc.round {
		s.values = append(s.values, sc.make(r))
	}
	v := s.values[sc.round]
	sc.values[r.text] = v
	return v, nil
}
