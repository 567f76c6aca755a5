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
	first, second := sc.ReplyAttempt(), sc.ReplyAttempt()
	first.capture(name, "a")
	second.capture(name, "b")
	assert.True(t, first.Commit())
	assert.False(t, second.Commit(), "it has another value by now")
	v, _ := sc.lookup(name)
	assert.Equal(t, "a", v)
	other := sc.ReplyAttempt()
	other.capture(name, "b")
	assert.True(t, other.Commit(), "the value that counts was seen, and nothing bound")
}

// twoIndexed makes the indexed names $jid# and $x# with three values each.
func twoIndexed(t *testing.T) (sc *Scope, jid, x *ref, b *Block) {
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
	sc, jid, _, b := twoIndexed(t)
	const element = "x-jid-3"
	first, second := sc.Repetition(b, 0).ReplyAttempt(), sc.Repetition(b, 1).ReplyAttempt()
	first.capture(jid, element)
	second.capture(jid, element)
	assert.True(t, first.Commit())
	assert.False(t, second.Commit())
	other := sc.Repetition(b, 1).ReplyAttempt()
	other.capture(jid, element)
	_, isBound := other.lookup(jid)
	assert.False(t, isBound, "it has come already")
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
			sc, jid, x, b := twoIndexed(t)
			reply := sc.Repetition(b, 0).ReplyAttempt()
			reply.capture(jid, test.jid)
			reply.Attempt().Commit()
			reply.capture(x, test.x)
			_, isBound := reply.lookup(x)
			assert.Equal(t, test.bound, isBound)
		})
	}
	t.Run("in two replies of one repetition", func(t *testing.T) {
		t.Parallel()
		sc, jid, x, b := twoIndexed(t)
		round := sc.Repetition(b, 0)
		reply := round.ReplyAttempt()
		reply.capture(jid, "x-jid-3")
		assert.True(t, reply.Commit())
		other := round.ReplyAttempt()
		other.capture(x, "x-x-6")
		assert.True(t, other.Commit())
		_, isBound := round.lookup(x)
		assert.True(t, isBound, "lines stand for themselves")
	})
}

func TestAnAttemptThatFailsTakesNothing(t *testing.T) {
	t.Parallel()
	sc, jid, _, b := twoIndexed(t)
	round := sc.Repetition(b, 0)
	failed := round.ReplyAttempt()
	failed.capture(jid, "x-jid-1")
	next := round.ReplyAttempt()
	next.capture(jid, "x-jid-1")
	_, isBound := next.lookup(jid)
	assert.True(t, isBound)
	assert.True(t, next.Commit())
	assert.Equal(t, "x-jid-1", fmt.Sprint(mustUse(t, round, jid)))
}

func mustUse(t *testing.T, sc *Scope, r *ref) any {
	t.Helper()
	v, err := sc.use(r)
	assert.NoError(t, err)
	return v
}

// refOf is the single name of a text.
func refOf(t *testing.T, text string) *ref {
	t.Helper()
	segments, err := ParseTemplate(likeFWP{}, text)
	require.NoError(t, err)
	return segments[0].singleRef()
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
			sc, r := NewScope("p"), refOf(t, test.name)
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
			other, err := sc.use(r)
			require.NoError(t, err)
			assert.Equal(t, v, other)
		})
	}
}

func TestTimesAreBoundAtTheirFirstUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sc, later, zoned := NewScope("p"), refOf(t, "$now+2s"), refOf(t, "$now-1h@+05:30")
		first, _ := sc.lookup(later)
		assert.Equal(t, time.Now().UTC().Add(2*time.Second).Format(timeForm), first)
		time.Sleep(time.Minute) // of the bubble
		repeat, _ := sc.lookup(later)
		assert.Equal(t, first, repeat)
		other, _ := sc.lookup(zoned)
		assert.Equal(t, time.Now().Add(-time.Hour).In(time.FixedZone("", 5*3600+30*60)).Format(timeForm), other)
	})
}

func TestScopesOfRepetitions(t *testing.T) {
	t.Parallel()
	sc, b := NewScope("p"), &Block{Kind: Repeat}
	plain, indexed, captured := refOf(t, "$jid"), refOf(t, "$jid#"), refOf(t, "$x")
	first, second := sc.Repetition(b, 0), sc.Repetition(b, 1)
	assert.Equal(t, mustUse(t, first, plain), mustUse(t, second, plain), "fresh values belong to the script")
	assert.NotEqual(t, mustUse(t, first, indexed), mustUse(t, second, indexed))
	assert.Equal(t, mustUse(t, first, indexed), mustUse(t, sc.Repetition(&Block{}, 0), indexed), "in another block, too")
	first.capture(captured, "v")
	_, ok := second.lookup(captured)
	assert.False(t, ok, "what a repetition captures is its own")
}
