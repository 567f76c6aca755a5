package scenarios

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestANameHasOneFreshValueHoweverManyLanesUseIt(t *testing.T) {
	t.Parallel()
	const lanes = 16
	for range 300 {
		sc, name := newScope("x"), &ref{text: "$queue", base: "queue"}
		values := make([]any, lanes)
		var begin, done sync.WaitGroup
		begin.Add(1)
		for i := range lanes {
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
	sc, name := newScope("x"), &ref{text: "$job"}
	first, second := sc.oneReply(), sc.oneReply()
	first.capture(name, "a")
	second.capture(name, "b")
	assert.True(t, first.commit())
	assert.False(t, second.commit(), "it has another value by now")
	v, _ := sc.lookup(name)
	assert.Equal(t, "a", v)
	again := sc.oneReply()
	again.capture(name, "b")
	assert.True(t, again.commit(), "the value that counts was seen, and nothing bound")
}

// two makes the indexed names $jid# and $x# with three values each.
func two(t *testing.T) (sc *scope, jid, x *ref, b *Block) {
	t.Helper()
	sc, b = newScope("x"), &Block{Kind: Repeat}
	jid, x = &ref{text: "$jid#", base: "jid", indexed: true}, &ref{text: "$x#", base: "x", indexed: true}
	for round := range 3 {
		in := sc.repetition(b, round)
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
	first, second := sc.repetition(b, 0).oneReply(), sc.repetition(b, 1).oneReply()
	first.capture(jid, element)
	second.capture(jid, element)
	assert.True(t, first.commit())
	assert.False(t, second.commit())
	late := sc.repetition(b, 1).oneReply()
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
			reply := sc.repetition(b, 0).oneReply()
			reply.capture(jid, test.jid)
			reply.attempt().commit()
			reply.capture(x, test.x)
			_, bound := reply.lookup(x)
			assert.Equal(t, test.bound, bound)
		})
	}
	t.Run("in two replies of one repetition", func(t *testing.T) {
		t.Parallel()
		sc, jid, x, b := two(t)
		round := sc.repetition(b, 0)
		reply := round.oneReply()
		reply.capture(jid, "x-jid-3")
		assert.True(t, reply.commit())
		other := round.oneReply()
		other.capture(x, "x-x-6")
		assert.True(t, other.commit())
		_, bound := round.lookup(x)
		assert.True(t, bound, "lines stand for themselves")
	})
}

func TestAnAttemptThatFailsTakesNothing(t *testing.T) {
	t.Parallel()
	sc, jid, _, b := two(t)
	round := sc.repetition(b, 0)
	failed := round.oneReply()
	failed.capture(jid, "x-jid-1")
	next := round.oneReply()
	next.capture(jid, "x-jid-1")
	_, bound := next.lookup(jid)
	assert.True(t, bound)
	assert.True(t, next.commit())
	assert.Equal(t, "x-jid-1", fmt.Sprint(mustUse(t, round, jid)))
}

func mustUse(t *testing.T, sc *scope, r *ref) any {
	t.Helper()
	v, err := sc.use(r)
	assert.NoError(t, err)
	return v
}
