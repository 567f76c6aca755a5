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
	into := map[string]func(*Ledger){
		"unseen":     func(*Ledger) {},
		"held":       func(l *Ledger) { l.Delivered(k, 0) },
		"may return": func(l *Ledger) { l.Delivered(k, 0); l.MayReturn(k) },
		"settled":    func(l *Ledger) { l.Delivered(k, 0); l.Acked(k) },
	}
	stateOf := func(l *Ledger) string {
		c := l.Count(true)
		switch (Counts{Held: c.Held, Waiting: c.Waiting, Acked: c.Acked + c.Dead}) {
		case Counts{}:
			return "unseen"
		case Counts{Held: 1}:
			return "held"
		case Counts{Waiting: 1}:
			return "may return"
		case Counts{Acked: 1}:
			return "settled"
		}
		return "broken"
	}
	reports := map[string]func(*Ledger){
		"MayReturn":       func(l *Ledger) { l.MayReturn(k) },
		"Failed, returns": func(l *Ledger) { l.Failed(k, true) },
		"Failed for good": func(l *Ledger) { l.Failed(k, false) },
		"Acked":           func(l *Ledger) { l.Acked(k) },
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
			l.Sent(k, 0)
			into[from](l)
			reports[tt.report](l)
			assert.Equal(t, to, stateOf(l), "%s of a job that is %s", tt.report, from)
		}
	}
	for from, want := range map[string]struct {
		to   string
		kind Kind
	}{
		"unseen": {"held", First}, "held": {"held", Twice}, "may return": {"held", Again}, "settled": {"settled", Returned},
	} {
		l := New()
		l.Sent(k, 0)
		into[from](l)
		assert.Equal(t, want.kind, l.Delivered(k, 0), from)
		assert.Equal(t, want.to, stateOf(l), "Delivered of a job that is %s", from)
	}
}

// TestStories are runs of one or a few jobs, and what must be said of them.
func TestStories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		story func(l *Ledger)
		want  Counts
	}{
		{"a job's usual way", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.Acked(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1}},
		{"delivered and settled before the push is confirmed", func(l *Ledger) {
			l.Delivered(0, 0)
			l.Acked(0)
			l.Pushed(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1}},
		{"no reply to the push yet", func(*Ledger) {}, Counts{Sent: 1, Unanswered: 1}},
		{"accepted and never delivered", func(l *Ledger) { l.Pushed(0) },
			Counts{Sent: 1, Pushed: 1, Missing: 1, Lost: 1}},
		{"taken by a FETCH that got lost", func(l *Ledger) {
			l.Pushed(0)
			l.FetchLost()
			l.FetchLost()
		}, Counts{Sent: 1, Pushed: 1, Missing: 1, FetchesLost: 2}},
		{"no reply to the push, and delivered", func(l *Ledger) {
			l.Doubtful(0)
			l.Delivered(0, 0)
		}, Counts{Sent: 1, Doubtful: 1, Delivered: 1, Held: 1}},
		{"no reply to the push, and not delivered", func(l *Ledger) { l.Doubtful(0) },
			Counts{Sent: 1, Doubtful: 1, InDoubt: 1}},
		{"a late reply to the push", func(l *Ledger) {
			l.Doubtful(0)
			l.Pushed(0)
		}, Counts{Sent: 1, Pushed: 1, Missing: 1, Lost: 1}},
		{"refused", func(l *Ledger) { l.Refused(0) }, Counts{Sent: 1, Refused: 1}},
		{"refused, then delivered, and again", func(l *Ledger) {
			l.Refused(0)
			l.Delivered(0, 0)
			l.MayReturn(0)
			l.Delivered(0, 0)
		}, Counts{Sent: 1, Refused: 1, Delivered: 1, Held: 1, Redelivered: 1, Foreign: 1,
			Flawed: [Flaws]int64{WasRefused: 1}}},
		{"delivered, then refused", func(l *Ledger) {
			l.Delivered(0, 0)
			l.Refused(0)
		}, Counts{Sent: 1, Refused: 1, Delivered: 1, Held: 1, Foreign: 1, Flawed: [Flaws]int64{WasRefused: 1}}},
		{"back with another worker before the FAIL is confirmed", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.MayReturn(0)
			l.Delivered(0, 0)
			l.Failed(0, true)
			l.Acked(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Failed: 1, Redelivered: 1}},
		{"waits for its retry at the end", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.MayReturn(0)
			l.Failed(0, true)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Waiting: 1, Failed: 1}},
		{"held at the end", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Held: 1}},
		{"failed for good, and back all the same", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.Failed(0, false)
			l.Delivered(0, 0)
			l.Failed(0, false)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Dead: 1, Failed: 2, Returned: 1}},
		{"settled, and delivered once more", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.Acked(0)
			l.Delivered(0, 0)
			l.Acked(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Returned: 1}},
		{"back after it ran out, and the first worker's ACK comes late", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.MayReturn(0)
			l.Delivered(0, 0)
			l.Acked(0)
			l.Acked(0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Acked: 1, Redelivered: 1}},
		{"never pushed", func(l *Ledger) {
			l.Pushed(0)
			l.Delivered(0, 0)
			l.Delivered(1, 0)
			l.Delivered(1<<50, 0)
			l.Delivered(-1, 0)
		}, Counts{Sent: 1, Pushed: 1, Delivered: 1, Held: 1, Foreign: 3, Flawed: [Flaws]int64{NotOurs: 3}}},
		{"out of order, by queue", func(l *Ledger) {
			for k := range int64(6) {
				l.Sent(k, 0)
				l.Pushed(k)
			}
			l.Delivered(1, 0)
			l.Delivered(0, 0) // late
			l.Delivered(4, 2)
			l.Delivered(2, 1)
			l.Delivered(3, 2)  // late
			l.Delivered(5, -1) // of an unknown push
		}, Counts{Sent: 7, Pushed: 6, Unanswered: 1, Delivered: 6, Held: 6, OutOfOrder: 2}},
		{"reports about what was never sent change nothing", func(l *Ledger) {
			for _, k := range []int64{-5, 1 << 40} {
				l.Pushed(k)
				l.Refused(k)
				l.Doubtful(k)
				l.Acked(k)
				l.Failed(k, true)
				l.MayReturn(k)
			}
		}, Counts{Sent: 1, Unanswered: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := New()
			l.Sent(0, 0)
			tt.story(l)
			assert.Equal(t, tt.want, l.Count(true))
			tt.want.Lost = 0
			assert.Equal(t, tt.want, l.Count(false), "before the drain nothing is lost")
		})
	}
}

