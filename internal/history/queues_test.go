package history

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJudgeEmptyFetches(t *testing.T) {
	t.Parallel()
	openFetch := Event{Worker: "x", Op: Fetch, Return: -1, Call: seconds(0.5)}.asks("q")
	all(t, []judgement{
		{
			name:   "nothing though a job was there",
			events: []Event{job("j", 0, 1), emptyFetch("a", 2, 3), bring("a", "j", 4, 5)}, want: []string{"absent"},
		},
		{
			name:   "in the second queue",
			events: []Event{job("j", 0, 1), emptyFetch("a", 2, 3).asks("p q"), bring("a", "j", 4, 5)},
			want:   []string{"absent"},
		},
		{name: "in another queue", events: []Event{job("j", 0, 1), emptyFetch("a", 2, 3).asks("p"), bring("a", "j", 4, 5)}},
		{name: "the PUSH was not answered yet", events: []Event{job("j", 0, 2.5), emptyFetch("a", 2, 3), bring("a", "j", 4, 5)}},
		{
			name:   "it was pushed while the FETCH waited",
			events: []Event{emptyFetch("a", 0, 3).asks("p q"), job("j", 1, 2), bring("a", "j", 4, 5)},
		},
		{name: "another FETCH was under way", events: []Event{job("j", 0, 1), emptyFetch("a", 2, 4), bring("b", "j", 3, 5)}},
		{name: "a FETCH without a reply took it", events: []Event{job("j", 0, 1), openFetch, emptyFetch("a", 2, 4)}},
		{
			name:   "a FETCH without a reply that came later",
			events: []Event{job("j", 0, 1), emptyFetch("a", 2, 4), func() Event { e := openFetch; e.Call = seconds(5); return e }()},
			want:   []string{"absent"},
		},
		{
			name:   "a FETCH without a reply of another queue",
			events: []Event{job("j", 0, 1), openFetch.asks("p"), emptyFetch("a", 2, 4)}, want: []string{"absent"},
		},
		{name: "an ACK before it was delivered", events: []Event{job("j", 0, 1), ack("x", "j", 1, 2), emptyFetch("a", 2, 4)}},
		{
			name:   "an ACK that was refused",
			events: []Event{job("j", 0, 1), ack("x", "j", 1, 2).refused(), emptyFetch("a", 2, 4)}, want: []string{"absent"},
		},
		{
			name:   "a FLUSH without a reply",
			events: []Event{job("j", 0, 1), event(Flush, "", "", 1, 1).withoutReply(), emptyFetch("a", 2, 4)},
		},
		{name: "a quiet worker", events: []Event{job("j", 0, 1), emptyFetch("a", 2, 3).quiet(), bring("a", "j", 4, 5)}},
		{name: "a client that is no worker", events: []Event{job("j", 0, 1), emptyFetch("", 2, 3), bring("a", "j", 4, 5)}},
		{
			name:   "it failed and waits",
			events: []Event{job("j", 0, 1), bring("a", "j", 2, 3), fail("a", "j", 4, 5), emptyFetch("a", 6, 500)},
		},
	}, false)
}

func TestJudgeOrderOfQueues(t *testing.T) {
	t.Parallel()
	first := func(events ...Event) []Event {
		return append([]Event{job("j", 0, 1), push("k", 0, 1).to("r")}, events...)
	}
	lateFetch := bring("a", "j", 50, 51)
	wrong := []string{"queue-order|absent"}
	all(t, []judgement{
		{name: "the second queue first", events: first(bring("a", "k", 2, 3).asks("q r"), lateFetch), want: wrong},
		{name: "the third queue first", events: first(bring("a", "k", 2, 3).asks("p q r"), lateFetch), want: wrong},
		{name: "in the order that was asked", events: first(bring("a", "k", 2, 3).asks("r q"), lateFetch)},
		{name: "the other was taken meanwhile", events: first(bring("a", "k", 2, 3).asks("q r"), bring("b", "j", 2.5, 9))},
		{
			name:   "the other was taken and came back",
			events: first(bring("b", "j", 1, 1.5), bring("a", "k", 2, 3).asks("q r"), bring("b", "j", 70, 71)),
		},
		{
			name:   "the other was pushed meanwhile",
			events: []Event{push("k", 0, 1).to("r"), bring("a", "k", 2, 4).asks("q r"), job("j", 1, 3), lateFetch},
		},
		{
			name:   "a FETCH without a reply may have had the other",
			events: first(Event{Worker: "x", Op: Fetch, Return: -1}.asks("q"), bring("a", "k", 2, 3).asks("q r"), lateFetch),
		},
		{name: "the other never came, so it may be lost", events: first(bring("a", "k", 2, 3).asks("q r"))},
		{name: "a client that is no worker", events: first(bring("", "k", 2, 3).asks("q r"), lateFetch)},
		{
			name:   "one of many others",
			events: first(job("l", 0, 1), bring("b", "l", 1, 2), bring("a", "k", 2, 3).asks("q r"), lateFetch),
			want:   wrong,
		},
		{
			name:   "the order of jobs in one queue",
			events: []Event{job("j", 0, 1), job("k", 2, 3), bring("a", "k", 4, 5), bring("a", "j", 6, 7)},
		},
	}, false)
}

