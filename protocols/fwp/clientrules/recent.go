package clientrules

import "hash/fnv"

// recentSet remembers texts by a hash: the latest ones, at least half of a limit.
type recentSet struct {
	limit             int
	current, previous map[uint64]struct{}
}

func newRecentSet(limit int) *recentSet {
	return &recentSet{limit: limit, current: map[uint64]struct{}{}}
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

func (r *recentSet) has(text string) bool {
	h := hashOf(text)
	_, isCurrent := r.current[h]
	_, isPrevious := r.previous[h]
	return isCurrent || isPrevious
}

func (r *recentSet) add(text string) {
	if len(r.current) >= r.limit/2 {
		r.previous, r.current = r.current, map[uint64]struct{}{}
	}
	r.current[hashOf(text)] = struct{}{}
}

func (r *recentSet) drop(text string) {
	h := hashOf(text)
	delete(r.current, h)
	delete(r.previous, h)
}
