package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJudgeLosses(t *testing.T) {
	t.Parallel()
	end := emptyFetch("z", 5000, 5002)
	openFetch := Event{Worker: "x", Op: Fetch, Return: -1, Call: seconds(1)}.asks("q")
	restart := event(Restart, "", "", 10, 12)
	kill := event(Kill, "", "", 10, 12)
	delivery := []Event{job("j", 0, 1), bring("a", "j", 2, 3)}
	and := func(base []Event, events ...Event) []Event { return append(append([]Event{}, base...), events...) }
	all(t, []judgement{
		{name: "never came", events: []Event{job("j", 0, 1), end}, want: []string{"lost"}},
		{name: "never came, but its PUSH has no reply", events: []Event{job("j", 0, 1).withoutReply(), end}},
		{name: "never came, and was refused", events: []Event{job("j", 0, 1).refused(), end}},
		{name: "its queue was never empty", events: []Event{job("j", 0, 1), end.asks("p")}},
		{name: "its queue was empty before", events: []Event{job("j", 1, 4), emptyFetch("z", 3, 6)}},
		{name: "with an at, never came", events: []Event{job("j", 0, 1).at(100), end}, want: []string{"scheduled-lost"}},
		{name: "with an at that is still to come", events: []Event{job("j", 0, 1).at(4995), end}},
		{name: "acknowledged", events: and(delivery, ack("a", "j", 4, 5), end)},
		{name: "an ACK without a reply", events: and(delivery, ack("a", "j", 4, 5).withoutReply(), end)},
		{
			name: "an ACK that was refused", events: and(delivery, ack("a", "j", 4, 5).refused(), end),
			want: []string{"not-returned"},
		},
		{name: "an ACK of somebody else", events: and(delivery, ack("x", "j", 4, 5), end)},
		{name: "held and never back", events: and(delivery, end), want: []string{"not-returned"}},
		{name: "held, not for long", events: and(delivery, emptyFetch("z", 200, 201))},
		{name: "failed and never back", events: and(delivery, fail("a", "j", 4, 5), end), want: []string{"not-retried"}},
		{name: "failed, not long ago", events: and(delivery, fail("a", "j", 4, 5), emptyFetch("z", 100, 101))},
		{name: "a FAIL without a reply", events: and(delivery, fail("a", "j", 4, 5).withoutReply(), end)},
		{
			name:   "retry 0, failed",
			events: []Event{job("j", 0, 1).retry(0), bring("a", "j", 2, 3), fail("a", "j", 4, 5), end},
		},
		{name: "retry 0, held for too long", events: []Event{job("j", 0, 1).retry(0), bring("a", "j", 2, 3), end}},
		{name: "retry 1, held for too long and then failed", events: []Event{
			job("j", 0, 1).retry(1), bring("a", "j", 2, 3), bring("a", "j", 80, 81), fail("a", "j", 82, 83), end,
		}},
		{
			name:   "retry -2, failed",
			events: []Event{job("j", 0, 1).retry(-2), bring("a", "j", 2, 3), fail("a", "j", 4, 5), end},
		},
		{name: "flushed", events: []Event{job("j", 0, 1), event(Flush, "", "", 2, 3), end}},
		{name: "perhaps flushed", events: []Event{job("j", 0, 1), event(Flush, "", "", 2, 3).withoutReply(), end}},
		{name: "flushed before", events: []Event{event(Flush, "", "", 0, 1), job("j", 2, 3), end}, want: []string{"lost"}},
		{name: "a FETCH without a reply may have it", events: []Event{job("j", 0, 1), openFetch, end}},
		{
			name:   "a FETCH without a reply cannot have both",
			events: []Event{job("j", 0, 1), job("k", 0, 1), openFetch, end}, want: []string{"lost"},
		},
		{name: "lost over a restart", events: []Event{job("j", 0, 1), restart, end}, want: []string{"lost-by-restart"}},
		{name: "delivered after a restart", events: []Event{job("j", 0, 1), restart, bring("a", "j", 20, 21), end}},
		{name: "the PUSH overlaps the restart", events: []Event{job("j", 0, 11), restart, end}},
		{name: "lost over a kill", events: []Event{job("j", 0, 1), kill, end}},
		{name: "held over a restart and delivered again", events: and(delivery, restart, bring("b", "j", 20, 21), end)},
		{
			name:   "acknowledged, killed and delivered again",
			events: and(delivery, ack("a", "j", 4, 5), kill, bring("b", "j", 20, 21), end),
		},
		{
			name: "held by two before a restart", events: and(delivery, bring("b", "j", 4, 5), restart, end),
			want: []string{"duplicated"},
		},
		{name: "pushed after a restart", events: []Event{restart, job("j", 13, 14), end}, want: []string{"lost"}},
	}, true)
}

func TestNothingIsLostThatWasNotDrained(t *testing.T) {
	t.Parallel()
	all(t, []judgement{
		{name: "held", events: []Event{job("j", 0, 1), bring("a", "j", 2, 3), emptyFetch("z", 5000, 5002)}},
		{
			name:   "failed",
			events: []Event{job("j", 0, 1), bring("a", "j", 2, 3), fail("a", "j", 4, 5), emptyFetch("z", 5000, 5002)},
		},
		{
			name:   "never came, which is no matter of draining",
			events: []Event{job("j", 0, 1), emptyFetch("z", 5000, 5002)}, want: []string{"absent"},
		},
	}, false)
}

func TestExamineSaysWhatIsUndecided(t *testing.T) {
	t.Parallel()
	h := &History{Events: []Event{
		job("done", 0, 1), bring("a", "done", 2, 3), ack("a", "done", 4, 5),
		job("refused", 0, 1).refused(),
		job("twice", 0, 1), bring("a", "twice", 2, 3), bring("b", "twice", 2, 3),
		job("again", 0, 1), job("again", 2, 3),
		job("silent", 0, 0).withoutReply(),
		job("held", 0, 1), bring("a", "held", 2, 3),
		job("dead", 0, 1).retry(0), bring("a", "dead", 2, 3), fail("a", "dead", 4, 5),
	}}
	r := Examine(h)
	assert.Equal(t, 7, r.Jobs)
	assert.Equal(t, 4, r.Settled)
	assert.Equal(t, []Undecided{
		{JID: "again", Reason: "its jid was pushed more than once"},
		{JID: "silent", Reason: "its PUSH has no reply", Unsent: true},
		{JID: "held", Reason: "the queues were not drained"},
	}, r.Undecided)
	assert.Len(t, r.Findings, 1)
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	h := &History{Events: []Event{bring("a", "j", 0, 1)}, Strangers: true}
	assert.Empty(t, Judge(h))
}

// TestTangledJobsAreUndecided has a job of which more calls overlap than can be put in
// order: it must neither take for ever nor be blamed.
func TestTangledJobsAreUndecided(t *testing.T) {
	t.Parallel()
	for _, n := range []int{40, 200} {
		events := []Event{job("j", 0, 1)}
		for i := range n {
			worker := string(rune('a' + i%20))
			events = append(events, bring(worker, "j", 2, 50), fail(worker, "j", 2, 50))
		}
		events = append(events, bring("z", "j", 2, 50))
		r := Examine(&History{Events: append(events, bring("z", "j", 2, 50))})
		assert.Empty(t, r.Findings)
		assert.Equal(t, []Undecided{{JID: "j", Reason: "too many of its calls overlap"}}, r.Undecided)
	}
}
