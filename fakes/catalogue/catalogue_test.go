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

func isWord(word string) func(*event) bool { return func(e *event) bool { return e.word == word } }

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
	a, b := isWord("a"), isWord("b")
	for name, c := range map[string]struct {
		match func(*event) bool
		want  []int
	}{
		"one":       {a, []int{0, 2}},
		"not":       {catalogue.Not(a), []int{1, 3}},
		"any":       {catalogue.Any(a, b), []int{0, 1, 2}},
		"all":       {catalogue.All(a, func(e *event) bool { return e.key == 2 }), []int{2}},
		"all of no": {catalogue.All[event](), []int{0, 1, 2, 3}},
		"any of no": {catalogue.Any[event](), nil},
	} {
		hook := catalogue.Maker[event](catalogue.ActIf(c.match, hit))
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
		"every second":  {catalogue.ActEveryNth(2, isWord("b"), hit), []int{2, 4}},
		"from, by key":  {catalogue.ActAfter(key, isWord("a"), isWord("b"), hit), []int{3, 4, 6}},
		"from, of all":  {catalogue.ActAfter(catalogue.ServerKey, isWord("a"), isWord("b"), hit), []int{2, 3, 4, 6}},
		"next, by key":  {catalogue.ActNext(key, isWord("a"), isWord("b"), hit), []int{3, 6}},
		"next, of all":  {catalogue.ActNext(catalogue.ServerKey, isWord("a"), isWord("b"), hit), []int{2, 6}},
		"again, by key": {catalogue.ActOnRepeat(key, isWord("b"), hit), []int{3, 4, 6}},
		"recall, by key": {
			catalogue.Recall(key, isWord("a"), key, isWord("b"), func(noted int, e *event) { e.hit = noted == e.key }), []int{3, 6},
		},
		"the same events": {catalogue.ActAfter(key, isWord("b"), isWord("b"), hit), nil},
	} {
		assert.Equal(t, c.want, hits(c.hook, slices.Clone(events)...), name)
		assert.Equal(t, c.want, hits(c.hook, slices.Clone(events)...), "%s, of another server", name)
	}
}

// A hook with a memory may be called by many goroutines at once: the race detector would see what is not guarded.
func TestMemoryIsSerialised(t *testing.T) {
	t.Parallel()
	count := 0
	hook := catalogue.WithMemoryBy(key, isWord("a"), func(n *int, _ *event) { *n++; count++ })()
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
	_, ok := m.Take("a")
	assert.False(t, ok)
	*m.GetOrAdd("a")++
	*m.GetOrAdd("a")++
	*m.GetOrAdd("b") = 7
	assert.Equal(t, 2, *m.GetOrAdd("a"))
	all := map[string]int{}
	for k, v := range m.All {
		all[k] = *v
	}
	assert.Equal(t, map[string]int{"a": 2, "b": 7}, all)
	n, ok := m.Take("a")
	assert.True(t, ok)
	assert.Equal(t, 2, n)
	m.Forget("b")
	assert.Empty(t, maps.Collect(m.All))
	*m.GetOrAdd("c") = 1
	m.Clear()
	assert.False(t, m.Has("c"))
}

// What is zero is forgotten: a hook that has seen a million jobs keeps those alone that it has something to say about.
func TestAZeroMemoryTakesNoRoom(t *testing.T) {
	t.Parallel()
	var lengths []int
	hook := catalogue.WithMemoryBy(key, isWord("a"), func(n *[]int, e *event) {
		lengths = append(lengths, len(*n))
		if *n = append(*n, e.key); len(*n) == 2 {
			*n = nil
		}
	})()
	for range 3 {
		hook(&event{key: 1, word: "a"})
	}
	assert.Equal(t, []int{0, 1, 0}, lengths)
}

func TestBothLeavesOutWhatIsNil(t *testing.T) {
	t.Parallel()
	var order []string
	add := func(word string) func(*event) { return func(*event) { order = append(order, word) } }
	assert.Nil(t, catalogue.Chain[event](nil, nil))
	catalogue.Chain(nil, add("a"))(nil)
	catalogue.Chain(add("b"), nil)(nil)
	catalogue.Chain(add("c"), add("d"))(nil)
	assert.Equal(t, []string{"a", "b", "c", "d"}, order)
}

func TestBugsAndVariationsAreSorted(t *testing.T) {
	t.Parallel()
	table := catalogue.Read("x.txt", "b | X-A-01 X-B-02 | does b\na | X-A-01 | does a\nz | A word | z\n"+
		"  allow warn C D: it may\n  allow undecided k: why not\n")
	bugB := catalogue.BugOf[event](table, "b", hit)
	bugA := catalogue.BugOf[event](table, "a", catalogue.ActEveryNth(1, isWord("a"), hit))
	sorted := catalogue.SortBugs([]catalogue.Bug[event]{bugB}, []catalogue.Bug[event]{bugA})
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
		{Item: allow.Warn, Places: []string{"C", "D"}, Reason: "it may", Source: "x.txt: z"},
		{Item: allow.Undecided, Places: []string{"k"}, Reason: "why not", Source: "x.txt: z"},
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
	Points: []rule.Point[event]{{Name: "a", Match: isWord("a")}, {Name: "b", Match: isWord("b")}},
	Acts:   []rule.Act[event]{rule.Do("hit", "", "", hit)},
}

func TestTheRulesOfARowAreItsHook(t *testing.T) {
	t.Parallel()
	table := catalogue.Read("x.txt",
		"x | X-A-01 | is wrong\n  on a; each 2: hit\n  on b: hit\ny | X-A-01 | is wrong in Go\n")
	bugs := catalogue.RuledBugs(table, &words)
	require.Len(t, bugs, 1)
	assert.Equal(t, "x", bugs[0].Name)
	assert.Equal(t, []string{"X-A-01"}, bugs[0].Clauses)
	assert.Equal(t, "is wrong", bugs[0].Summary)
	for range 2 { // servers
		assert.Equal(t, []int{1, 2}, hits(bugs[0].Hook, event{word: "a"}, event{word: "a"}, event{word: "b"}))
	}
	assert.PanicsWithValue(t, `the row "x" has a rule, and something in Go`,
		func() { catalogue.BugOf[event](table, "x", hit) })
	var hook func(*event)
	v := catalogue.RuledVariations(table, &words, func(c *func(*event)) *func(*event) { return c })[0]
	v.Configure(&hook)
	assert.Equal(t, "X-A-01", v.Reading)
	assert.Equal(t, []int{1}, hits(func() func(*event) { return hook }, event{word: "a"}, event{word: "a"}))
	assert.PanicsWithValue(t, `3:9: "hti" is no act; expected one of hit (the row "y")`, func() {
		catalogue.RuledBugs(catalogue.Read("x.txt", "x | X-A-01 | is wrong\ny | X-A-01 | is wrong\n  on a: hti\n"), &words)
	})
}
