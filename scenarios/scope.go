package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// timeForm is how the suite writes times: RFC 3339 with microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z07:00"

// scope has the values of names: a string, or the JSON value that was captured. A value
// is bound once and never changes. A repetition and a trial have scopes of their own
// inside that of the script: what they capture belongs to them, while fresh values
// belong to the whole script unless the name is indexed. Several connections may use
// scopes at once.
type scope struct {
	parent  *scope
	mu      *sync.Mutex // one for all scopes of a play
	values  map[string]any
	indexed map[string]*indexedName // in the outermost scope
	round   int                     // which repetition, from 0; -1 outside
	block   *Block                  // the repetition
	prefix  string                  // of fresh values
	fresh   *int                    // how many were made
	trial   bool                    // its values count only if it is committed
	reply   bool                    // a trial of one reply
	picks   []pick                  // of a trial
}

func newScope(prefix string) *scope {
	return &scope{
		mu: new(sync.Mutex), values: map[string]any{}, indexed: map[string]*indexedName{}, round: -1,
		prefix: prefix, fresh: new(int),
	}
}

// child is a scope inside sc, whose names vanish with it.
func (sc *scope) child() *scope {
	return &scope{
		parent: sc, mu: sc.mu, values: map[string]any{}, round: sc.round, block: sc.block,
		prefix: sc.prefix, fresh: sc.fresh,
	}
}

// attempt returns a child that can be committed.
func (sc *scope) attempt() *scope {
	c := sc.child()
	c.trial = true
	return c
}

// oneReply is an attempt to match one reply.
func (sc *scope) oneReply() *scope {
	c := sc.attempt()
	c.reply = true
	return c
}

// repetition is the scope of one round of a repeat block.
func (sc *scope) repetition(b *Block, round int) *scope {
	c := sc.child()
	c.round, c.block = round, b
	return c
}

// commit moves the values of an attempt to its parent. It does nothing and reports false
// if another thread has bound one of the names to another value meanwhile, or taken one
// of the elements: then the attempt must be made again.
func (sc *scope) commit() bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for key, v := range sc.values {
		if bound, ok := sc.parent.find(key); ok && !reflect.DeepEqual(bound, v) {
			return false
		}
	}
	for _, p := range sc.picks {
		if p.from.taken[sc.block][p.index] {
			return false
		}
	}
	maps.Copy(sc.parent.values, sc.values)
	if sc.parent.trial {
		sc.parent.picks = append(sc.parent.picks, sc.picks...)
		return true
	}
	for _, p := range sc.picks {
		p.from.take(sc.block, p.index)
	}
	return true
}

func (sc *scope) root() *scope {
	for sc.parent != nil {
		sc = sc.parent
	}
	return sc
}

// find looks in this scope and those around it; the lock is held.
func (sc *scope) find(key string) (any, bool) {
	for s := sc; s != nil; s = s.parent {
		if v, ok := s.values[key]; ok {
			return v, true
		}
	}
	return nil, false
}

// lookup is the value of a name that is bound.
func (sc *scope) lookup(r *ref) (any, bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if v, ok := sc.find(r.text); ok {
		return v, true
	}
	v, ok := r.computed(time.Now())
	if r.kind == refNow { // bound at its first use
		sc.values[r.text] = v
	}
	return v, ok
}

// capture binds r to v if r is free: the first match binds.
func (sc *scope) capture(r *ref, v any) {
	if r.kind != refPlain {
		return
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if _, ok := sc.find(r.text); ok {
		return
	}
	if r.indexed && !sc.pick(r, v) {
		return
	}
	sc.values[r.text] = v
}

// use is the value of a name in a client line: bound before, or fresh.
func (sc *scope) use(r *ref) (any, error) {
	if v, ok := sc.lookup(r); ok {
		return v, nil
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if v, ok := sc.find(r.text); ok { // another thread was faster
		return v, nil
	}
	if r.indexed {
		return sc.next(r)
	}
	if r.family() == "" {
		return nil, fmt.Errorf("%s has no value yet: no reply has bound it", r.text)
	}
	v := sc.make(r)
	sc.root().values[r.text] = v
	return v, nil
}

// ownFresh gives a name a fresh value in this scope alone.
func (sc *scope) ownFresh(r *ref) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.values[r.text] = sc.make(r)
}

// make returns a unique value; the lock is held.
func (sc *scope) make(r *ref) string {
	*sc.fresh++
	unique := fmt.Sprintf("%s-%s-%d", sc.prefix, r.base, *sc.fresh)
	if r.grammar.Fresh != nil {
		return r.grammar.Fresh(r.family(), unique)
	}
	return unique
}

// known is the text of a template whose names are all bound.
func (sc *scope) known(t Template) (string, bool) {
	text, err := t.expand(func(r *ref) (string, error) {
		v, ok := sc.lookup(r)
		if !ok {
			return "", fmt.Errorf("%s has no value", r.text)
		}
		return plain(v), nil
	})
	return text, err == nil
}

// instant is the time behind one end of a range; false if there is none.
func (sc *scope) instant(b *bound) (time.Time, bool) {
	if b == nil {
		return time.Time{}, false
	}
	v, ok := sc.lookup(b.time)
	s, isText := v.(string)
	if !ok || !isText {
		return time.Time{}, false
	}
	t, err := rfc3339.Parse(s)
	return t, err == nil
}

// plain is a value as text: strings without quotes, the rest as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v) // captured values come from JSON
	return string(b)
}

// fillerText repeats, so that a cut or shifted payload does not compare equal
// by accident.
const fillerText = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."

func filler(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = fillerText[i%len(fillerText)]
	}
	return string(b)
}
