package clientrules

import "hash/fnv"

// recent remembers texts by a hash: the latest ones, at least half of a limit.
type recent struct {
	limit    int
	now, old map[uint64]struct{}
}

func newRecent(limit int) *recent {
	return &recent{limit: limit, now: map[uint64]struct{}{}}
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

func (r *recent) has(text string) bool {
	h := hashOf(text)
	_, now := r.now[h]
	_, old := r.old[h]
	return now || old
}

func (r *recent) add(text string) {
	if len(r.now) >= r.limit/2 {
		r.old, r.now = r.now, map[uint64]struct{}{}
	}
	r.now[hashOf(text)] = struct{}{}
}

func (r *recent) drop(text string) {
	h := hashOf(text)
	delete(r.now, h)
	delete(r.old, h)
}
