package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// timeForm is how the suite writes times: RFC 3339 with microseconds.
const timeForm = "2006-01-02T15:04:05.000000Z07:00"

// Scope has the values of names: a string, or the JSON value that was captured. A value
// is bound once and never changes. A repetition and a trial have scopes of their own
// inside that of the script: what they capture belongs to them, while fresh values
// belong to the whole script unless the name is indexed. Several connections may use
// scopes at once.
type Scope struct {
	parent  *Scope
	mu      *sync.Mutex // one for all scopes of a play
	values  map[string]any
	indexed map[string]*indexedName // in the outermost scope
	round   int                     // which repetition, from 0; -1 outside
	block   *Block                  // the repetition
	prefix  string                  // of fresh values
	count   *int                    // how many were made
	trial   bool                    // its values count only if it is committed
	reply   bool                    // a trial of one reply
	picks   []pick                  // of a trial
}

// NewScope returns the scope of a play, whose fresh values begin with prefix.
func NewScope(prefix string) *Scope {
	return &Scope{
		mu: new(sync.Mutex), values: map[string]any{}, indexed: map[string]*indexedName{}, round: -1,
		prefix: prefix, count: new(int),
	}
}

// Child returns a scope inside sc, whose names vanish with it.
func (sc *Scope) Child() *Scope {
	return &Scope{
		parent: sc, mu: sc.mu, values: map[string]any{}, round: sc.round, block: sc.block,
		prefix: sc.prefix, count: sc.count,
	}
}

// Attempt returns a child that can be committed.
func (sc *Scope) Attempt() *Scope {
	c := sc.Child()
	c.trial = true
	return c
}

// ReplyAttempt returns an attempt to match one reply, in which indexed names denote the same element.
func (sc *Scope) ReplyAttempt() *Scope {
	c := sc.Attempt()
	c.reply = true
	return c
}

// Repetition returns the scope of one round of a repeat block, from 0.
func (sc *Scope) Repetition(b *Block, round int) *Scope {
	c := sc.Child()
	c.round, c.block = round, b
	return c
}

// Commit moves the values of an attempt to its parent. It does nothing and reports false
// if another thread has bound one of the names to another value meanwhile, or taken one
// of the elements: then the attempt must be made again.
func (sc *Scope) Commit() bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for key, v := range sc.values {
		if value, ok := sc.parent.find(key); ok && !reflect.DeepEqual(value, v) {
			return false
		}
	}
	for _, p := range sc.picks {
		if p.from.uses[sc.block][p.index] {
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

func (sc *Scope) root() *Scope {
	for sc.parent != nil {
		sc = sc.parent
	}
	return sc
}

// find looks in this scope and those around it; the lock is held.
func (sc *Scope) find(key string) (any, bool) {
	for s := sc; s != nil; s = s.parent {
		if v, ok := s.values[key]; ok {
			return v, true
		}
	}
	return nil, false
}

// lookup is the value of a name that is bound.
func (sc *Scope) lookup(r *ref) (any, bool) {
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
func (sc *Scope) capture(r *ref, v any) {
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
func (sc *Scope) use(r *ref) (any, error) {
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
		return nil, fmt.Errorf("%s has no value yet, because no reply had one", r.text)
	}
	v := sc.newValue(r)
	sc.root().values[r.text] = v
	return v, nil
}

// RenewClient gives the name that a client has by default a fresh value in this scope alone.
func (sc *Scope) RenewClient(g *Grammar) {
	r := g.client()
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.values[r.text] = sc.newValue(r)
}

// Prefix returns what all fresh values begin with, before a hyphen.
func (sc *Scope) Prefix() string { return sc.prefix }

// Fresh returns a new value of a family of names.
func (sc *Scope) Fresh(family string) string {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	*sc.count++
	return fmt.Sprintf("%s-%s-%d", sc.prefix, family, *sc.count)
}

// newValue returns a unique value; the lock is held.
func (sc *Scope) newValue(r *ref) string {
	*sc.count++
	unique := fmt.Sprintf("%s-%s-%d", sc.prefix, r.base, *sc.count)
	if r.grammar.Names.NewValue != nil {
		return r.grammar.Names.NewValue(r.family(), unique)
	}
	return unique
}

// boundText is the text of a template whose names are all bound.
func (sc *Scope) boundText(t Template) (string, bool) {
	text, err := t.expand(func(r *ref) (string, error) {
		v, ok := sc.lookup(r)
		if !ok {
			return "", fmt.Errorf("%s has no value", r.text)
		}
		return plainText(v), nil
	})
	return text, err == nil
}

// instant is the time behind one end of a range; false if there is none.
func (sc *Scope) instant(b *bound) (time.Time, bool) {
	if b == nil {
		return time.Time{}, false
	}
	v, ok := sc.lookup(b.time)
	s, isText := v.(string)
	if !ok || !isText {
		return time.Time{}, false
	}
	t, err := number.ParseTime(s)
	return t, err == nil
}

// plainText is a value as text: strings without quotes, the rest as JSON.
func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := json.Marshal(v) // captured values come from JSON
	return string(b)
}

// fillerText repeats, so that a cut or shifted payload does not compare equal
// by accident.
const fillerText = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."

func filler(size int) string { return strings.Repeat(fillerText, size/len(fillerText)+1)[:size] }

// indexedName is a name such as $jid#, with a value for each repetition.
type indexedName struct {
	values []string
	uses   map[*Block]map[int]bool
}

// pick is the element of an indexed name that a reply has.
type pick struct {
	from  *indexedName
	index int
}

func (s *indexedName) take(b *Block, index int) {
	if s.uses[b] == nil {
		s.uses[b] = map[int]bool{}
	}
	s.uses[b][index] = true
}

// pick takes the element v of an indexed name, once in each repeat block; the lock is
// held. Indexed names in one reply denote the same element.
func (sc *Scope) pick(r *ref, v any) bool {
	s := sc.root().indexed[r.text]
	if s == nil {
		return false
	}
	for i, value := range s.values {
		if value != v || s.uses[sc.block][i] || sc.hasPicked(s, i) {
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
func (sc *Scope) hasPicked(s *indexedName, index int) bool {
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
func (sc *Scope) next(r *ref) (any, error) {
	if sc.round < 0 {
		return nil, fmt.Errorf("%s has values only in a repeat block", r.text)
	}
	all := sc.root().indexed
	if all[r.text] == nil {
		all[r.text] = &indexedName{uses: map[*Block]map[int]bool{}}
	}
	s := all[r.text]
	for len(s.values) <= sc.round {
		s.values = append(s.values, sc.newValue(r))
	}
	v := s.values[sc.round]
	sc.values[r.text] = v
	return v, nil
}
