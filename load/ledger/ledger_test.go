package ledger

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable holds the table of the documentation against what the methods do.
func TestTable(t *testing.T) {
	t.Parallel()
	const k = 7
	setups := map[string]func(*Ledger){
		"unseen":     func(*Ledger) {},
		"held":       func(l *Ledger) { l.BookDelivery(k, 0) },
		"may return": func(l *Ledger) { l.BookDelivery(k, 0); l.BookReturnable(k) },
		"settled":    func(l *Ledger) { l.BookDelivery(k, 0); l.BookAck(k) },
	}
	stateOf := func(l *Ledger) string {
		c := l.Count(true)
		switch (Counts{HeldJobs: c.HeldJobs, Waiting: c.Waiting, Acked: c.Acked + c.Dead}) {
		case Counts{}:
			return "unseen"
		case Counts{HeldJobs: 1}:
			return "held"
		case Counts{Waiting: 1}:
			return "may return"
		case Counts{Acked: 1}:
			return "settled"
		}
		return "broken"
	}
	reports := map[string]func(*Ledger){
		"MayReturn":       func(l *Ledger) { l.BookReturnable(k) },
		"Failed, returns": func(l *Ledger) { l.BookFail(k, true) },
		"Failed for good": func(l *Ledger) { l.BookFail(k, false) },
		"Acked":           func(l *Ledger) { l.BookAck(k) },
	}
	tests := []struct {
		report string
		to     map[string]string
	}{
		{"MayReturn", map[string]string{"unseen": "unseen", "held": "may return", "may return": "may return",
			"settled": "settled"}},
		{"Failed, returns", map[string]string{"unseen": "unseen", "held": "may return", "may return": "may return",
			"settled": "settled"}},
		{"Failed for good", map[string]string{"unseen": "unseen", "held": "settled", "may return": "settled",
			"settled": "settled"}},
		{"Acked", map[string]string{"unseen": "unseen", "held": "settled", "may return": "settled", "settled": "settled"}},
	}
	for _, tt := range tests {
		for from, to := range tt.to {
			l := New()
			l.BookSent(k, 0)
			setups[from](l)
			reports[tt.report](l)
			assert.Equal(t, to, stateOf(l), "%s of a job that is %s", tt.report, from)
		}
	}
	for from, want := range map[string]struct {
		to   string
		kind DeliveryKind
	}{
		"unseen": {"held", FirstDelivery}, "held": {"held", Duplicate}, "may return": {"held", Redelivery}, "settled": {"settled", DeliveryAfterEnd},
	} {
		l := New()
		l.BookSent(k, 0)
		setups[from](l)
		assert.Equal(t, want.kind, l.BookDelivery(k, 0), from)
		assert.Equal(t, want.to, stateOf(l), "Delivered of a job that is %s", from)
	}
}

