package history

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// judgement is a history and the clauses that the judge must name, in order, each with
// those that it may have been instead: "returned|duplicated". A history that
// tempts to a false alarm has none.
type judgement struct {
	name   string
	events []Event
	want   []string
	limits Limits
}

func (c judgement) run(t *testing.T, drained bool) {
	t.Helper()
	h := &History{Events: c.events, Drained: drained, Limits: c.limits}
	var got []string
	findings := Judge(h)
	for _, f := range findings {
		breaches := string(f.Breach)
		for _, or := range f.Or {
			breaches += "|" + string(or)
		}
		got = append(got, breaches)
		assert.NotEmpty(t, f.Events)
		assert.True(t, slices.IsSorted(f.Events))
		t.Logf("%s %v: %s", f.Breach, f.Events, f.Description)
	}
	assert.Equal(t, c.want, got)
}

func all(t *testing.T, cases []judgement, drained bool) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, drained)
		})
	}
}

// What a server puts into a jid is no line of its own in a report.
func TestAFindingIsOneLine(t *testing.T) {
	t.Parallel()
	findings := Judge(&History{Events: []Event{bring("a", "j\n::error::x\x1b", 0, 1)}})
	assert.NotEmpty(t, findings)
	for _, f := range findings {
		assert.Contains(t, f.Description, `j\n::error::x\x1b`)
	}
}

func TestJudgeDeliveries(t *testing.T) {
	t.Parallel()
	flush := event(Flush, "", "", 2, 3)
	all(t, []judgement{
		{
			name:   "pushed, delivered, acknowledged",
			events: []Event{job("j", 0, 1), bring("a", "j", 2, 3), ack("a", "j", 4, 5)},
		},
		{
			name: "delivered before it was pushed", events: []Event{bring("a", "j", 0, 1), job("j", 2, 3)},
			want: []string{"before-push"},
		},
		{name: "the delivery overlaps the PUSH", events: []Event{bring("a", "j", 0, 2), job("j", 1, 4)}},
		{name: "delivered before the PUSH was answered", events: []Event{job("j", 0, 9), bring("a", "j", 1, 2)}},
		{name: "a PUSH without a reply", events: []Event{job("j", 0, 0).withoutReply().named("j"), bring("a", "j", 500, 501)}},
		{
			name:   "delivered before a PUSH without a reply",
			events: []Event{bring("a", "j", 0, 1), job("j", 2, 2).withoutReply().named("j")}, want: []string{"before-push"},
		},
		{
			name: "never pushed", events: []Event{bring("a", "j", 0, 1), bring("b", "j", 5, 6)},
			want: []string{"never-pushed"},
		},
		{
			name: "refused and delivered", events: []Event{job("j", 0, 1).refused(), bring("a", "j", 2, 3)},
			want: []string{"refused-but-delivered"},
		},
		{name: "refused and not delivered", events: []Event{job("j", 0, 1).refused(), emptyFetch("a", 2, 3)}},
		{name: "a jid that is used again", events: []Event{
			job("j", 0, 1), bring("a", "j", 2, 3), ack("a", "j", 4, 5),
			job("j", 6, 7), bring("b", "j", 8, 9), bring("c", "j", 8, 9),
		}},
		{
			name:   "a jid that is used again after a refusal",
			events: []Event{job("j", 0, 1).refused(), job("j", 2, 3), bring("a", "j", 4, 5), bring("b", "j", 6, 7)},
		},
		{
			name:   "from a queue that was not asked",
			events: []Event{job("j", 0, 1), bring("a", "j", 2, 3).asks("p r")}, want: []string{"wrong-queue"},
		},
		{
			name: "from another queue than default", events: []Event{job("j", 0, 1), bring("a", "j", 2, 3).asks("")},
			want: []string{"wrong-default-queue"},
		},
		{name: "from default", events: []Event{push("j", 0, 1), bring("a", "j", 2, 3).asks("")}},
		{name: "from default by its name", events: []Event{push("j", 0, 1), bring("a", "j", 2, 3).asks("p default")}},
		{
			name: "another body", events: []Event{job("j", 0, 1).body("x"), bring("a", "j", 2, 3).body("y")},
			want: []string{"altered"},
		},
		{
			name: "another queue in the work unit", events: []Event{job("j", 0, 1), bring("a", "j", 2, 3).to("p")},
			want: []string{"queue-altered"},
		},
		{
			name:   "body and queue come back",
			events: []Event{job("j", 0, 1).body("x"), bring("a", "j", 2, 3).body("x").to("q")},
		},
		{
			name: "flushed and delivered", events: []Event{job("j", 0, 1), flush, bring("a", "j", 4, 5)},
			want: []string{"flushed"},
		},
		{name: "the delivery overlaps the FLUSH", events: []Event{job("j", 0, 1), flush, bring("a", "j", 2.5, 5)}},
		{name: "the PUSH overlaps the FLUSH", events: []Event{job("j", 0, 2.5), flush, bring("a", "j", 4, 5)}},
		{name: "a FLUSH without a reply", events: []Event{job("j", 0, 1), flush.withoutReply(), bring("a", "j", 4, 5)}},
		{name: "held, flushed, failed and delivered", events: []Event{
			job("j", 0, 1), bring("a", "j", 1.2, 1.5), flush, fail("a", "j", 4, 5), bring("a", "j", 50, 51),
		}, want: []string{"flushed"}},
	}, false)
}

