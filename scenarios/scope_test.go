package scenarios

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestANameHasOneFreshValueHoweverManyLanesUseIt(t *testing.T) {
	t.Parallel()
	const threads = 16
	for range 300 {
		sc, name := NewScope("x"), &ref{grammar: likeFWP{}.Grammar(), text: "$queue", base: "queue"}
		values := make([]any, threads)
		var begin, done sync.WaitGroup
		begin.Add(1)
		for i := range threads {
			done.Go(func() {
				begin.Wait()
				values[i], _ = sc.use(name)
			})
		}
		begin.Done()
		done.Wait()
		for _, v := range values {
			assert.Equal(t, values[0], v)
		}
	}
}

func TestTheFirstOfTwoLanesBindsAName(t *testing.T) {
	t.Parallel()
	sc, name := NewScope("x"), &ref{grammar: likeFWP{}.Grammar(), text: "$job"}
	first, second := sc.OneReply(), sc.OneReply()
	first.capture(name, "a")
	second.capture(name, "b")
	assert.True(t, first.Commit())
	assert.False(t, second.Commit(), "it has another value by now")
	v, _ := sc.lookup(name)
	assert.Equal(t, "a", v)
	again := sc.OneReply()
	again.capture(name, "b")
	assert.True(t, again.Commit(), "the value that counts was seen, and nothing bound")
}

// two makes the indexed names $jid# and $x# with three values each.
func two(t *testing.T) (sc *Scope, jid, x *ref, b *Block) {
	t.Helper()
	sc, b = NewScope("x"), &Block{Kind: Repeat}
	jid, x = &ref{grammar: likeFWP{}.Grammar(), text: "$jid#", base: "jid", indexed: true},
		&ref{grammar: likeFWP{}.Grammar(), text: "$x#", base: "x", indexed: true}
	for round := range 3 {
		in := sc.Repetition(b, round)
		for _, r := range []*ref{jid, x} {
			_, err := in.use(r)
			assert.NoError(t, err)
		}
	}
	return sc, jid, x, &Block{Kind: Repeat}
}

func TestAnElementIsTakenByOneLane(t *testing.T) {
	t.Parallel()
	sc, jid, _, b := two(t)
	const element = "x-jid-3"
	first, second := sc.Repetition(b, 0).OneReply(), sc.Repetition(b, 1).OneReply()
	first.capture(jid, element)
	second.capture(jid, element)
	assert.True(t, first.Commit())
	assert.False(t, second.Commit())
	late := sc.Repetition(b, 1).OneReply()
	late.capture(jid, element)
	_, bound := late.lookup(jid)
	assert.False(t, bound, "it has come already")
}

func TestIndexedNamesInOneReplyStandForOneElement(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		jid, x string
		bound  bool
	}{
		"of one element":  {"x-jid-3", "x-x-4", true},
		"of two elements": {"x-jid-3", "x-x-6", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, jid, x, b := two(t)
			reply := sc.Repetition(b, 0).OneReply()
			reply.capture(jid, test.jid)
			reply.Attempt().Commit()
			reply.capture(x, test.x)
			_, bound := reply.lookup(x)
			assert.Equal(t, test.bound, bound)
		})
	}
	t.Run("in two replies of one repetition", func(t *testing.T) {
		t.Parallel()
		sc, jid, x, b := two(t)
		round := sc.Repetition(b, 0)
		reply := round.OneReply()
		reply.capture(jid, "x-jid-3")
		assert.True(t, reply.Commit())
		other := round.OneReply()
		other.capture(x, "x-x-6")
		assert.True(t, other.Commit())
		_, bound := round.lookup(x)
		assert.True(t, bound, "lines stand for themselves")
	})
}

func TestAnAttemptThatFailsTakesNothing(t *testing.T) {
	t.Parallel()
	sc, jid, _, b := two(t)
	round := sc.Repetition(b, 0)
	failed := round.OneReply()
	failed.capture(jid, "x-jid-1")
	next := round.OneReply()
	next.capture(jid, "x-jid-1")
	_, bound := next.lookup(jid)
	assert.True(t, bound)
	assert.True(t, next.Commit())
	assert.Equal(t, "x-jid-1", fmt.Sprint(mustUse(t, round, jid)))
}

func mustUse(t *testing.T, sc *Scope, r *ref) any {
	t.Helper()
	v, err := sc.use(r)
	assert.NoError(t, err)
	return v
}

// only is the single name of a text.
func only(t *testing.T, text string) *ref {
	t.Helper()
	segments, err := ParseTemplate(likeFWP{}, text)
	require.NoError(t, err)
	return segments[0].only()
}

func TestUseOfNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, captured string // a name, and what a reply brought for it before
		want, problem  string
	}{
		"a fresh value":                 {"$jid", "", "p-jid-1", ""},
		"of a family with a number":     {"$queue7", "", "p-queue7-1", ""},
		"captured":                      {"$x", "v", "v", ""},
		"a family that was captured":    {"$jid", "v", "v", ""},
		"nothing captured":              {"$x", "", "", "$x has no value yet, because no reply had one"},
		"an index without a repetition": {"$jid#", "", "", "$jid# has values only in a repeat block"},
		"filler":                        {"$filler(3)", "", "012", ""},
		"filler is not captured":        {"$filler(3)", "v", "012", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc, r := NewScope("p"), only(t, test.name)
			if test.captured != "" {
				sc.capture(r, test.captured)
			}
			v, err := sc.use(r)
			if test.problem != "" {
				assert.EqualError(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, v)
			again, err := sc.use(r)
			require.NoError(t, err)
			assert.Equal(t, v, again)
		})
	}
}

func TestTimesAreBoundAtTheirFirstUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sc, later, zoned := NewScope("p"), only(t, "$now+2s"), only(t, "$now-1h@+05:30")
		first, _ := sc.lookup(later)
		assert.Equal(t, time.Now().UTC().Add(2*time.Second).Format(timeForm), first)
		time.Sleep(time.Minute) // of the bubble
		again, _ := sc.lookup(later)
		assert.Equal(t, first, again)
		other, _ := sc.lookup(zoned)
		assert.Equal(t, time.Now().Add(-time.Hour).In(time.FixedZone("", 5*3600+30*60)).Format(timeForm), other)
	})
}

func TestScopesOfRepetitions(t *testing.T) {
	t.Parallel()
	sc, b := NewScope("p"), &Block{Kind: Repeat}
	plain, indexed, captured := only(t, "$jid"), only(t, "$jid#"), only(t, "$x")
	first, second := sc.Repetition(b, 0), sc.Repetition(b, 1)
	assert.Equal(t, mustUse(t, first, plain), mustUse(t, second, plain), "fresh values belong to the script")
	assert.NotEqual(t, mustUse(t, first, indexed), mustUse(t, second, indexed))
	assert.Equal(t, mustUse(t, first, indexed), mustUse(t, sc.Repetition(&Block{}, 0), indexed), "in another block, too")
	first.capture(captured, "v")
	_, known := second.lookup(captured)
	assert.False(t, known, "what a repetition captures is its own")
}