// TestJobHistories are runs of one or a few jobs, and what must be said of them.
func TestJobHistories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		book func(l *Ledger)
		want Counts
	}{
		{"a job's usual way", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookAck(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1}},
		{"delivered and settled before the push is confirmed", func(l *Ledger) {
			l.BookDelivery(0, 0)
			l.BookAck(0)
			l.BookPush(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1}},
		{"no reply to the push yet", func(*Ledger) {}, Counts{Sent: 1, Unanswered: 1}},
		{"accepted and never delivered", func(l *Ledger) { l.BookPush(0) },
			Counts{Sent: 1, Pushed: 1, Missing: 1, LostJobs: 1}},
		{"taken by a FETCH that got lost", func(l *Ledger) {
			l.BookPush(0)
			l.BookFetchLoss()
			l.BookFetchLoss()
		}, Counts{Sent: 1, Pushed: 1, Missing: 1, FetchesLost: 2}},
		{"no reply to the push, and delivered", func(l *Ledger) {
			l.BookDoubt(0)
			l.BookDelivery(0, 0)
		}, Counts{Sent: 1, Doubtful: 1, Delivered: 1, HeldJobs: 1}},
		{"no reply to the push, and not delivered", func(l *Ledger) { l.BookDoubt(0) },
			Counts{Sent: 1, Doubtful: 1, InDoubt: 1}},
		{"a late reply to the push", func(l *Ledger) {
			l.BookDoubt(0)
			l.BookPush(0)
		}, Counts{Sent: 1, Pushed: 1, Missing: 1, LostJobs: 1}},
		{"refused", func(l *Ledger) { l.BookRefusal(0) }, Counts{Sent: 1, Refused: 1}},
		{"refused, then delivered, and again", func(l *Ledger) {
			l.BookRefusal(0)
			l.BookDelivery(0, 0)
			l.BookReturnable(0)
			l.BookDelivery(0, 0)
		}, Counts{Sent: 1, Refused: 1, Delivered: 1, HeldJobs: 1, Redelivered: 1, Foreign: 1,
			Flawed: [Flaws]int64{RefusedJob: 1}}},
		{"delivered, then refused", func(l *Ledger) {
			l.BookDelivery(0, 0)
			l.BookRefusal(0)
		}, Counts{Sent: 1, Refused: 1, Delivered: 1, HeldJobs: 1, Foreign: 1, Flawed: [Flaws]int64{RefusedJob: 1}}},
		{"back with another worker before the FAIL is confirmed", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookReturnable(0)
			l.BookDelivery(0, 0)
			l.BookFail(0, true)
			l.BookAck(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Failed: 1, Redelivered: 1}},
		{"waits for its retry at the end", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookReturnable(0)
			l.BookFail(0, true)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Waiting: 1, Failed: 1}},
		{"held at the end", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, HeldJobs: 1}},
		{"failed for good, and back all the same", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookFail(0, false)
			l.BookDelivery(0, 0)
			l.BookFail(0, false)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Dead: 1, Failed: 2, Returned: 1}},
		{"settled, and delivered once more", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookAck(0)
			l.BookDelivery(0, 0)
			l.BookAck(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Returned: 1}},
		{"back after it ran out, and the first worker's ACK comes late", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookReturnable(0)
			l.BookDelivery(0, 0)
			l.BookAck(0)
			l.BookAck(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Redelivered: 1}},
		{"never pushed", func(l *Ledger) {
			l.BookPush(0)
			l.BookDelivery(0, 0)
			l.BookDelivery(1, 0)
			l.BookDelivery(1<<50, 0)
			l.BookDelivery(-1, 0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, HeldJobs: 1, Foreign: 3, Flawed: [Flaws]int64{UnknownJob: 3}}},
		{"out of order, by queue", func(l *Ledger) {
			for k := range int64(6) {
				l.BookSent(k, 0)
				l.BookPush(k)
			}
			l.BookDelivery(1, 0)
			l.BookDelivery(0, 0) // late
			l.BookDelivery(4, 2)
			l.BookDelivery(2, 1)
			l.BookDelivery(3, 2)  // late
			l.BookDelivery(5, -1) // of an unknown push
		}, Counts{Sent: 7, Pushed: 6, Unanswered: 1, Delivered: 6, HeldJobs: 6, OutOfOrder: 2}},
		{"reports about what was never sent change nothing", func(l *Ledger) {
			for _, k := range []int64{-5, 1 << 40} {
				l.BookPush(k)
				l.BookRefusal(k)
				l.BookDoubt(k)
				l.BookAck(k)
				l.BookFail(k, true)
				l.BookReturnable(k)
			}
		}, Counts{Sent: 1, Unanswered: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := New()
			l.BookSent(0, 0)
			tt.book(l)
			assert.Equal(t, tt.want, l.Count(true))
			tt.want.LostJobs = 0
			assert.Equal(t, tt.want, l.Count(false), "before the drain nothing is lost")
		})
	}
}

func TestMissingMayBeStopped(t *testing.T) {
	t.Parallel()
	l := New()
	want := []int64{1, 63, 64, chunkJobs - 1, chunkJobs, 5*chunkJobs + 9}
	for _, k := range want {
		l.BookSent(k, 0)
		l.BookPush(k)
	}
	assert.Equal(t, want, slices.Collect(l.Missing()))
	var first []int64
	for k := range l.Missing() {
		if first = append(first, k); len(first) == 4 {
			break
		}
	}
	assert.Equal(t, want[:4], first)
	assert.Panics(t, func() { l.BookSent(-1, 0) })
}

