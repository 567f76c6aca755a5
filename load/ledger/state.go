package ledger

import (
	"math/bits"
	"sync/atomic"
)

// state is the state of a job after its push. It has two bits, and its zero value is that of a new chunk.
type state uint64

const (
	unseen state = iota
	held
	mayReturn
	settled
	states // how many there are
)

// report is an event that changes a state.
type report int

const (
	delivered report = iota
	returns
	failedForGood
	acked
	reports // how many there are
)

// next is the table of the package's documentation.
var next = [reports][states]state{
	delivered:     {unseen: held, held: held, mayReturn: held, settled: settled},
	returns:       {unseen: unseen, held: mayReturn, mayReturn: mayReturn, settled: settled},
	failedForGood: {unseen: unseen, held: settled, mayReturn: settled, settled: settled},
	acked:         {unseen: unseen, held: settled, mayReturn: settled, settled: settled},
}

// kinds has the kind of a delivery by the state before it.
var kinds = [states]Kind{unseen: First, held: Twice, mayReturn: Again, settled: Returned}

// Kind is the kind of a delivery.
type Kind uint8

const (
	// First is the first delivery of a job.
	First Kind = iota
	// Again is the delivery of a job that might return.
	Again
	// Twice is the delivery of a job that another worker has. This is a finding.
	Twice
	// Returned is the delivery of a job that was settled. This is a finding.
	Returned
	// Stray is the delivery of a number that was not sent. This is a finding, and booked as a foreign job.
	Stray
)

// Flaw is what is wrong with a delivery.
type Flaw uint8

const (
	// NotOurs is a job that this run did not push.
	NotOurs Flaw = iota
	// WrongQueue is a job from another queue than the one that it was pushed to.
	WrongQueue
	// Altered is a job whose parts are not those that were pushed.
	Altered
	// WasRefused is a job whose push got an error reply.
	WasRefused
	// Early is a scheduled job that was delivered before its time.
	Early
	// EarlyHere is one that was delivered before its time by this machine's clock, and not by the server's.
	EarlyHere
	// Flaws is how many there are.
	Flaws
)

const (
	chunkJobs   = 1 << 16 // jobs in a chunk
	blockJobs   = 1 << 8  // jobs that are pushed at about the same time
	jobsPerWord = 32      // at two bits each
)

// bitmap has one bit for each job of a chunk.
type bitmap [chunkJobs / 64]atomic.Uint64

func (b *bitmap) has(i int64) bool { return b[i/64].Load()>>(i%64)&1 == 1 }

func (b *bitmap) set(i int64) { b[i/64].Or(1 << (i % 64)) }

// clear reports whether it changed anything.
func (b *bitmap) clear(i int64) bool {
	bit := uint64(1) << (i % 64)
	return b[i/64].And(^bit)&bit != 0
}

// chunk is the account of chunkJobs jobs in a row. The bitmaps of rare events are created at the first event.
type chunk struct {
	states   [chunkJobs / jobsPerWord]atomic.Uint64
	accepted bitmap                              // the push was confirmed
	sent     [chunkJobs / blockJobs]atomic.Int64 // when the first of so many jobs was sent, plus one; 0: none was
	refused  atomic.Pointer[bitmap]
	doubtful atomic.Pointer[bitmap]
	denied   atomic.Pointer[bitmap] // a report of it was refused, and it was not delivered since
}

// apply changes the state of job i of the chunk by the table, and returns the state before.
func (c *chunk) apply(i int64, r report) state {
	word, shift := &c.states[i/jobsPerWord], i%jobsPerWord*2
	for {
		old := word.Load()
		was := state(old >> shift & 3)
		to := next[r][was]
		if was == to || word.CompareAndSwap(old, old&^(3<<shift)|uint64(to)<<shift) {
			return was
		}
	}
}

func (c *chunk) state(i int64) state {
	return state(c.states[i/jobsPerWord].Load() >> (i % jobsPerWord * 2) & 3)
}

func (c *chunk) seen(i int64) bool { return c.state(i) != unseen }

// seen64 returns a bit for each of the 64 jobs from 64*w on: whether it has been delivered.
func (c *chunk) seen64(w int) uint64 {
	return anyOfPairs(c.states[2*w].Load()) | anyOfPairs(c.states[2*w+1].Load())<<32
}

// tally adds the chunk to the counts.
func (c *chunk) tally(t *tally) {
	for w := range c.states {
		word := c.states[w].Load()
		if word == 0 { // of a run of a few thousand jobs, most are
			continue
		}
		low, high := word&lowBits, word>>1&lowBits
		t.held += int64(bits.OnesCount64(low &^ high))
		t.mayReturn += int64(bits.OnesCount64(high &^ low))
		t.settled += int64(bits.OnesCount64(low & high))
	}
	doubtful := c.doubtful.Load()
	for w := range c.accepted {
		accepted := c.accepted[w].Load()
		if accepted == 0 && doubtful == nil {
			continue
		}
		seen := c.seen64(w)
		t.accepted += int64(bits.OnesCount64(accepted))
		t.missing += int64(bits.OnesCount64(accepted &^ seen))
		if doubtful != nil {
			open := doubtful[w].Load() &^ accepted
			t.doubtful += int64(bits.OnesCount64(open))
			t.inDoubt += int64(bits.OnesCount64(open &^ seen))
		}
	}
}

// tally holds the counts that the bits give.
type tally struct {
	accepted, doubtful, inDoubt, missing int64
	held, mayReturn, settled             int64
}

// lowBits has the lower bit of each pair.
const lowBits = 0x5555_5555_5555_5555

// anyOfPairs returns in its lower half a bit for each of the 32 pairs of x: whether the pair is not zero.
func anyOfPairs(x uint64) uint64 {
	x = (x | x>>1) & lowBits
	x = (x | x>>1) & 0x3333_3333_3333_3333
	x = (x | x>>2) & 0x0f0f_0f0f_0f0f_0f0f
	x = (x | x>>4) & 0x00ff_00ff_00ff_00ff
	x = (x | x>>8) & 0x0000_ffff_0000_ffff
	return (x | x>>16) & 0x0000_0000_ffff_ffff
}
