package ledger

import (
	"math/bits"
	"sync/atomic"
)

// state is the state of a job after its push. It has two bits, and its zero value is that of a new chunk.
type state uint64

const (
	stateUnseen state = iota
	stateHeld
	stateReturnable
	stateSettled
	stateCount // how many there are
)

// event is an event that changes a state.
type event int

const (
	reportDelivery event = iota
	reportReturn
	reportFinalFail
	reportAck
	reportCount // how many there are
)

// transitions is the table of the package's documentation.
var transitions = [reportCount][stateCount]state{
	reportDelivery: {stateUnseen: stateHeld, stateHeld: stateHeld, stateReturnable: stateHeld,
		stateSettled: stateSettled},
	reportReturn: {stateUnseen: stateUnseen, stateHeld: stateReturnable, stateReturnable: stateReturnable,
		stateSettled: stateSettled},
	reportFinalFail: {stateUnseen: stateUnseen, stateHeld: stateSettled, stateReturnable: stateSettled,
		stateSettled: stateSettled},
	reportAck: {stateUnseen: stateUnseen, stateHeld: stateSettled, stateReturnable: stateSettled,
		stateSettled: stateSettled},
}

// kinds has the kind of a delivery by the state before it.
var kinds = [stateCount]DeliveryKind{stateUnseen: FirstDelivery, stateHeld: Duplicate, stateReturnable: Redelivery,
	stateSettled: DeliveryAfterEnd}

// DeliveryKind is the kind of a delivery.
type DeliveryKind uint8

const (
	// FirstDelivery is the first delivery of a job.
	FirstDelivery DeliveryKind = iota
	// Redelivery is the delivery of a job that might return.
	Redelivery
	// Duplicate is the delivery of a job that another worker has. This is a finding.
	Duplicate
	// DeliveryAfterEnd is the delivery of a job that was settled. This is a finding.
	DeliveryAfterEnd
	// Stray is the delivery of a number that was not sent. This is a finding, and booked as a foreign job.
	Stray
)

// Flaw is what is wrong with a delivery.
type Flaw uint8

const (
	// UnknownJob is a job that this run did not push.
	UnknownJob Flaw = iota
	// WrongQueue is a job from another queue than the one that it was pushed to.
	WrongQueue
	// AlteredJob is a job whose parts are not those that were pushed.
	AlteredJob
	// RefusedJob is a job whose push got an error reply.
	RefusedJob
	// EarlyJob is a scheduled job that was delivered before its time.
	EarlyJob
	// EarlyByLocalClock is one that was delivered before its time by this machine's clock, and not by the server's.
	EarlyByLocalClock
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
	denials  atomic.Pointer[bitmap] // a report of it was refused, and it was not delivered since
}

// apply changes the state of job i of the chunk by the table, and returns the state before.
func (c *chunk) apply(i int64, r event) state {
	word, shift := &c.states[i/jobsPerWord], i%jobsPerWord*2
	for {
		old := word.Load()
		before := state(old >> shift & 3)
		to := transitions[r][before]
		if before == to || word.CompareAndSwap(old, old&^(3<<shift)|uint64(to)<<shift) {
			return before
		}
	}
}

func (c *chunk) state(i int64) state {
	return state(c.states[i/jobsPerWord].Load() >> (i % jobsPerWord * 2) & 3)
}

func (c *chunk) isDelivered(i int64) bool { return c.state(i) != stateUnseen }

// deliveredWord returns a bit for each of the 64 jobs from 64*w on: whether it has been delivered.
func (c *chunk) deliveredWord(w int) uint64 {
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
		t.heldJobs += int64(bits.OnesCount64(low &^ high))
		t.mayReturn += int64(bits.OnesCount64(high &^ low))
		t.settled += int64(bits.OnesCount64(low & high))
	}
	doubtful := c.doubtful.Load()
	for w := range c.accepted {
		accepted := c.accepted[w].Load()
		if accepted == 0 && doubtful == nil {
			continue
		}
		delivered := c.deliveredWord(w)
		t.accepted += int64(bits.OnesCount64(accepted))
		t.missing += int64(bits.OnesCount64(accepted &^ delivered))
		if doubtful != nil {
			unconfirmed := doubtful[w].Load() &^ accepted
			t.doubtful += int64(bits.OnesCount64(unconfirmed))
			t.inDoubt += int64(bits.OnesCount64(unconfirmed &^ delivered))
		}
	}
}

// tally holds the counts that the bits give.
type tally struct {
	accepted, doubtful, inDoubt, missing int64
	heldJobs, mayReturn, settled         int64
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