func TestMissingMayBeStopped(t *testing.T) {
	t.Parallel()
	l := New()
	want := []int64{1, 63, 64, chunkJobs - 1, chunkJobs, 5*chunkJobs + 9}
	for _, k := range want {
		l.Sent(k, 0)
		l.Pushed(k)
	}
	assert.Equal(t, want, slices.Collect(l.Missing()))
	var first []int64
	for k := range l.Missing() {
		if first = append(first, k); len(first) == 4 {
			break
		}
	}
	assert.Equal(t, want[:4], first)
	assert.Panics(t, func() { l.Sent(-1, 0) })
}

func TestFindingsAreKeptUpToALimit(t *testing.T) {
	t.Parallel()
	l := New()
	l.Sent(3, 0)
	l.Delivered(3, 0)
	for i := range findingsKept + 5 {
		l.Delivered(3, 0)
		l.Foreign(NotOurs, fmt.Sprint("jid ", i), "not ours")
	}
	l.Foreign(Altered, "the last", "args")
	found := l.Findings()
	assert.Len(t, found.Twice, findingsKept)
	assert.Len(t, found.Foreign, findingsKept+1, "the limit is that of each flaw")
	assert.Equal(t, Finding{K: -1, JID: "jid 0", What: "not ours"}, found.Foreign[0])
	assert.Equal(t, Finding{Flaw: Altered, K: -1, JID: "the last", What: "args"}, found.Foreign[findingsKept])
	assert.EqualValues(t, 3, found.Twice[0])
	assert.EqualValues(t, findingsKept+5, l.Count(false).Duplicated)
	assert.EqualValues(t, findingsKept+6, l.Count(false).Foreign)
	assert.Equal(t, [Flaws]int64{NotOurs: findingsKept + 5, Altered: 1}, l.Count(false).Flawed)
}

func TestSentAt(t *testing.T) {
	t.Parallel()
	l := New()
	_, ok := l.SentAt(0)
	assert.False(t, ok)
	l.Sent(0, 0)
	l.Sent(5, 1234567*time.Nanosecond)
	l.Sent(6, 300*time.Hour)
	for k, want := range map[int64]time.Duration{0: 0, 5: 1234 * time.Microsecond, 6: 300 * time.Hour} {
		at, ok := l.SentAt(k)
		require.True(t, ok, k)
		assert.Equal(t, want, at)
	}
	for _, k := range []int64{1, -1, -ringSize, 5 + ringSize, 5 + 1<<50} {
		_, ok := l.SentAt(k)
		assert.False(t, ok, k)
	}
	l.Sent(5+ringSize, time.Second)
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
		l.Sent(k, time.Duration(k))
		l.Pushed(k)
		l.SentAt(k)
		l.Delivered(k, 3)
		l.MayReturn(k)
		l.Failed(k, true)
		l.Delivered(k, 3)
		l.Acked(k)
		k++
	}
	way()
	assert.Zero(t, testing.AllocsPerRun(10_000, way))
}

// The parts by queue are those of the account.
func TestCountBy(t *testing.T) {
	t.Parallel()
	l := New()
	of := func(k int64) int { return int(k%3) - 1 } // a third has none of these queues
	for k := int64(0); k < 3*chunkJobs; k += 7 {
		l.Sent(k, 0)
		if k%5 > 0 {
			l.Pushed(k)
		}
		if k%4 > 0 {
			l.Delivered(k, 0)
		}
	}
	var want [2]QueueCounts
	for k := int64(0); k < 3*chunkJobs; k += 7 {
		if of(k) < 0 {
			continue
		}
		q := &want[of(k)]
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
	assert.Equal(t, want[:], l.CountBy(2, of))
}

// When a job was pushed is known of each: exactly of the last ones, and to 256 jobs of those before.
func TestWhenAJobWasPushed(t *testing.T) {
	t.Parallel()
	l := New()
	const jobs = 200_000
	for k := range int64(jobs) {
		l.Sent(k, time.Duration(k)*time.Millisecond)
	}
	for _, k := range []int64{0, 255, 256, 100_000, 150_001, jobs - 1} {
		at, known := l.PushedAt(k)
		assert.True(t, known)
		assert.LessOrEqual(t, at, time.Duration(k)*time.Millisecond)
		assert.Less(t, time.Duration(k)*time.Millisecond-at, 256*time.Millisecond)
	}
	at, _ := l.PushedAt(jobs - 1)
	assert.Equal(t, (jobs-1)*time.Millisecond, at)
	_, known := l.PushedAt(1 << 40)
	assert.False(t, known)
}
