package scenarios

import "fmt"

// indexedName is a name such as $jid#, with a value for each repetition.
type indexedName struct {
	values []string
	taken  map[*Block]map[int]bool
}

// pick is the element of an indexed name that a reply has.
type pick struct {
	from  *indexedName
	index int
}

func (s *indexedName) take(b *Block, index int) {
	if s.taken[b] == nil {
		s.taken[b] = map[int]bool{}
	}
	s.taken[b][index] = true
}

// pick takes the element v of an indexed name, once in each repeat block; the lock is
// held. Indexed names in one reply denote the same element.
func (sc *scope) pick(r *ref, v any) bool {
	s := sc.root().indexed[r.text]
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
func (sc *scope) hasPicked(s *indexedName, index int) bool {
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

// next is the element of an indexed name that belongs to this repetition, made if
// there are fewer elements; the lock is held.
func (sc *scope) next(r *ref) (any, error) {
	if sc.round < 0 {
		return nil, fmt.Errorf("%s has values in a repeat block only", r.text)
	}
	all := sc.root().indexed
	if all[r.text] == nil {
		all[r.text] = &indexedName{taken: map[*Block]map[int]bool{}}
	}
	s := all[r.text]
	for len(s.values) <= sc.round {
		s.values = append(s.values, sc.make(r))
	}
	v := s.values[sc.round]
	sc.values[r.text] = v
	return v, nil
}
