package ledger

import (
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync/atomic"
)

// NewPart returns an empty Ledger of one of several processes that use the same queues: it takes a delivery of a job
// that it has not seen pushed for one that another process has pushed. Its counts of jobs that are missing mean nothing
// alone; [Join] makes the account of all.
func NewPart() *Ledger {
	l := New()
	l.part = true
	return l
}

// How many words a piece has of a bitmap, and of states.
const (
	bitWords   = chunkJobs / 64
	stateWords = chunkJobs / jobsPerWord
)

// header is the part of an account that is not about single jobs, with how many pieces follow it.
type header struct {
	Last, Sent, Refused, Failed, ForGood, Redelivered, Duplicated, Returned, Elsewhere int64

	OutOfOrder, FetchesLost, ReportsLost int64
	Any, Kills, TwiceByStop, Forgiven    int64
	WaitedOut                            bool
	Foreign                              [Flaws]int64
	Findings                             Findings
	Pieces                               int
}

// piece is a chunk on its way. A bitmap without a bit is nil.
type piece struct {
	At               int64 // the chunk's index
	States, Accepted []uint64
	Rare             [rares][]uint64
}

// Encode writes the account, compressed, for [Join]. Nothing may be booked meanwhile.
func (l *Ledger) Encode(to io.Writer) error {
	chunks := *l.chunks.Load()
	h := header{Findings: l.Findings()}
	l.eachCounter(&h, func(mine *atomic.Int64, theirs *int64) { *theirs = mine.Load() })
	h.Last, h.Any, h.Kills = l.last.Load(), l.stops.any.Load(), l.stops.kills.Load()
	h.WaitedOut = l.stops.waitedOut.Load()
	for _, c := range chunks {
		if c != nil {
			h.Pieces++
		}
	}
	packed, err := flate.NewWriter(to, flate.BestSpeed)
	if err != nil {
		return err // cannot happen: the level is one that it has
	}
	encoder := gob.NewEncoder(packed)
	if err := encoder.Encode(&h); err != nil {
		return err
	}
	for i, c := range chunks {
		if c == nil {
			continue
		}
		if err := encoder.Encode(c.piece(int64(i))); err != nil {
			return err
		}
	}
	return packed.Close()
}

// eachCounter calls fn with each counter that is added up, and its place in a header.
func (l *Ledger) eachCounter(h *header, fn func(mine *atomic.Int64, theirs *int64)) {
	for _, pair := range []struct {
		mine   *atomic.Int64
		theirs *int64
	}{
		{&l.sent, &h.Sent}, {&l.refused, &h.Refused}, {&l.failed, &h.Failed}, {&l.forGood, &h.ForGood},
		{&l.redelivered, &h.Redelivered}, {&l.duplicated, &h.Duplicated}, {&l.returned, &h.Returned},
		{&l.elsewhere, &h.Elsewhere}, {&l.outOfOrder, &h.OutOfOrder}, {&l.fetchesLost, &h.FetchesLost},
		{&l.reportsLost, &h.ReportsLost}, {&l.stops.twice, &h.TwiceByStop}, {&l.stops.returned, &h.Forgiven},
	} {
		fn(pair.mine, pair.theirs)
	}
	for flaw := range l.foreign {
		fn(&l.foreign[flaw], &h.Foreign[flaw])
	}
}

func (c *chunk) piece(at int64) *piece {
	p := &piece{At: at, States: make([]uint64, stateWords), Accepted: c.accepted.words()}
	for w := range c.states {
		p.States[w] = c.states[w].Load()
	}
	for i, rare := range c.rare() {
		if b := rare.Load(); b != nil {
			p.Rare[i] = b.words()
		}
	}
	return p
}

func (b *bitmap) words() []uint64 {
	words := make([]uint64, bitWords)
	for w := range b {
		words[w] = b[w].Load()
	}
	return words
}

// Join returns the account of a run of which each of the accounts is a part, as [Ledger.Encode] has written it. A job
// may have been pushed in one part and delivered in another. If complete is false some part is missing: what it has
// pushed and delivered is not known then, and no job is taken for one that was never pushed.
//
// The parts have no common order of events. What they have decides without one: a job that was delivered in two parts,
// neither of which has given it back since (by a fail, a lost connection, the end of its reservation), was delivered
// twice. A part that has given a job back excuses one delivery elsewhere, whenever that was. So nothing is taken for a
// second delivery that is none; a server that delivers a job twice after it was given back once may go unnoticed.
func Join(complete bool, accounts ...io.Reader) (*Ledger, error) {
	l := NewPart()
	for _, account := range accounts {
		if err := l.add(account); err != nil {
			return nil, fmt.Errorf("an account of jobs: %w", err)
		}
	}
	l.part = false
	for i, c := range *l.chunks.Load() {
		if c != nil {
			l.judge(c, int64(i)*chunkJobs, complete)
		}
	}
	return l, nil
}

// mostPieces is how many chunks an account has at most.
const mostPieces = mostElsewhere / chunkJobs

// errAccount is what is wrong with an account that was not written by Encode.
var errAccount = errors.New("it cannot be read")

