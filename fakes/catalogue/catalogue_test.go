package catalogue_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/internal/base/allow"
)

// event is a step of a fake that has words only; key is the connection.
type event struct {
	key  int
	word string
	hit  bool
}

func is(word string) func(*event) bool { return func(e *event) bool { return e.word == word } }

func key(e *event) int { return e.key }

func hit(e *event) { e.hit = true }

// hits returns which of some events a new hook acts on, as their indices.
func hits(maker func() func(*event), events ...event) (all []int) {
	hook := maker()
	for i := range events {
		if hook(&events[i]); events[i].hit {
			all = append(all, i)
		}
	}
	return all
}

func TestAHookActsWhereItsConditionHolds(t *testing.T) {
	t.Parallel()
	a, b := is("a"), is("b")
	for name, c := range map[string]struct {
		is   func(*event) bool
		want []int
	}{
		"one":       {a, []int{0, 2}},
		"not":       {catalogue.Not(a), []int{1, 3}},
		"any":       {catalogue.Any(a, b), []int{0, 1, 2}},
		"all":       {catalogue.All(a, func(e *event) bool { return e.key == 2 }), []int{2}},
		"all of no": {catalogue.All[event](), []int{0, 1, 2, 3}},
		"any of no": {catalogue.Any[event](), nil},
	} {
		hook := catalogue.Maker[event](catalogue.On(c.is, hit))
		assert.Equal(t, c.want, hits(hook, event{1, "a", false}, event{1, "b", false}, event{2, "a", false},
			event{2, "c", false}), name)
	}
}

func TestHooksWithMemory(t *testing.T) {
	t.Parallel()
	events := []event{{key: 1, word: "b"}, {key: 1, word: "a"}, {key: 2, word: "b"}, {key: 1, word: "b"},
		{key: 1, word: "b"}, {key: 2, word: "a"}, {key: 2, word: "b"}}
	for name, c := range map[string]struct {
		hook func() func(*event)
		want []int
	}{
		"every second":  {catalogue.Every(2, is("b"), hit), []int{2, 4}},
		"from, by key":  {catalogue.From(key, is("a"), is("b"), hit), []int{3, 4, 6}},
		"from, of all":  {catalogue.From(catalogue.Server, is("a"), is("b"), hit), []int{2, 3, 4, 6}},
		"next, by key":  {catalogue.Next(key, is("a"), is("b"), hit), []int{3, 6}},
		"next, of all":  {catalogue.Next(catalogue.Server, is("a"), is("b"), hit), []int{2, 6}},
		"again, by key": {catalogue.Again(key, is("b"), hit), []int{3, 4, 6}},
		"recall, by key": {
			catalogue.Recall(key, is("a"), key, is("b"), func(noted int, e *event) { e.hit = noted == e.key }), []int{3, 6},
		},
		"the same events": {catalogue.From(key, is("b"), is("b"), hit), nil},
	} {
		assert.Equal(t, c.want, hits(c.hook, slices.Clone(events)...), name)
		assert.Equal(t, c.want, hits(c.hook, slices.Clone(events)...), "%s, of another server", name)
	}
}

// A hook with a memory may be called by many goroutines at once: the race detector would see what is not guarded.
func TestMemoryIsSerialised(t *testing.T) {
	t.Parallel()
	count := 0
	hook := catalogue.KeepBy(key, is("a"), func(n *int, _ *event) { *n++; count++ })()
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for range 100 {
				hook(&event{key: k, word: "a"})
				hook(&event{key: k, word: "b"})
			}
		})
	}
	all.Wait()
	assert.Equal(t, 800, count)
}

func TestMemory(t *testing.T) {
	t.Parallel()
	var m catalogue.Memory[string, int]
	assert.False(t, m.Has("a"))
	_, known := m.Take("a")
	assert.False(t, known)
	*m.Of("a")++
	*m.Of("a")++
	*m.Of("b") = 7
	assert.Equal(t, 2, *m.Of("a"))
	all := map[string]int{}
	for k, v := range m.All {
		all[k] = *v
	}
	assert.Equal(t, map[string]int{"a": 2, "b": 7}, all)
	n, known := m.Take("a")
	assert.True(t, known)
	assert.Equal(t, 2, n)
	m.Forget("b")
	assert.Empty(t, maps.Collect(m.All))
	*m.Of("c") = 1
	m.Clear()
	assert.False(t, m.Has("c"))
}