// TestEmptyFetchesAgree holds the rule on FETCHes that found nothing against the
// other checker with a model that has these FETCHes as calls of the job. The judge looks
// at the first stay of the job in its queue and at nothing else, apart from its other
// calls. So what it finds must be wrong in the model; and what is wrong in the model must
// be found where the job has one delivery at the most, nothing is sent of it beforehand,
// and no FETCH stays without a reply: the model knows that such a FETCH would have to give
// a job back before another gets it, and the judge takes no part of that.
func TestEmptyFetchesAgree(t *testing.T) {
	t.Parallel()
	var right, wrong int
	for seed := range uint64(scaledCount(15_000)) {
		bug := []string{"empty", "push lost", "", "invented"}[seed%4]
		h, _ := simulate(seed, 4+int(seed%7), bug)
		s := &simulation{Rand: rand.New(rand.NewPCG(seed, 3))}
		for range s.IntN(3) {
			s.mutate(&h)
		}
		blamed := wrongJobs(Judge(&h), func(f Finding) bool {
			return isOfCalls(f) || f.Breach == Absent || f.Breach == ScheduledAbsent
		})
		for _, jid := range judgedJobs(&h) {
			ok := porcupineSays(&h, jid, true)
			if blamed[jid] {
				require.False(t, ok, "seed %d, job %s\n%s", seed, jid, dump(&h, jid, Judge(&h)))
				wrong++
				continue
			}
			right++
			if isSimple(&h, jid) {
				require.True(t, ok, "seed %d, job %s\n%s", seed, jid, dump(&h, jid, Judge(&h)))
			}
		}
	}
	t.Logf("%d right, %d wrong", right, wrong)
	assert.Positive(t, wrong)
}

// isSimple reports whether nothing but a PUSH, one FETCH and what its worker answered later
// is about the job.
func isSimple(h *History, jid string) bool {
	var bring *Event
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Op == Flush || e.isOpenFetch():
			return false
		case e.JID != jid || e.Outcome == Refused:
		case e.isDelivery():
			if bring != nil {
				return false
			}
			bring = e
		case e.Op == Push:
			if e.Outcome == NoReply {
				return false
			}
		case bring == nil || e.Worker != bring.Worker || e.Call < bring.Return:
			return false
		}
	}
	return true
}

// TestSwappedReplies tells jobs that went to each other's workers from jobs that came from
// a queue that was not asked.
func TestSwappedReplies(t *testing.T) {
	t.Parallel()
	pushes := []Event{push("p", 0, 1).to("p"), push("q", 0, 1).to("q")}
	for name, test := range map[string]struct {
		fetches []Event
		want    Breach
	}{
		"overlapping":         {[]Event{bring("a", "q", 2, 4).asks("p"), bring("b", "p", 3, 5).asks("q")}, Swapped},
		"one after the other": {[]Event{bring("a", "q", 2, 3).asks("p"), bring("b", "p", 4, 5).asks("q")}, WrongQueue},
		"no FETCH names them": {[]Event{bring("a", "q", 2, 4).asks("r"), bring("b", "p", 3, 5).asks("r")}, WrongQueue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings := Judge(&History{Events: append(slices.Clone(pushes), test.fetches...)})
			assert.Len(t, findings, 2)
			for _, f := range findings {
				assert.Equal(t, test.want, f.Breach, f.Description)
				assert.IsIncreasing(t, f.Events)
			}
		})
	}
}