func TestFindingsAreKeptUpToALimit(t *testing.T) {
	t.Parallel()
	l := New()
	l.BookSent(3, 0)
	l.BookDelivery(3, 0)
	for i := range findingLimit + 5 {
		l.BookDelivery(3, 0)
		l.BookFlaw(UnknownJob, fmt.Sprint("jid ", i), "not ours")
	}
	l.BookFlaw(AlteredJob, "the last", "args")
	found := l.Findings()
	assert.Len(t, found.Duplicates, findingLimit)
	assert.Len(t, found.Foreign, findingLimit+1, "the limit is that of each flaw")
	assert.Equal(t, Finding{Number: -1, JID: "jid 0", Description: "not ours"}, found.Foreign[0])
	assert.Equal(t, Finding{Flaw: AlteredJob, Number: -1, JID: "the last", Description: "args"}, found.Foreign[findingLimit])
	assert.EqualValues(t, 3, found.Duplicates[0])
	assert.EqualValues(t, findingLimit+5, l.Count(false).Duplicated)
	assert.EqualValues(t, findingLimit+6, l.Count(false).Foreign)
	assert.Equal(t, [Flaws]int64{UnknownJob: findingLimit + 5, AlteredJob: 1}, l.Count(false).Flawed)
}

func TestSentAt(t *testing.T) {
	t.Parallel()
	l := New()
	_, ok := l.SentAt(0)
	assert.False(t, ok)
	l.BookSent(0, 0)
	l.BookSent(5, 1234567*time.Nanosecond)
	l.BookSent(6, 300*time.Hour)
	for k, want := range map[int64]time.Duration{0: 0, 5: 1234 * time.Microsecond, 6: 300 * time.Hour} {
		at, ok := l.SentAt(k)
		require.True(t, ok, k)
		assert.Equal(t, want, at)
	}
	for _, k := range []int64{1, -1, -ringSize, 5 + ringSize, 5 + 1<<50} {
		_, ok := l.SentAt(k)
		assert.False(t, ok, k)
	}
	l.BookSent(5+ringSize, time.Second)
	_, ok = l.SentAt(5)
	assert.False(t, ok, "pushed out by a later one")
	at, ok := l.SentAt(5 + ringSize)
	assert.True(t, ok)
	assert.Equal(t, time.Second, at)
}

//nolint:paralleltest // AllocsPerRun counts what all goroutines allocate
func TestSteadyStateAllocatesNothing(t *testing.T) {
	l, k := New(), int64(0)
	way := func() {
		l.BookSent(k, time.Duration(k))
		l.BookPush(k)
		l.SentAt(k)
		l.BookDelivery(k, 3)
		l.BookReturnable(k)
		l.BookFail(k, true)
		l.BookDelivery(k, 3)
		l.BookAck(k)
		k++
	}
	way()
	assert.Zero(t, testing.AllocsPerRun(10_000, way))
}

// The parts by queue are those of the account.
func TestCountBy(t *testing.T) {
	t.Parallel()
	l := New()
	queueOf := func(k int64) int { return int(k%3) - 1 } // a third has none of these queues
	for k := int64(0); k < 3*chunkJobs; k += 7 {
		l.BookSent(k, 0)
		if k%5 > 0 {
			l.BookPush(k)
		}
		if k%4 > 0 {
			l.BookDelivery(k, 0)
		}
	}
	var want [2]QueueCounts
	for k := int64(0); k < 3*chunkJobs; k += 7 {
		if queueOf(k) < 0 {
			continue
		}
		q := &want[queueOf(k)]
		if k%5 > 0 {
			q.Pushed++
		}
		if k%4 > 0 {
			q.Delivered++
		}
		if k%5 > 0 && k%4 == 0 {
			q.Missing++
		}
	}
	assert.Equal(t, want[:], l.CountBy(2, queueOf))
}

// When a job was pushed is known of each: exactly of the last ones, and to 256 jobs of those before.
func TestWhenAJobWasPushed(t *testing.T) {
	t.Parallel()
	l := New()
	const jobs = 200_000
	for k := range int64(jobs) {
		l.BookSent(k, time.Duration(k)*time.Millisecond)
	}
	for _, k := range []int64{0, 255, 256, 100_000, 150_001, jobs - 1} {
		at, ok := l.PushedAt(k)
		assert.True(t, ok)
		assert.LessOrEqual(t, at, time.Duration(k)*time.Millisecond)
		assert.Less(t, time.Duration(k)*time.Millisecond-at, 256*time.Millisecond)
	}
	at, _ := l.PushedAt(jobs - 1)
	assert.Equal(t, (jobs-1)*time.Millisecond, at)
	_, ok := l.PushedAt(1 << 40)
	assert.False(t, ok)
}