// What is zero is forgotten: a hook that has seen a million jobs keeps those alone that it has something to say about.
func TestAZeroMemoryTakesNoRoom(t *testing.T) {
	t.Parallel()
	var seen []int
	hook := catalogue.KeepBy(key, is("a"), func(n *[]int, e *event) {
		seen = append(seen, len(*n))
		if *n = append(*n, e.key); len(*n) == 2 {
			*n = nil
		}
	})()
	for range 3 {
		hook(&event{key: 1, word: "a"})
	}
	assert.Equal(t, []int{0, 1, 0}, seen)
}

func TestBothLeavesOutWhatIsNil(t *testing.T) {
	t.Parallel()
	var order []string
	add := func(word string) func(*event) { return func(*event) { order = append(order, word) } }
	assert.Nil(t, catalogue.Both[event](nil, nil))
	catalogue.Both(nil, add("a"))(nil)
	catalogue.Both(add("b"), nil)(nil)
	catalogue.Both(add("c"), add("d"))(nil)
	assert.Equal(t, []string{"a", "b", "c", "d"}, order)
}

func TestBugsAndVariationsAreSorted(t *testing.T) {
	t.Parallel()
	table := catalogue.Read("x.txt", "b | X-A-01 X-B-02 | does b\na | X-A-01 | does a\nz | A word | z\n"+
		"  allow warn C D: it may\n  allow undecided k: why not\n")
	one := catalogue.BugOf[event](table, "b", hit)
	two := catalogue.BugOf[event](table, "a", catalogue.Every(1, is("a"), hit))
	sorted := catalogue.SortBugs([]catalogue.Bug[event]{one}, []catalogue.Bug[event]{two})
	assert.Equal(t, "a", sorted[0].Name)
	assert.Equal(t, []string{"X-A-01", "X-B-02"}, sorted[1].Clauses)
	for _, f := range sorted {
		e := event{word: "a"}
		f.Hook()(&e)
		assert.True(t, e.hit, f.Name)
	}
	v := catalogue.VariationOf[int](table, "z", nil)
	assert.Equal(t, "A word", v.Reading)
	assert.Equal(t, []allow.Row{
		{What: allow.Warn, Where: []string{"C", "D"}, Why: "it may", In: "x.txt: z"},
		{What: allow.Undecided, Where: []string{"k"}, Why: "why not", In: "x.txt: z"},
	}, v.Allows)
	assert.Equal(t, "y", catalogue.SortVariations([]catalogue.Variation[int]{v, {Name: "y"}})[0].Name)
}

func TestAMalformedTablePanics(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { catalogue.BugOf[event](catalogue.Table{}, "b", hit) })
	assert.Panics(t, func() { catalogue.Read("x.txt", "b | X-A-01 | does b\nb | X-A-01 | does b\n") })
}

// words are those of rules about events.
var words = rule.Vocabulary[event]{
	Points: []rule.Point[event]{{Name: "a", Is: is("a")}, {Name: "b", Is: is("b")}},
	Acts:   []rule.Act[event]{rule.Do("hit", "", "", hit)},
}

func TestTheRulesOfARowAreItsHook(t *testing.T) {
	t.Parallel()
	table := catalogue.Read("x.txt",
		"x | X-A-01 | is wrong\n  on a; each 2: hit\n  on b: hit\ny | X-A-01 | is wrong in Go\n")
	ruled := catalogue.Ruled(table, &words)
	require.Len(t, ruled, 1)
	assert.Equal(t, "x", ruled[0].Name)
	assert.Equal(t, []string{"X-A-01"}, ruled[0].Clauses)
	assert.Equal(t, "is wrong", ruled[0].Summary)
	for range 2 { // servers
		assert.Equal(t, []int{1, 2}, hits(ruled[0].Hook, event{word: "a"}, event{word: "a"}, event{word: "b"}))
	}
	assert.PanicsWithValue(t, `the row "x" has a rule, and something in Go`,
		func() { catalogue.BugOf[event](table, "x", hit) })
	var hook func(*event)
	v := catalogue.RuledVariations(table, &words, func(c *func(*event)) *func(*event) { return c })[0]
	v.Configure(&hook)
	assert.Equal(t, "X-A-01", v.Reading)
	assert.Equal(t, []int{1}, hits(func() func(*event) { return hook }, event{word: "a"}, event{word: "a"}))
	assert.PanicsWithValue(t, `3:9: "hti" is no act; expected one of hit (the row "y")`, func() {
		catalogue.Ruled(catalogue.Read("x.txt", "x | X-A-01 | is wrong\ny | X-A-01 | is wrong\n  on a: hti\n"), &words)
	})
}
