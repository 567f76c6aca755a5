package ledger

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// town is the same events booked in one ledger, and in those of several processes.
type town struct {
	one   *Ledger
	parts []*Ledger
}

func newTown(parts int) *town {
	w := &town{one: New()}
	for range parts {
		w.parts = append(w.parts, NewPart())
	}
	return w
}

// in books something in the one ledger, and in that of a process.
func (w *town) in(part int, book func(*Ledger)) {
	book(w.one)
	book(w.parts[part])
}

// joined returns the account of all processes, in any order.
func (w *town) joined(t *testing.T, random *rand.Rand) *Ledger {
	t.Helper()
	var accounts []io.Reader
	for _, i := range random.Perm(len(w.parts)) {
		var out bytes.Buffer
		require.NoError(t, w.parts[i].Encode(&out))
		accounts = append(accounts, &out)
	}
	l, err := Join(true, accounts...)
	require.NoError(t, err)
	return l
}

// push sends a job from the process that it belongs to, with any result.
func (w *town) push(random *rand.Rand, k int64) {
	w.in(int(k)%len(w.parts), func(l *Ledger) { l.Sent(k, 0) })
	outcome := [...]func(*Ledger, int64){(*Ledger).Pushed, (*Ledger).Pushed, (*Ledger).Refused, (*Ledger).Doubtful,
		func(*Ledger, int64) {}}[random.IntN(5)]
	w.in(int(k)%len(w.parts), func(l *Ledger) { outcome(l, k) })
}

// live has a server that is right deliver a job to processes until one settles it, or the run ends.
func (w *town) live(random *rand.Rand, k int64) {
	for range random.IntN(4) {
		at := random.IntN(len(w.parts))
		w.in(at, func(l *Ledger) { l.Delivered(k, -1) })
		switch random.IntN(5) {
		case 0:
			w.in(at, func(l *Ledger) { l.Acked(k) })
			return
		case 1:
			w.in(at, func(l *Ledger) { l.Failed(k, false) })
			return
		case 2:
			w.in(at, func(l *Ledger) { l.MayReturn(k); l.Acked(k) }) // its ack is late
			return
		case 3:
			return // it is held at the end
		}
		w.in(at, func(l *Ledger) { l.MayReturn(k); l.Failed(k, true) })
	}
}

// The accounts of several processes are that of one, count for count and job for job, if the server is right or loses
// jobs.
func TestPartsAreOneLedger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 5))
		w := newTown(1 + random.IntN(4))
		k := random.Int64N(chunkJobs)
		for range 400 {
			k += 1 + random.Int64N(2)*random.Int64N(chunkJobs/40)
			w.push(random, k)
			w.live(random, k)
			if random.IntN(50) == 0 {
				w.in(random.IntN(len(w.parts)), (*Ledger).FetchLost)
				w.in(random.IntN(len(w.parts)), (*Ledger).ReportLost)
			}
		}
		joined := w.joined(t, random)
		for _, drained := range []bool{false, true} {
			require.Equal(t, w.one.Count(drained), joined.Count(drained), "seed %d", seed)
		}
		require.Equal(t, slices.Collect(w.one.Missing()), slices.Collect(joined.Missing()), "seed %d", seed)
		want, got := w.one.Findings(), joined.Findings()
		require.ElementsMatch(t, want.Foreign, got.Foreign, "seed %d", seed)
		require.Empty(t, slices.Concat(got.Twice, got.Returned, got.Elsewhere), "seed %d", seed)
	}
}

// A server that delivers jobs twice is found out, as often as it does so; and never more often, whatever is given back.
func TestDoublesAcrossParts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 6))
		w, givesBack := newTown(2+random.IntN(3)), seed%2 == 1
		for k := range int64(300) {
			w.in(int(k)%len(w.parts), func(l *Ledger) { l.Sent(k, 0); l.Pushed(k) })
			for range random.IntN(5) {
				at := random.IntN(len(w.parts))
				w.in(at, func(l *Ledger) { l.Delivered(k, -1) })
				switch {
				case random.IntN(3) == 0:
					w.in(at, func(l *Ledger) { l.Acked(k) })
				case givesBack && random.IntN(2) == 0:
					w.in(at, func(l *Ledger) { l.MayReturn(k) })
				}
			}
		}
		want, joined := w.one.Count(true), w.joined(t, random)
		got := joined.Count(true)
		doubles := got.Duplicated + got.Returned + got.Elsewhere
		require.Equal(t, want.Delivered, got.Delivered, "seed %d", seed)
		if givesBack {
			require.LessOrEqual(t, doubles, want.Duplicated+want.Returned, "seed %d", seed)
			continue
		}
		require.Equal(t, want.Duplicated+want.Returned, doubles, "seed %d", seed)
		require.Len(t, joined.Findings().Elsewhere, int(got.Elsewhere))
		require.Positive(t, got.Elsewhere)
	}
}