// named gives an opened event its jid again, which it has unless it is a FETCH.
func (e Event) named(jid string) Event {
	e.JID = jid
	return e
}

func TestJudgeHolders(t *testing.T) {
	t.Parallel()
	base := []Event{job("j", 0, 1), bring("a", "j", 2, 3)}
	after := func(events ...Event) []Event { return append(slices.Clone(base), events...) }
	all(t, []judgement{
		{name: "held by two", events: after(bring("b", "j", 4, 5)), want: []string{"duplicated"}},
		{name: "held by two whose FETCHes overlap", events: after(bring("b", "j", 2, 3)), want: []string{"duplicated"}},
		{name: "held twice by one", events: after(bring("a", "j", 4, 5)), want: []string{"duplicated"}},
		{name: "held by three", events: after(bring("b", "j", 4, 5), bring("c", "j", 6, 7)), want: []string{"duplicated"}},
		{name: "a FAIL between", events: after(fail("a", "j", 4, 5), bring("b", "j", 6, 7))},
		{name: "a FAIL that overlaps the next delivery", events: after(fail("a", "j", 4, 9), bring("b", "j", 5, 6))},
		{
			name: "a FAIL after the next delivery", events: after(bring("b", "j", 4, 5), fail("a", "j", 6, 7)),
			want: []string{"duplicated"},
		},
		{name: "a FAIL without a reply", events: after(fail("a", "j", 4, 5).withoutReply(), bring("b", "j", 90, 91))},
		{
			name: "a FAIL that was refused", events: after(fail("a", "j", 4, 5).refused(), bring("b", "j", 6, 7)),
			want: []string{"duplicated"},
		},
		{name: "a FAIL of somebody else", events: after(fail("x", "j", 4, 5), bring("b", "j", 6, 7))},
		{
			name:   "one FAIL, and back twice",
			events: after(fail("a", "j", 4, 5), bring("b", "j", 6, 7), bring("c", "j", 6, 7)),
			want:   []string{"duplicated"},
		},
		{name: "the reservation ran out", events: after(bring("b", "j", 61, 63))},
		{name: "the reservation may just have run out", events: after(bring("b", "j", 50, 62))},
		{
			name: "the reservation had not run out", events: after(bring("b", "j", 50, 61.9)),
			want: []string{"reservation-cut"},
		},
		{name: "the clocks are off", events: after(bring("b", "j", 50, 61.9)), limits: Limits{MaxLead: time.Second}},
		{name: "the reservation ran out twice", events: after(bring("b", "j", 61, 63), bring("c", "j", 121, 122))},
		{
			name:   "the second reservation had not run out",
			events: after(bring("b", "j", 63, 64), bring("c", "j", 120, 121)), want: []string{"reservation-cut"},
		},
		{
			name:   "there is time for one of two reservations",
			events: after(bring("b", "j", 50, 100), bring("c", "j", 50, 100)), want: []string{"duplicated"},
		},
		{
			name: "acknowledged and delivered", events: after(ack("a", "j", 4, 5), bring("b", "j", 100, 101)),
			want: []string{"returned"},
		},
		{
			name: "acknowledged and at once delivered", events: after(ack("a", "j", 4, 5), bring("b", "j", 6, 7)),
			want: []string{"returned"},
		},
		{
			name:   "acknowledged, failed and delivered",
			events: after(ack("a", "j", 4, 5), fail("a", "j", 6, 7), bring("b", "j", 8, 9)),
			want:   []string{"returned"},
		},
		{
			name:   "an ACK or a second holder",
			events: after(bring("b", "j", 2.5, 9), ack("a", "j", 4, 5)), want: []string{"returned|duplicated"},
		},
		{
			name:   "an ACK without a reply, and the reservation ran out",
			events: after(ack("a", "j", 4, 5).withoutReply(), bring("b", "j", 70, 71)),
		},
		{
			name:   "an ACK without a reply, and back at once",
			events: after(ack("a", "j", 4, 5).withoutReply(), bring("b", "j", 6, 7)), want: []string{"duplicated|returned"},
		},
		{name: "an ACK that was refused", events: after(ack("a", "j", 4, 5).refused(), bring("b", "j", 70, 71))},
		{name: "an ACK of somebody else", events: after(ack("x", "j", 4, 5), bring("b", "j", 70, 71))},
		{name: "an ACK of the same worker, on another connection", events: after(
			Event{Client: 7, Worker: "a", Op: Ack, Outcome: OK, JID: "j", Call: seconds(4), Return: seconds(5)},
			bring("b", "j", 70, 71)), want: []string{"returned"}},
		{
			name:   "an ACK that came too late",
			events: after(bring("b", "j", 63, 64), ack("a", "j", 65, 66), bring("c", "j", 130, 131)),
		},
		{name: "an ACK that may have come too late", events: after(ack("a", "j", 61, 63), bring("b", "j", 80, 81))},
		{
			name: "an ACK that came in time", events: after(ack("a", "j", 60, 61), bring("b", "j", 80, 81)),
			want: []string{"returned"},
		},
		{
			name:   "a reservation of half an hour",
			events: []Event{push("j", 0, 1).to("q"), bring("a", "j", 2, 3), bring("b", "j", 1700, 1701)},
			want:   []string{"reservation-cut"},
		},
		{
			name:   "a reservation of half an hour ran out",
			events: []Event{push("j", 0, 1).to("q"), bring("a", "j", 2, 3), bring("b", "j", 1802, 1803)},
		},
		{
			name:   "a reservation below a minute",
			events: []Event{job("j", 0, 1).reserve(5), bring("a", "j", 2, 3), bring("b", "j", 40, 41)},
			want:   []string{"reservation-cut"},
		},
		{
			name:   "a huge reservation",
			events: []Event{job("j", 0, 1).reserve(1 << 62), bring("a", "j", 2, 3), bring("b", "j", 4000, 4001)},
			want:   []string{"duplicated"},
		},
		{
			name:   "a FETCH without a reply",
			events: after(Event{Worker: "c", Op: Fetch, Call: seconds(1), Return: -1}.asks("q"), bring("b", "j", 63, 64)),
		},
		{name: "clients that are no workers", events: []Event{
			job("j", 0, 1),
			{Client: 1, Op: Fetch, Outcome: OK, JID: "j", Queues: []string{"q"}, Call: seconds(2), Return: seconds(3)},
			{Client: 2, Op: Ack, Outcome: OK, JID: "j", Call: seconds(4), Return: seconds(5)}, bring("b", "j", 63, 64),
		}},
	}, false)
}