// add adds the account of a part.
func (l *Ledger) add(account io.Reader) error {
	decoder := gob.NewDecoder(flate.NewReader(account))
	var h header
	if err := decoder.Decode(&h); err != nil {
		return err
	}
	l.eachCounter(&h, func(mine *atomic.Int64, theirs *int64) { mine.Add(*theirs) })
	raise(&l.last, h.Last)
	raise(&l.stops.any, h.Any)
	raise(&l.stops.kills, h.Kills)
	if h.WaitedOut {
		l.stops.waitedOut.Store(true)
	}
	l.findings.addAll(&h.Findings)
	for range h.Pieces {
		var p piece
		if err := decoder.Decode(&p); err != nil {
			return err
		}
		if p.At < 0 || p.At >= mostPieces || !p.whole() {
			return errAccount
		}
		l.addPiece(&p)
	}
	return nil
}

// whole reports whether a piece has the words that it must have.
func (p *piece) whole() bool {
	for _, rare := range p.Rare {
		if len(rare) > 0 && len(rare) != bitWords {
			return false
		}
	}
	return len(p.States) == stateWords && len(p.Accepted) == bitWords
}

// addPiece adds a chunk of a part.
func (l *Ledger) addPiece(p *piece) {
	c := l.findOrAdd(p.At * chunkJobs)
	for w := range stateWords {
		mine, theirs := c.states[w].Load(), p.States[w]
		both := anyOfPairs(mine) & anyOfPairs(theirs)
		for left := both; left != 0; left &= left - 1 {
			l.meet(c, p, int64(w*jobsPerWord+bits.TrailingZeros64(left)))
		}
		c.states[w].Store(c.states[w].Load() | theirs&^(3*spread(both)))
	}
	for i, rare := range c.rare() {
		if len(p.Rare[i]) > 0 {
			lazily(rare).add(p.Rare[i])
		}
	}
	c.accepted.add(p.Accepted)
}

func (b *bitmap) add(words []uint64) {
	for w, bits := range words {
		b[w].Or(bits)
	}
}

// spread is the opposite of anyOfPairs: bit i of x becomes the lower bit of pair i.
func spread(x uint64) uint64 {
	x = (x | x<<16) & 0x0000_ffff_0000_ffff
	x = (x | x<<8) & 0x00ff_00ff_00ff_00ff
	x = (x | x<<4) & 0x0f0f_0f0f_0f0f_0f0f
	x = (x | x<<2) & 0x3333_3333_3333_3333
	return (x | x<<1) & lowBits
}

// meet joins the states of a job that was delivered in two parts. The bits of a part that are still to be added are
// changed so that their sum is right.
func (l *Ledger) meet(c *chunk, p *piece, i int64) {
	mine, theirs := c.state(i), state(p.States[i/jobsPerWord]>>(i%jobsPerWord*2)&3)
	given := mine == mayReturn || has(c.settledAfter.Load(), i)
	settledThere := p.Rare[rareSettledAfter]
	givenThere := theirs == mayReturn || len(settledThere) > 0 && settledThere[i/64]>>(i%64)&1 == 1
	l.bookSecond(p.At*chunkJobs+i, given || givenThere)
	joined := max(mine, theirs) // mayReturn if both are
	if joined == mayReturn && min(mine, theirs) == held {
		joined = held
	}
	c.set(i, joined)
	forget(c.settledAfter.Load(), settledThere, i)
	if given && givenThere && joined == settled {
		lazily(&c.settledAfter).set(i)
	}
	forget(c.denied.Load(), p.Rare[rareDenied], i) // it was delivered elsewhere
}

// bookSecond books that job k was delivered in a second part: rightly if one of the two had given it back, or if a stop
// of the server explains it.
func (l *Ledger) bookSecond(k int64, givenBack bool) {
	switch {
	case givenBack:
		l.redelivered.Add(1)
	case l.stops.forgave(k, &l.stops.twice):
	default:
		l.elsewhere.Add(1)
		l.findings.addTwice(k, &l.findings.kept.Elsewhere)
	}
}

// forget clears bit i of a bitmap, which may be nil, and of the words of one that is still to be added, if it has some.
func forget(b *bitmap, words []uint64, i int64) {
	if b != nil {
		b.clear(i)
	}
	if len(words) > 0 {
		words[i/64] &^= 1 << (i % 64)
	}
}

func has(b *bitmap, i int64) bool { return b != nil && b.has(i) }

// set sets the state of job i of the chunk.
func (c *chunk) set(i int64, to state) {
	word, shift := &c.states[i/jobsPerWord], i%jobsPerWord*2
	word.Store(word.Load()&^(3<<shift) | uint64(to)<<shift)
}

// judge finds what only all parts together show: jobs that were refused in one part and delivered in another, and those
// that no part has pushed. base is the number of the chunk's first job.
func (l *Ledger) judge(c *chunk, base int64, complete bool) {
	refused := c.refused.Load()
	for w := range bitWords {
		seen := c.seen64(w)
		if refused != nil {
			for left := refused[w].Load() & seen; left != 0; left &= left - 1 {
				l.refusedAndDelivered(c, base+int64(w)*64+int64(bits.TrailingZeros64(left)))
			}
		}
		if !complete || base+int64(w)*64+63 <= l.last.Load() {
			continue
		}
		for left := seen; left != 0; left &= left - 1 {
			i := int64(w)*64 + int64(bits.TrailingZeros64(left))
			if base+i > l.last.Load() {
				c.set(i, unseen)
				l.neverPushed(base + i)
			}
		}
	}
}