// What only all parts together know: who has refused a job, and whether anyone has pushed it.
func TestWhatOnlyAllPartsKnow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	w := newTown(2)
	refused, last := int64(2), int64(3)
	for _, k := range []int64{refused, last} {
		w.parts[k%2].Sent(k, 0)
	}
	w.parts[0].Refused(refused)
	w.parts[1].Pushed(last)
	for _, k := range []int64{refused, last, last + 1, 3 * chunkJobs, mostElsewhere} {
		w.parts[1].Delivered(k, 0)
	}
	joined := w.joined(t, random)
	counts := joined.Count(true)
	assert.Equal(t, [Flaws]int64{NotOurs: 3, WasRefused: 1}, counts.Flawed)
	assert.Equal(t, int64(2), counts.Delivered)
	assert.Equal(t, mostElsewhere, int(joined.Findings().Foreign[0].K), "beyond all numbers, which a part knows alone")
	var one bytes.Buffer
	require.NoError(t, w.parts[1].Encode(&one))
	alone, err := Join(false, &one)
	require.NoError(t, err)
	assert.Equal(t, [Flaws]int64{NotOurs: 1}, alone.Count(false).Flawed, "another part may have pushed the others")
}

// Stops of the server, and reports that it has refused, count across parts.
func TestStopsAcrossParts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	w := newTown(2)
	for k := range int64(6) {
		w.in(int(k)%2, func(l *Ledger) { l.Sent(k, 0); l.Pushed(k) })
		if k == 3 {
			for _, l := range append(slices.Clone(w.parts), w.one) {
				l.Stopping(true)
				l.Serving()
			}
		}
	}
	for _, part := range []int{0, 1} {
		w.in(part, func(l *Ledger) { l.Delivered(0, 0) })           // excused by the stop
		w.in(part, func(l *Ledger) { l.Delivered(5, 0) })           // not excused
		w.in(part, func(l *Ledger) { l.MayReturn(4); l.Denied(4) }) // never delivered here
	}
	w.parts[0].Delivered(4, 0)
	w.parts[0].MayReturn(4)
	w.parts[0].Denied(4)
	joined := w.joined(t, random)
	c := joined.Count(true)
	assert.Equal(t, []int64{1, 1, 3, 0}, []int64{c.TwiceByStop, c.Elsewhere, c.LostByKill, c.Lost})
	assert.Equal(t, []int64{4}, slices.Collect(joined.NotReturned()))
	w.parts[1].Delivered(4, 0)
	assert.Empty(t, slices.Collect(w.joined(t, random).NotReturned()), "it was delivered again elsewhere")
}

// A part that has given a job back excuses another one, although the ack of its own came late; one that has not excuses
// none, in whatever order the parts are joined. A job that came again elsewhere has returned.
func TestWhatAPartExcuses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) { // all orders
		w := newTown(3)
		for k := range int64(4) {
			w.parts[0].Sent(k, 0)
			w.parts[0].Pushed(k)
		}
		settle := func(part int, k int64, late bool) {
			l := w.parts[part]
			if l.Delivered(k, 0); late {
				l.MayReturn(k)
			}
			l.Acked(k)
		}
		settle(0, 0, true)
		settle(1, 0, true)
		settle(2, 0, false)
		settle(0, 1, false)
		settle(1, 1, true)
		settle(2, 1, false)
		for part, l := range w.parts[:2] {
			l.Delivered(2, 0)
			l.MayReturn(2)
			if part == 0 {
				l.Denied(2)
			}
		}
		w.parts[1].FetchLost()
		w.parts[2].WaitedOut()
		joined := w.joined(t, rand.New(rand.NewPCG(seed, 3)))
		c := joined.Count(true)
		assert.Equal(t, []int64{1}, joined.Findings().Elsewhere)
		assert.Equal(t, []int64{1, 4, 2, 1}, []int64{c.Elsewhere, c.Redelivered, c.Acked, c.Waiting})
		assert.Empty(t, slices.Collect(joined.NotReturned()))
		assert.Equal(t, int64(1), c.Lost, "the fetch without a reply was waited for")
	}
}

func TestWhatIsNoAccount(t *testing.T) {
	t.Parallel()
	_, err := Join(true, strings.NewReader("none"))
	require.ErrorContains(t, err, "an account of jobs: ")
	var out bytes.Buffer
	part := NewPart()
	part.Sent(0, 0)
	require.NoError(t, part.Encode(&out))
	_, err = Join(true, bytes.NewReader(out.Bytes()[:out.Len()/2]))
	require.Error(t, err)
	assert.False(t, (&piece{States: make([]uint64, stateWords), Accepted: make([]uint64, 1)}).whole())
	assert.False(t, (&piece{
		States: make([]uint64, stateWords), Accepted: make([]uint64, bitWords), Rare: [rares][]uint64{{1}},
	}).whole())
}