func TestJudgeRetries(t *testing.T) {
	t.Parallel()
	tries := func(first Event, n int) []Event {
		events := []Event{first}
		for i := range n {
			at := float64(2 + 6*i)
			events = append(events, bring("a", "j", at, at+1), fail("a", "j", at+2, at+3))
		}
		return events[:2*n]
	}
	noRetry := job("j", 0, 1).retry(0)
	all(t, []judgement{
		{name: "retry 0, once", events: tries(job("j", 0, 1).retry(0), 1)},
		{name: "retry 0, twice", events: tries(job("j", 0, 1).retry(0), 2), want: []string{"retried-never"}},
		{name: "retry -1, twice", events: tries(job("j", 0, 1).retry(-1), 2), want: []string{"retried-discarded"}},
		{name: "retry 1, twice", events: tries(job("j", 0, 1).retry(1), 2)},
		{name: "retry 1, three times", events: tries(job("j", 0, 1).retry(1), 3), want: []string{"retried-too-often"}},
		{name: "retry 3, five times", events: tries(job("j", 0, 1).retry(3), 5), want: []string{"retried-too-often"}},
		{name: "no retry, 26 times", events: tries(job("j", 0, 1), 26)},
		{name: "no retry, 27 times", events: tries(job("j", 0, 1), 27), want: []string{"retried-by-default"}},
		{name: "retry -2 means nothing", events: tries(job("j", 0, 1).retry(-2), 9)},
		{
			name:   "retry 0, and the reservation ran out",
			events: []Event{noRetry, bring("a", "j", 2, 3), bring("a", "j", 70, 71)},
		},
		{name: "retry 0, the reservation ran out, and a FAIL that came too late", events: []Event{
			noRetry, bring("a", "j", 2, 3), fail("a", "j", 65, 66), bring("b", "j", 70, 71),
		}},
		{
			name:   "retry 0, and a FAIL without a reply",
			events: []Event{noRetry, bring("a", "j", 2, 3), fail("a", "j", 4, 4).withoutReply(), bring("b", "j", 70, 71)},
		},
		{
			name:   "retry 0, and a FAIL that was refused",
			events: []Event{noRetry, bring("a", "j", 2, 3), fail("a", "j", 4, 5).refused(), bring("b", "j", 70, 71)},
		},
		{
			name:   "retry 0, and a FAIL of somebody else",
			events: []Event{noRetry, bring("a", "j", 2, 3), fail("x", "j", 4, 5), bring("b", "j", 70, 71)},
		},
		{name: "back at once, which any delay allows", events: tries(job("j", 0, 1), 2)},
		{
			name: "back too soon", events: tries(job("j", 0, 1), 2), limits: Limits{Backoff: 6 * time.Second},
			want: []string{"retried-at-once"},
		},
		{name: "back in time", events: tries(job("j", 0, 1), 2), limits: Limits{Backoff: 5 * time.Second}},
	}, false)
}

func TestJudgeAt(t *testing.T) {
	t.Parallel()
	all(t, []judgement{
		{name: "early", events: []Event{job("j", 0, 1).at(10), bring("a", "j", 8, 9)}, want: []string{"early"}},
		{
			name: "early within the tolerance", events: []Event{job("j", 0, 1).at(10), bring("a", "j", 8, 9)},
			limits: Limits{MaxLead: time.Second},
		},
		{
			name: "early beyond the tolerance", events: []Event{job("j", 0, 1).at(10), bring("a", "j", 8, 8.9)},
			limits: Limits{MaxLead: time.Second}, want: []string{"early"},
		},
		{name: "a FETCH that waited for it", events: []Event{job("j", 0, 1).at(10), bring("a", "j", 8, 10)}},
		{name: "past", events: []Event{job("j", 5, 6).at(1), bring("a", "j", 6, 7)}},
		{
			name:   "not there yet",
			events: []Event{job("j", 0, 1).at(10), emptyFetch("a", 12, 14), emptyFetch("a", 17, 19.9), bring("a", "j", 20, 21)},
		},
		{
			name:   "not there in time",
			events: []Event{job("j", 0, 1).at(10), emptyFetch("a", 20.1, 22), bring("a", "j", 23, 24)},
			want:   []string{"scheduled-absent"},
		},
		{name: "scheduled, and an earlier queue has another", events: []Event{
			job("j", 0, 1).at(100), push("k", 0, 1).to("r"), bring("a", "k", 3, 4).asks("q r"), bring("a", "j", 101, 102),
		}},
	}, false)
}
